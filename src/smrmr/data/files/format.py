"""Defines what a format of files offers, and what its reader returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from ...problems import Problem, message_of
from ...types import pd
from ..sources import ColumnSource
from .content import not_what_it_is_called

APART = "apart"  # columns that are no features, and whether they are needed: others may be blocks


@dataclass(frozen=True, eq=False)
class Table:
    """What a reader returns.

    Attributes
    ----------
    features
        One column per feature and one row per sample: a DataFrame whose index holds the sample
        ids, or a source of columns, which is read later, whole or in blocks.
    about
        What else the file knows of the samples (obs, phenotypes, y), in the same rows.
    target
        Name of the column of `about` that is the target unless the user names another.
    notes
        What the reader decided that the user should know.
    changes
        Those of the notes that say which values are not as they stand in the file.
    about_features
        What the file knows of the features (var, .bim), by their names; None if nothing.
    annotations
        Columns of `about_features` that an answer shows without being asked to.
    problems
        What must be mended before the table can be used, each with its cure.
    decimal
        The decimal mark of numbers among text.
    elsewhere
        A sentence on where else in the file a column may be; empty if there is no such place.
    checksums
        SHA-256 of the files by their names; empty where reading did not tell them.
    in_blocks
        More features, in the same rows, that are too large for memory; None if there are none.
    """

    features: Any
    about: pd.DataFrame
    target: str | None = None
    notes: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    about_features: pd.DataFrame | None = None
    annotations: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    decimal: str = "."
    elsewhere: str = ""
    checksums: dict[str, str] = field(default_factory=dict)
    in_blocks: ColumnSource | None = None


@dataclass(frozen=True)
class Format:
    """A format of files, known by its extensions.

    Attributes
    ----------
    extensions
        The first one is also the name of the format.
    read
        Reads features and what is known of the samples: ``read(path, **options)``.
    options
        Those options of `read_data` that `read` takes: ``"layer"``, ``"transpose"``, ``"sep"``;
        and `APART`.
    open
        Opens the features alone, by columns: ``open(path, key)``; None if that is not possible.
    folder
        Whether it may be a folder.
    """

    extensions: tuple[str, ...]
    read: Callable[..., Table]
    options: tuple[str, ...] = ()
    open: Callable[[Path, str | None], ColumnSource] | None = None
    folder: bool = False

    @property
    def name(self) -> str:
        """What the user calls it."""
        return self.extensions[0]


def import_needed(module: str, files: str) -> Any:
    """Import a package of the extra `files`, or say that it is needed for such files."""
    try:
        return import_module(module)
    except ImportError:
        package = module.split(".")[0]
        raise ImportError(
            f'{files} need {package}. Install it: pip install "smrmr[files]"'
        ) from None


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Say which file is meant: the libraries raise many kinds of errors for one reason."""
    try:
        yield
    except (MemoryError, ImportError):  # not the fault of the file
        raise
    except Exception as error:
        if content := not_what_it_is_called(path):
            raise Problem(
                f"{path} cannot be read as {kind}: by its content it is {content}."
            ) from None
        raise Problem(f"{path} cannot be read as {kind}: {message_of(error)}") from None

"""Writes files whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from ..problems import full_disk


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a hidden name beside `path` to write to; it takes the place of `path` on success."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no directory {path.parent} to write {path.name} to.")
    unfinished = path.with_name(f".smrmr-{token_hex(6)}.tmp")
    try:
        with full_disk(path, "write it elsewhere"):
            yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)

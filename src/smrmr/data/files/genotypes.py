"""Reads PLINK genotypes, .bed with its .bim and .fam; by columns where they are large."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...types import pd
from ..number_texts import exact_numbers
from ..sources import PickledByFields, Which
from .format import Format, Table, reading

BED_HEADER = bytes([0x6C, 0x1B, 0x01])
MISSING_GENOTYPE = -1
BIM_COLUMNS = ("chromosome", "id", "morgans", "position", "allele 1", "allele 2")
FAM_COLUMNS = ("family", "id", "father", "mother", "sex", "phenotype")
# of every byte, the lowest two bits first
CODES = [[(2, MISSING_GENOTYPE, 1, 0)[byte >> k & 3] for k in (0, 2, 4, 6)] for byte in range(256)]
FOUR_GENOTYPES = np.array(CODES, dtype=np.int8).view(np.uint32).ravel()


@dataclass(frozen=True)
class BedColumns(PickledByFields):
    """Genotypes of a PLINK .bed file, counts 0, 1, 2 of the first allele as int8.

    Missing genotypes are -1, its `gap`.
    """

    path: Path
    shape: tuple[int, int]
    gap = MISSING_GENOTYPE

    @classmethod
    def open(cls, path: Path) -> BedColumns:
        """Check the file against the .fam and .bim beside it."""
        n, p = (_count_lines(path, ending) for ending in (".fam", ".bim"))
        with path.open("rb") as file:
            if file.read(3) != BED_HEADER:
                raise ValueError(f"{path} is not a PLINK .bed file with one SNP after the other.")
        found, wanted = path.stat().st_size, len(BED_HEADER) + p * -(-n // 4)
        if found != wanted:
            raise ValueError(
                f"{path} has {found:,} bytes; {n:,} samples of {p:,} SNPs take {wanted:,}. It is "
                "truncated, or the .fam or .bim beside it belongs to another file."
            )
        return cls(path, (n, p))

    @cached_property
    def _packed(self) -> NDArray[np.uint8]:
        shape = self.shape[1], -(-self.shape[0] // 4)
        return np.memmap(self.path, np.uint8, "r", len(BED_HEADER), shape)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the SNPs."""
        return tuple(_read_beside(self.path, ".bim", BIM_COLUMNS).index)

    def read(self, columns: Which) -> NDArray[Any]:
        """The SNPs requested."""
        packed = self._packed[columns]  # whose last byte is padded with anything
        return FOUR_GENOTYPES[packed].view(np.int8)[:, : self.shape[0]].T


def read_bed(path: Path) -> Table:
    """Read genotypes as counts of the first allele; the phenotype is that of the .fam."""
    source = BedColumns.open(path.absolute())
    about = _read_beside(path, ".fam", FAM_COLUMNS, "phenotype")
    for name in about.columns[len(FAM_COLUMNS) - 2 :]:
        numbers = exact_numbers(about[name].to_numpy(dtype=object))
        about[name] = np.where(numbers == -9, np.nan, numbers)
    target = "phenotype" if about["phenotype"].notna().any() else None
    return Table(source, about, target, about_features=_read_beside(path, ".bim", BIM_COLUMNS))


def _read_beside(path: Path, ending: str, wanted: tuple[str, ...], more: str = "") -> Any:
    """What the .bim or .fam beside a .bed knows of SNPs or samples, by their ids.

    Further columns are called by `more` and a number, or left out.
    """
    other = path.with_suffix(ending)
    with reading(other, "a table"):
        known = pd.read_csv(other, sep=r"\s+", header=None, dtype=str, keep_default_na=False)
    n_columns = known.shape[1]
    if n_columns < len(wanted):
        raise ValueError(f"{other} has {n_columns} columns. It needs {', '.join(wanted)}.")
    names = [*wanted, *(f"{more}{k - len(wanted) + 2}" for k in range(len(wanted), n_columns))]
    known.columns = pd.Index(names)
    return known.iloc[:, : n_columns if more else len(wanted)].set_index("id")


def _count_lines(path: Path, ending: str) -> int:
    other = path.with_suffix(ending)
    if not other.exists():
        raise FileNotFoundError(f"{path} needs {other.name} beside it, which is missing.")
    with other.open("rb") as file:
        return sum(1 for line in file if line.strip())


BED = Format(("bed", "bim", "fam"), read_bed, open=lambda path, key: BedColumns.open(path))

"""Reads PLINK genotypes: .bed with its .bim and .fam."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..sources.genotypes import MISSING_GENOTYPE, BedColumns
from .table import Table


def read_bed(path: Path) -> Table:
    """Read genotypes as counts of the first allele; the phenotype is that of the .fam."""
    import pandas as pd

    about, source = read_people(path), BedColumns.open(path, keep_gaps=True)
    calls = source.read(slice(None))
    gaps = calls == MISSING_GENOTYPE
    values = np.where(gaps, np.nan, calls) if gaps.any() else calls
    features = pd.DataFrame(values, index=about.index, columns=list(source.names))
    return Table(features, about, "phenotype" if about["phenotype"].notna().any() else None)


def read_people(path: Path) -> Any:
    """Read what the .fam beside a .bed knows of its samples, by their ids."""
    import pandas as pd

    for other in (path.with_suffix(".fam"), path.with_suffix(".bim")):
        if not other.exists():
            raise ValueError(f"{path} needs {other.name} beside it, which is missing.")
    names = ["family", "id", "father", "mother", "sex", "phenotype"]
    about = _columns(path.with_suffix(".fam"), names).astype({"id": str}).set_index("id")
    for name in [name for name in about.columns if name.startswith("phenotype")]:
        about[name] = pd.to_numeric(about[name], errors="coerce").replace(-9, np.nan)
    return about


def _columns(path: Path, names: list[str]) -> Any:
    import pandas as pd

    try:
        table = pd.read_csv(path, sep=r"\s+", header=None, dtype=str, keep_default_na=False)
    except Exception as error:  # pandas raises many kinds for one reason
        raise ValueError(f"{path} cannot be read: {error}") from None
    if table.shape[1] < len(names):
        raise ValueError(
            f"{path} has {table.shape[1]} columns. {len(names)} are needed: {', '.join(names)}."
        )
    more = range(2, table.shape[1] - len(names) + 2)  # further phenotypes
    table.columns = pd.Index([*names, *(f"{names[-1]}{k}" for k in more)])
    return table

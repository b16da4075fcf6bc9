"""Loads the example table that ships with the package."""

from __future__ import annotations

from importlib.resources import files

from .settings import check_choice
from .types import pd

STUDIES = {  # the columns of each beside the genes
    "response": ("response",),
    "disease": ("disease",),
    "survival": ("months", "died"),
    "toxicity": ("toxicity", "age", "plate"),
}
TRUE_GENES = {
    "response": (10, 30, 41, 60, 80),
    "disease": (20, 70, 100),
    "survival": (15, 55, 85),
    "toxicity": (25, 75, 110),
}


def load_example(study: str = "response") -> pd.DataFrame:
    """Simulated table of 120 patients and 150 genes, of which a few act on the outcome.

    ``smrmr example STUDY`` prints the same table as CSV, and ``tools/make_example.py`` in the
    repository makes it. The values of a gene are logarithms of how strongly it is expressed.

    Parameters
    ----------
    study
        Which outcome the table has beside its genes. ``"response"``: a number, which rises with
        gene010 and gene041 and falls with gene060, has its lowest values in the middle of gene030,
        and is higher where gene080 passes a threshold; gene042, gene043 and gene044 are look-alikes
        of gene041. ``"disease"``: ill or well. ``"survival"``: the months until death or the end of
        the study, and whether the patient died. ``"toxicity"``: a number that also depends on age
        and on the plate on which samples were read, and so do gene120 and gene140.

    Returns
    -------
    pandas.DataFrame
        A row per patient. ``attrs["true"]`` lists the genes that act on the outcome.

    Raises
    ------
    ValueError
        If there is no such study.

    Examples
    --------
    >>> table = load_example()
    >>> table.shape, table.columns[:3].tolist()
    ((120, 151), ['response', 'gene001', 'gene002'])
    >>> table.attrs["true"]
    ['gene010', 'gene030', 'gene041', 'gene060', 'gene080']
    """
    check_choice("study", study, tuple(STUDIES))
    with files("smrmr").joinpath("example_table.csv").open(encoding="utf-8") as file:
        table = pd.read_csv(file)
    genes = [name for name in table.columns if name.startswith("gene")]
    table = table[[*STUDIES[study], *genes]].copy()  # in one block, as pandas 3 does not read it
    table.attrs["true"] = [f"gene{number:03d}" for number in TRUE_GENES[study]]
    return table

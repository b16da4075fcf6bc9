"""Malformed inputs of `smrmr select`: a file, arguments, and words that the message must hold."""

from __future__ import annotations

import gzip

TABLE = "a,b,c,y\n" + "".join(f"{i},{i * i % 7},{i % 5},{i * 0.5}\n" for i in range(12))
ROWS = TABLE.splitlines()


def with_row(text, at=3):
    return "\n".join([*ROWS[:at], text, *ROWS[at:]]) + "\n"


def with_column(name, values):
    values = [values(i) for i in range(12)] if callable(values) else values
    return "\n".join(
        [f"{name},{ROWS[0]}", *(f"{v},{r}" for v, r in zip(values, ROWS[1:], strict=True))]
    )


FAULTS = {
    # what: (file name, content, arguments, words of the message)
    "empty": ("d.csv", "", ["--target", "y"], "is empty"),
    "blank lines": ("d.csv", "\n\n\n", ["--target", "y"], "is empty"),
    "header alone": ("d.csv", "a,b,y\n", ["--target", "y"], "no rows"),
    "one row": ("d.csv", "a,b,y\n1,2,3\n", ["--target", "y"], "At least 4 rows"),
    "absent target": ("d.csv", TABLE, ["--target", "z"], "no column 'z'"),
    "misspelt target": ("d.csv", TABLE.replace("y\n", "outcome\n", 1), ["--target", "outcom"], "Did you mean 'outcome'"),
    "target of other case": ("d.csv", TABLE, ["--target", "Y"], "Did you mean 'y'"),
    "no target named": ("d.csv", TABLE, [], "--target COLUMN"),
    "constant target": ("d.csv", with_column("k", lambda i: 1), ["--target", "k"], "single value"),
    "single class": ("d.csv", with_column("k", lambda i: "ill"), ["--target", "k"], "single class"),
    "ids as target": ("d.csv", with_column("k", lambda i: f"p{i}"), ["--target", "k"], "sample ids"),
    "duplicate names": ("d.csv", TABLE.replace("a,b,c", "a,b,a", 1), ["--target", "y"], "'a' appear more than once"),
    "unnamed column": ("d.csv", TABLE.replace("a,b,c", "a,,c", 1), ["--target", "y"], "column 2 has no name"),
    "ids that are repeated": ("d.csv", with_column("who id", lambda i: f"p{i // 2}"), ["--target", "y"], "use --groups 'who id'"),
    "mixed types": ("d.csv", with_row("x,1,2,3"), ["--target", "y"], "holds numbers and text such as 'x' in row 3"),
    "decimal comma in two levels": ("d.csv", with_column("k", lambda i: f'"{i % 2},5"'), ["--target", "y"], "column 'k' holds text such as '0,5'"),
    "thousands with commas": ("d.csv", with_column("k", lambda i: f'"1,{i:03d}"' if i % 3 else i), ["--target", "y"], "column 'k' holds text such as '1,001'"),
    "decimal comma in the target": ("d.csv", with_column("k", lambda i: f'"{i % 3},5"'), ["--target", "k"], "y holds text such as '0,5'"),
    "nearly as many labels as rows": ("d.csv", with_column("k", lambda i: f"p{i // 2}"), ["--target", "k"], "6 classes for 12 rows"),
    "a name of 200,000 letters": ("d.csv", "a" * 200_000 + ",y\n1,2\n", ["--target", "y"], "field larger than field limit (131072)"),
    "labels of three kinds": ("d.csv", with_column("site", lambda i: "abc"[i % 3]), ["--target", "y"], "3 different labels"),
    "dates": ("d.csv", with_column("day", lambda i: f"2024-01-{i % 5 + 10}"), ["--target", "y"], "'day'"),
    "too many fields": ("d.csv", with_row("1,2,3,4,5,6"), ["--target", "y"], "Expected 4 fields in line 4, saw 6"),
    "missing value": ("d.csv", with_row("1,,2,3"), ["--target", "y"], "b: 1"),
    "NA text": ("d.csv", with_row("1,NA,2,3"), ["--target", "y"], "1 missing value in 1 column"),
    "short row": ("d.csv", with_row("1,2"), ["--target", "y"], "missing"),
    "infinite": ("d.csv", with_row("1,inf,2,3"), ["--target", "y"], "1 missing or infinite value"),
    "missing target": ("d.csv", with_row("1,2,3,"), ["--target", "y"], "'y' is missing in 1 of 13 rows"),
    "empty target": ("d.csv", with_column("k", lambda i: ""), ["--target", "k", "--missing", "drop-rows"], "no value at all"),
    "every row has a hole": ("d.csv", with_column("k", lambda i: ""), ["--target", "y", "--missing", "drop-rows"], "every row"),
    "column without a value": ("d.csv", with_column("k", lambda i: ""), ["--target", "y", "--missing", "impute-median"], "no value at all"),
    "median of labels": ("d.csv", with_column("k", lambda i: ["", "u", "v"][i % 3]), ["--target", "y", "--missing", "impute-median"], "impute-mode"),
    "unknown treatment": ("d.csv", TABLE, ["--target", "y", "--missing", "guess"], "--missing guess"),
    "latin-1": ("d.csv", TABLE.replace("a,", "caf\xe9,", 1).encode("latin-1"), ["--target", "y"], "not UTF-8 text, see 'caf?'"),
    "utf-16 without its mark": ("d.csv", TABLE.encode("utf-16-le"), ["--target", "y"], "--encoding utf-16-le"),
    "binary": ("d.csv", b"\x00\x01\x02" * 100, ["--target", "y"], "binary"),
    "truncated gzip": ("d.csv.gz", gzip.compress(TABLE.encode() * 50)[:60], ["--target", "y"], "truncated"),
    "not gzip": ("d.csv.gz", TABLE, ["--target", "y"], "not gzip"),
    "no such file": (None, None, ["nowhere.csv", "--target", "y"], "no file nowhere.csv"),
    "unknown format": ("d.xyz", TABLE, ["--target", "y"], "'xyz' is not known"),
    "excel": ("d.xlsx", b"PK\x03\x04", ["--target", "y"], "cannot be read as an Excel file"),
    "a page called Excel": ("d.xlsx", b"<html><body>", ["--target", "y"], "cannot be read as an Excel file: by its content it is a web page"),
    "text called Excel": ("d.xlsx", TABLE, ["--target", "y"], "by its content it is text. Use --format csv"),
    "an old book called new": ("d.xlsx", b"\xd0\xcf\x11\xe0" * 9, ["--target", "y"], "an Excel file that is old or locked by a password"),
    "rds of noise": ("d.rds", b"nonsense" * 30, ["--target", "y"], "cannot be read as what R saves"),
    "old excel": ("d.xls", b"PK\x03\x04", ["--target", "y"], "save it as .csv or .xlsx"),
    "unknown --format": ("d.csv", TABLE, ["--target", "y", "--format", "word"], "'word' is not known"),
    "folder": (None, None, [".", "--target", "y", "--format", "csv"], "is a folder"),
    "drop what is not there": ("d.csv", TABLE, ["--target", "y", "--drop", "d"], "--drop d: no such column"),
    "drop everything": ("d.csv", TABLE, ["--target", "y", "--drop", "a", "--drop", "b", "--drop", "c"], "no feature is left"),
    "target alone": ("d.csv", "y\n" + "1\n2\n3\n4\n5\n", ["--target", "y"], "no feature is left"),
    "constant features": ("d.csv", "a,y\n" + "".join(f"1,{i}\n" for i in range(12)), ["--target", "y"], "constant"),
    "pheno without id": ("d.csv", TABLE, ["--target", "y", "--pheno", "d.csv"], "--pheno needs --id"),
    "pheno is absent": ("d.csv", TABLE, ["--target", "y", "--pheno", "p.csv", "--id", "a"], "no file p.csv"),
    "pheno without the id column": ("d.csv", TABLE, ["--target", "y", "--pheno", "d.csv", "--id", "q"], "no column 'q'"),
    "ids twice": ("d.csv", TABLE, ["--target", "y", "--pheno", "d.csv", "--id", "c"], "appear more than once"),
    "no common id": ("d.csv", TABLE, ["--target", "z", "--pheno", "other.csv", "--id", "who"], "no id of other.csv"),
    "id is absent": ("d.csv", TABLE, ["--target", "y", "--id", "who"], "no column 'who'"),
    "layer of a csv": ("d.csv", TABLE, ["--target", "y", "--layer", "raw"], "--layer is for .h5ad"),
    "transposed matrix": ("d.npy", b"", ["--target", "y", "--transpose"], "--transpose is for .csv, .tsv, .xlsx, .parquet, .rds files"),
    "transposed twice the gene": ("d.csv", "g,s1,s2\na,1,2\na,3,4\n", ["--target", "y", "--transpose"], "'a' appear more than once"),
    "transposed twice the sample": ("d.csv", "g,s1,s1\na,1,2\nb,3,4\n", ["--target", "y", "--transpose"], "'s1' appear more than once"),
    "npy of nothing": ("d.npy", b"", ["--target", "x0"], "cannot be read"),
    "npy of noise": ("d.npy", b"nonsense" * 20, ["--target", "x0"], "cannot be read"),
    "npz of noise": ("d.npz", b"PK\x03\x04nonsense", ["--target", "y"], "cannot be read"),
    "mat of noise": ("d.mat", b"nonsense" * 30, [], "cannot be read as a MATLAB file"),
    "h5ad of noise": ("d.h5ad", b"nonsense" * 30, ["--target", "y"], "cannot be read as AnnData"),
    "h5 of noise": ("d.h5", b"nonsense" * 30, ["--target", "y"], "cannot be read as AnnData or other HDF5"),
    "zarr of noise": ("d.zarr", b"nonsense" * 30, ["--target", "y"], "cannot be read as zarr"),
    "parquet of noise": ("d.parquet", b"nonsense" * 30, ["--target", "y"], "cannot be read as Parquet"),
    "bed alone": ("d.bed", b"\x6c\x1b\x01", [], "needs d.fam beside it"),
    "fdr of 2": ("d.csv", TABLE, ["--target", "y", "--fdr", "2"], "--fdr 2.0 is not a level"),
    "unknown measure": ("d.csv", TABLE, ["--target", "y", "--measure", "mi"], "mi"),
    "unknown penalty": ("d.csv", TABLE, ["--target", "y", "--penalty", "ridge"], "ridge"),
    "unknown screening": ("d.csv", TABLE, ["--target", "y", "--screening", "hard"], "--screening hard"),
    "unknown target type": ("d.csv", TABLE, ["--target", "y", "--target-type", "survival"], "survival"),
    "relaxed over draws": ("d.csv", TABLE, ["--target", "y", "--draws", "3", "--on-empty", "relax"], "or --draws 1"),
    "no draws": ("d.csv", TABLE, ["--target", "y", "--draws", "0"], "--draws 0"),
    "negative seed": ("d.csv", TABLE, ["--target", "y", "--seed", "-3"], "--seed -3"),
    "absent config": ("d.csv", TABLE, ["--config", "c.toml"], "c.toml"),
    "config with a typo": ("d.csv", TABLE, ["--config", "typo.toml"], "'fdrr' is not an option"),
    "config that is no toml": ("d.csv", TABLE, ["--config", "d.csv"], "not a TOML file"),
}  # fmt: skip

"""Selects from a CSV file as a user of Python would: the oracle of the tests of R.

python oracle.py TABLE.csv QUESTION.json ANSWER.csv, where QUESTION has the columns of the target,
covariates, groups and factors, their levels, and the settings of a Recipe.
"""

import json
import sys
from pathlib import Path

import pandas as pd

import smrmr


def main(table: str, question: str, answer: str) -> None:
    asked = json.loads(Path(question).read_text(encoding="utf-8"))
    data = pd.read_csv(table, float_precision="round_trip")
    for name, levels in asked["factors"].items():
        data[name] = pd.Categorical(data[name], levels, ordered=name in asked["ordered"])
    target, covariates, groups = asked["target"], asked["covariates"], asked["groups"]
    found = smrmr.select(
        data.drop(columns=[*target, *covariates, *groups]),
        data[target[0]] if len(target) == 1 else data[target],
        smrmr.Recipe(**asked["settings"]),
        covariates=data[covariates] if covariates else None,
        groups=data[groups[0]] if groups else None,
    )
    found.to_frame().to_csv(answer, index=False)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Small data sets with a target of each kind, of which questions are asked."""

from __future__ import annotations

import numpy as np
import pandas as pd


def survival(rng, n=120, p=15):
    X = rng.standard_normal((n, p))
    time, censored = rng.exponential(np.exp(-X[:, 0])), rng.exponential(1.5, n)
    return X, pd.DataFrame({"event": time <= censored, "time": np.minimum(time, censored)})


def numbers(rng, n=100, p=40):
    """Features 0 and 3 are true, and each correlates with the next one."""
    X = rng.standard_normal((n, p))
    X[:, 1] += X[:, 0]
    X[:, 4] += X[:, 3]
    return X, X[:, 0] - X[:, 3] + rng.standard_normal(n)


def classes(rng, n_classes):
    X, y = numbers(rng)
    edges = np.quantile(y, np.arange(1, n_classes) / n_classes)
    return X, np.array(list("abcdef"))[np.searchsorted(edges, y)]


CASES = {
    "numbers": (numbers, "auto"),
    "two classes": (lambda rng: classes(rng, 2), "auto"),
    "six classes": (lambda rng: classes(rng, 6), "auto"),
    "survival": (survival, "survival"),
}

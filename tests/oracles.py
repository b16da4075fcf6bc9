"""Slow, literal transcriptions of the formulas, with none of the library's identities.

Nothing here imports smrmr: loops, full tensors and enumerations only.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import atan2, dist, hypot

import numpy as np


def as_vectors(x):
    """Rows as vectors: numbers become vectors of length 1, strings one-hot vectors."""
    x = np.asarray(x)
    if x.dtype.kind in "OUS":
        return (x[:, None] == np.unique(x)).astype(float)
    return (x[:, None] if x.ndim == 1 else x).astype(float)


def angle_tensor(x):
    """K_ilr of section 2.4.1: the angle between x_i - x_r and x_l - x_r.

    Zero at i = r or l = r, pi/2 where another sample equals x_r (0/0 read as cosine 0).
    """
    v = as_vectors(x)
    n = len(v)
    tensor = np.zeros((n, n, n))
    for r in range(n):
        towards = [direction(v[i] - v[r]) for i in range(n)]
        for i in range(n):
            for j in range(n):
                if r in (i, j):
                    continue
                a, b = towards[i], towards[j]
                if a is None or b is None:
                    tensor[i, j, r] = np.pi / 2
                else:
                    opposite = [-c for c in b]
                    tensor[i, j, r] = 2 * atan2(dist(a, b), dist(a, opposite))
    return tensor


def direction(vector):
    """The vector at length 1, none if its length is 0."""
    length = hypot(*vector)
    return (vector / length).tolist() if length > 0 else None


def centre(tensor):
    """Subtract row and column means, add the grand mean, in the first two axes."""
    return (
        tensor
        - tensor.mean(axis=0, keepdims=True)
        - tensor.mean(axis=1, keepdims=True)
        + tensor.mean(axis=(0, 1), keepdims=True)
    )


def pcov2(x, y):
    """Eq. (pc_etim_2)."""
    return float((centre(remembered_tensor(x)) * centre(remembered_tensor(y))).mean())


_tensors = {}


def remembered_tensor(x):
    """The tensor of a variable seen before: the loops are slow, and tests go through all pairs."""
    x = np.asarray(x)
    key = (x.dtype.str, x.shape, tuple(x.ravel().tolist()))
    if key not in _tensors:
        _tensors[key] = angle_tensor(x)
    return _tensors[key]


def pcov2_by_sums(x, y):
    """S1 + S2 - 2 S3 of Theorem 1 of Zhu et al., with 1/n^3 in S1 (the paper prints 1/n^2)."""
    k, m = remembered_tensor(x), remembered_tensor(y)
    n = len(k)
    s1 = np.einsum("ilr,ilr->", k, m) / n**3
    s2 = np.einsum("r,r->", k.sum(axis=(0, 1)), m.sum(axis=(0, 1))) / n**5
    s3 = np.einsum("mr,mr->", k.sum(axis=0), m.sum(axis=0)) / n**4
    return float(s1 + s2 - 2 * s3)


def pc2(x, y):
    return cosine(pcov2, x, y)


def distances(x):
    v = as_vectors(x).tolist()
    return np.array([[dist(a, b) for b in v] for a in v])


def median_width(x):
    """Median distance of the pairs i < j; if 0, mean of the nonzero distances."""
    d = distances(x)[np.triu_indices(len(x), 1)]
    width = np.median(d)
    return float(width if width > 0 else d[d > 0].mean())


def gaussian(x, width=None):
    return np.exp(-(distances(x) ** 2) / (2 * (width or median_width(x)) ** 2))


def laplacian(x, width=None):
    return np.exp(-distances(x) / (width or median_width(x)))


def delta(x):
    x = np.asarray(x)
    return (x[:, None] == x).astype(float)


def hsic_v(k, m):
    """Eq. (hsic_v1): the three sums, as printed."""
    n = len(k)
    return float(
        np.einsum("ij,ij->", k, m) / n**2
        + k.sum() * m.sum() / n**4
        - 2 * np.einsum("ij,im->", k, m) / n**3
    )


def hsic_u(k, m):
    """Eq. (hsic_u) by enumeration of the tuples without repetition; n up to about 12."""
    n = len(k)
    pairs = sum(k[i, j] * m[i, j] for i, j in permutations(range(n), 2))
    quads = sum(k[i, j] * m[a, b] for i, j, a, b in permutations(range(n), 4))
    triples = sum(k[i, j] * m[i, a] for i, j, a in permutations(range(n), 3))
    two, three, four = n * (n - 1), n * (n - 1) * (n - 2), n * (n - 1) * (n - 2) * (n - 3)
    return float(pairs / two + quads / four - 2 * triples / three)


def nr_hsic(k, m):
    return hsic_v(k, m) / np.sqrt(hsic_v(k, k) * hsic_v(m, m))


def dcov2(d, e):
    """Squared distance covariance from distance matrices."""
    return float((centre(d) * centre(e)).mean())


def dcor2(d, e):
    return dcov2(d, e) / np.sqrt(dcov2(d, d) * dcov2(e, e))


def cosine(product, x, y):
    """Association from inner products, 0 for a constant variable."""
    norm = product(x, x) * product(y, y)
    return product(x, y) / np.sqrt(norm) if norm > 0 else 0.0


def smallest_levels(p, rule):
    """Smallest level at which Benjamini and Hochberg's rule, or Yekutieli's "by", takes each p.

    At level a the rule takes all p-values up to the largest one, c, with
    c <= a #{p <= c} / m; "by" divides a by 1 + 1/2 + ... + 1/m.
    """
    m = len(p)
    price = sum(1 / i for i in range(1, m + 1)) if rule == "by" else 1.0
    levels = np.array([price * m * c / np.sum(p <= c) for c in p])
    return np.array([min(1.0, levels[p >= one].min()) for one in p])


def closed_testing(p, alpha):
    """For every set of hypotheses, as bits of a number, at least how many of it are false.

    Closed testing rejects a set if Simes' test rejects it and every set around it. What remains
    of a set, if all false ones are taken out, is not rejected: the largest such part of it bounds
    the number of null hypotheses. Fractions are exact.
    """
    m, p, alpha = len(p), [Fraction(float(one)) for one in p], Fraction(alpha)
    sets = range(2**m)
    members = [[k for k in range(m) if one >> k & 1] for one in sets]
    passes = [not simes_rejects([p[k] for k in some], alpha) for some in members]
    for one in reversed(sets):  # larger sets have larger numbers than those within them
        passes[one] |= any(passes[one | 1 << k] for k in range(m) if not one >> k & 1)
    nulls = []
    for one in sets:
        within = (nulls[one ^ 1 << k] for k in members[one])
        nulls.append(len(members[one]) if passes[one] else max(within))
    return [len(members[one]) - nulls[one] for one in sets]


def simes_rejects(p, alpha):
    """Whether the j-th smallest of n p-values is at most alpha j / n for any j."""
    return any(len(p) * one <= j * alpha for j, one in enumerate(sorted(p), start=1))

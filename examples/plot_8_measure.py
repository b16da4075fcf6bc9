"""
Writing your own measure of dependence
======================================

Relevance and redundancy are associations, and which kind of association is a setting: projection
correlation (the default), HSIC, distance correlation, Pearson's. If you know what shape to expect,
a measure of your own can detect it better. A measure is one small class; this page writes one,
checks it and uses it to rank and to select.
"""

# %%
# What a measure is
# -----------------
# It embeds a column, that is, turns it into an object that can be multiplied with others of its
# kind. The association of two columns is the cosine of their embeddings, and the library takes care
# of that and of everything else: blocks of columns, threads, memory.
#
# Ours fits curves to ranks. A column becomes its line and its parabola over the ranks (Legendre
# polynomials, made orthogonal), so it detects rises, falls, U and arch, and no other shapes. The
# inner product of two embeddings is the sum of squared correlations between the curves of one and
# the curves of the other.
#
# ``prepare`` gets some columns as the rows of ``block.values``; ``bytes_per_column`` and ``tile``
# set how many columns are prepared at once.
from dataclasses import dataclass
from typing import ClassVar

import matplotlib.pyplot as plt
import numpy as np
from numpy.polynomial.legendre import legvander
from scipy.stats import rankdata

import smrmr
from smrmr.measures.protocol import Measure

plt.rcParams["axes.spines.top"] = plt.rcParams["axes.spines.right"] = False
BLUE, ORANGE, GREY = "#1f5fbf", "#d9742b", "#b9bdc4"


@dataclass(frozen=True, eq=False)
class Curves:
    """Embedded columns: for each its curves, (degree, n), and the squared norm of the embedding."""

    columns: np.ndarray
    curves: np.ndarray
    energies: np.ndarray


@dataclass(frozen=True)
class RankCurves(Measure):
    """Squared correlations between polynomials of the ranks of two columns."""

    degree: int = 2
    by_rank: ClassVar[bool] = True  # only the order of values counts

    def prepare(self, block, use):
        """Embed columns of numbers."""
        if block.nominal:
            raise ValueError("RankCurves takes numbers. Use 'pc' for categories.")
        curves = np.stack([self._curves(column) for column in block.values])
        return [Curves(block.columns, curves, (curves**2).sum(axis=(1, 2)))]

    def prepare_target(self, target):
        """Embed the target in the same way."""
        return self.prepare(target.block(), None)[0]

    def inner(self, a, b):
        """Inner product of every embedding of a with every one of b."""
        n = a.curves.shape[2]
        products = a.curves.reshape(-1, n) @ b.curves.reshape(-1, n).T
        by_pair = products.reshape(len(a.columns), self.degree, len(b.columns), self.degree)
        return (by_pair**2).sum(axis=(1, 3))

    def bytes_per_column(self, n_rows, use):
        """What an embedded column takes up."""
        return 8 * self.degree * n_rows

    def tile(self, target):
        """How many columns to embed at once."""
        return 128

    def _curves(self, column):
        """Orthonormal polynomials of the ranks without their mean; zeros for a constant."""
        place = (2 * rankdata(column) - 1) / len(column) - 1  # between -1 and 1
        powers = legvander(place, self.degree)[:, 1:]
        curves, sizes = np.linalg.qr(powers - powers.mean(axis=0))
        return (curves * (np.abs(np.diag(sizes)) > 1e-9)).T


# %%
# Check it
# --------
# A column with itself has 1, an order-preserving change alters nothing, and the matrix of all
# pairs has no negative eigenvalue, which the solver relies on.
own = RankCurves()
data = smrmr.simulate("mixed", n=400, p=150, random_state=0)
redundancy = smrmr.redundancy(data.X, measure=own)
print("with itself:", redundancy.diagonal().min().round(6))
print("unchanged by exp:", np.allclose(smrmr.redundancy(np.exp(data.X), measure=own), redundancy))
print("smallest eigenvalue:", np.linalg.eigvalsh(redundancy).min().round(3))

# %%
# What does it detect? One feature, four targets, against the measures that exist. Numbers of
# different measures are on different scales, so each is compared with the largest of 200 columns of
# noise: above 1 the shape is detected.
rng = np.random.default_rng(0)
x = rng.standard_normal(200)
noisy = rng.standard_normal((200, 200))
shapes = {"line": x, "step": x > 0.5, "U": np.abs(x), "wave": np.cos(4 * x)}
measures = {"Pearson": "pearson", "projection correlation": "pc", "RankCurves": own}
print(f"{'':24}" + "".join(f"{shape:>7}" for shape in shapes))
for name, measure in measures.items():
    print(f"{name:24}", end="")
    for shape in shapes.values():
        y = 1.0 * shape / np.std(shape) + rng.standard_normal(200)
        found = smrmr.relevance(np.column_stack([x, noisy]), y, measure=measure)
        print(f"{found[0] / found[1:].max():7.1f}", end="")
    print()

# %%
# For U ours is the clearest. No measure detects the wave with 200 rows; with more, projection
# correlation would, and ours never: a wave is neither a line nor a parabola.

# %%
# Use it to rank
# --------------
# Any setting named ``measure`` takes it. In this design the target follows five features by an S
# and five by their absolute value, among 150.
fig, axes = plt.subplots(1, 3, figsize=(7.5, 3.4), layout="constrained")
rising, even = data.support[:5], data.support[5:]
false = np.setdiff1d(np.arange(150), data.support)
for ax, (name, measure) in zip(axes, measures.items(), strict=True):
    relevance = smrmr.relevance(data.X, data.y, measure=measure)
    for place, (group, colour) in enumerate([(rising, BLUE), (even, ORANGE), (false, GREY)]):
        across = place + rng.uniform(-0.2, 0.2, len(group))
        ax.plot(across, relevance[group], "o", color=colour, markersize=4)
    ax.axhline(relevance[false].max(), color="black", linestyle="--", linewidth=0.8)
    ax.set(title=name, ylim=0, xlim=(-0.5, 2.5))
    ax.set_xticks([0, 1, 2], ["S", "even", "none"])
axes[0].set(ylabel="relevance")
axes[1].set(xlabel="how a feature acts (line: the best of those that do not)")
plt.show()

# %%
first = {name: smrmr.rivals.SIS(10, measure=m).fit(data.X, data.y) for name, m in measures.items()}
for name, ranking in first.items():
    print(f"{name:24} {np.isin(data.support, np.flatnonzero(ranking.get_support())).sum()} of 10")

# %%
# Use it to select
# ----------------
# With knockoffs the measure defines relevance and redundancy. The guarantee does not depend on the
# measure, the power does.
for name, measure in measures.items():
    recipe = smrmr.Recipe(fdr=0.2, control=smrmr.paper.KnockoffFilter(measure=measure))
    found = smrmr.select(data.X, data.y, recipe, rng=0).selected
    right = np.isin(found, data.support).sum()
    print(f"{name:24} {right:2} true, {len(found) - right} false")

# %%
# Of the 26 features that projection correlation selects here 16 are false, at a level of 0.2. The
# level is an average over many studies, and this one is an unlucky draw.
#
# Caution
# -------
# - Choose the measure for what you know of the field, not for what it finds in the data at hand.
# - Conditional tests, the default of ``smrmr.select``, take statistics instead of measures: one of
#   your own needs a null distribution, which ``smrmr.conditional.Permutation`` gets by permuting
#   rows.
# - An association of two independent columns is above 0, and how far depends on the measure and on
#   the number of rows. Compare features with each other, never measures by their numbers.
# - :doc:`/extending` says what else can be replaced.

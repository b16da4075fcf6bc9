"""
Choosing a level, and reading what it means
===========================================

The level ``fdr`` is the only number you must choose. It is the largest share of false features, on
average, among those selected. One fit serves all levels, so they can be compared. But the level has
to be chosen before seeing results, or it guarantees nothing.
"""

# %%
# Load
# ----
# 250 rows and 300 features, 20 of which act, the weakest a tenth as much as the strongest: some are
# easy to find, some cannot be found at all.
import matplotlib.pyplot as plt
import numpy as np

import smrmr

plt.rcParams["axes.spines.top"] = plt.rcParams["axes.spines.right"] = False
BLUE, ORANGE, GREY = "#1f5fbf", "#d9742b", "#8a8f98"

rng = np.random.default_rng(0)
n_features, true = 300, np.arange(5, 300, 15)


def study(n_rows):
    """Features of which neighbours correlate by 0.4, and a target that the true ones act on."""
    X = rng.standard_normal((n_rows, n_features))
    for k in range(1, n_features):
        X[:, k] = 0.4 * X[:, k - 1] + np.sqrt(1 - 0.16) * X[:, k]
    return X, X[:, true] @ np.linspace(0.1, 1, len(true)) + rng.standard_normal(n_rows)


X, y = study(250)

# %%
# Fit once, decide at any level
# -----------------------------
# ``Selection.at`` decides again without fitting again.
selection = smrmr.select(X, y, fdr=0.1)
print("level  selected  true  false")
for level in [0.01, 0.05, 0.1, 0.2, 0.3, 0.5]:
    chosen = selection.at(level).selected
    right = np.isin(chosen, true).sum()
    print(f"{level:5}  {len(chosen):8}  {right:4}  {len(chosen) - right:5}")

# %%
# Two of the 20 are too weak to be found at any of these levels. Beyond 0.2, all that a higher level
# adds is false. In a study the last two columns are unknown: of the figure below only the blue
# curve can be seen.
levels = np.geomspace(0.005, 0.8, 60)
sizes = np.array([len(selection.at(level).selected) for level in levels])
wrong = np.array([(~np.isin(selection.at(level).selected, true)).sum() for level in levels])

fig, axes = plt.subplots(1, 2, figsize=(7.5, 3.5), layout="constrained")
axes[0].step(levels, sizes, where="post", color=BLUE, label="selected")
axes[0].step(levels, wrong, where="post", color=ORANGE, label="of these false")
axes[0].axhline(len(true), color=GREY, linestyle="--", linewidth=1, label="20 features act")
axes[0].set(xscale="log", xlabel="level", ylabel="features")
axes[0].set_xticks([0.01, 0.05, 0.1, 0.2, 0.5], ["0.01", "0.05", "0.1", "0.2", "0.5"])
axes[0].minorticks_off()
axes[0].legend(frameon=False)
axes[1].plot(levels, levels, color=GREY, linestyle="--", linewidth=1, label="the level itself")
axes[1].plot(levels, wrong / np.maximum(sizes, 1), color=ORANGE, label="false here")
axes[1].set(xlabel="level", ylabel="share of false among selected", ylim=(0, 0.8))
axes[1].legend(frameon=False)
plt.show()

# %%
# The right figure is one data set. The level guarantees that the orange curve lies below the line
# on average over many studies, not in each.
#
# q-values
# --------
# The q-value of a feature is the smallest level that selects it, so ``q_value <= 0.1`` is the
# selection at 0.1. False findings are mostly among those with q-values near the level.
table = selection.at(0.3).findings()
table["true"] = [k in true for k in selection.at(0.3).selected]
columns = ["feature", "p_value", "q_value", "direction", "true"]
print(table[columns].tail(7).to_string(index=False, float_format="{:.2g}".format))

# %%
# Rules
# -----
# ``rule`` says how p-values become a selection. ``"bh"``, the default, keeps the level in
# simulations; ``"by"`` is proven whatever the dependence between the p-values, ``"holm"`` bounds
# the chance of even one false feature. Both find less.
print("rule  selected  false")
for rule in ["bh", "by", "holm"]:
    found = smrmr.select(X, y, fdr=0.1, control=f"tests(rule={rule})")
    print(f"{rule:4}  {len(found.selected):8}  {(~np.isin(found.selected, true)).sum():5}")

# %%
# Bounds, if the level must be chosen after seeing results
# --------------------------------------------------------
# With knockoffs there is a bound for every length of the list at once: among the first k features,
# at most so many are false, with 95% confidence for all k together. That holds however k is
# chosen. Knockoffs need more rows; here are 700 of the same kind.
X, y = study(700)
knockoffs = smrmr.select(X, y, fdr=0.2, control="knockoffs", rng=0)
bounds = smrmr.paper.false_discovery_bounds(knockoffs.W)
ranking = np.argsort(-knockoffs.W)[:30]
wrong = np.cumsum(~np.isin(ranking, true))
print("first  false: at most  really")
for k in [5, 10, 15, 20]:
    print(f"{k:5}  {bounds[k - 1]:14}  {wrong[k - 1]:6}")

# %%
k = np.arange(1, 31)
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.step(k, bounds[:30], where="mid", color=BLUE, label="at most false (95%)")
ax.step(k, wrong, where="mid", color=ORANGE, label="really false")
ax.axvline(len(knockoffs.selected), color=GREY, linestyle="--", linewidth=1, label="level 0.2")
ax.set(xlabel="first k features by W", ylabel="false features among them", yticks=range(0, 21, 5))
ax.legend(frameon=False)
plt.show()

# %%
# Caution
# -------
# - Choose the level by what a false feature costs. A list for a cheap follow-up may use 0.3; a list
#   that goes into a paper 0.05 or 0.1.
# - Do not try levels until a favourite gene appears. ``selection.near_misses()`` lists the best
#   that were not selected, as near misses and not as findings.
# - See :doc:`/guarantee` for the conditions, and :doc:`/empty` for what an empty answer means.

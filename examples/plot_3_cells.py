"""
Single cells: why a cell is not a row, and markers of cell types
================================================================

Thousands of cells look like thousands of observations. But if the question is about donors (who is
more ill?) and all cells of a donor share the answer, only the donors count. Cells of one donor also
share genes, age and the day on which they were processed, so a gene that differs between any two
donors for any reason differs between dozens of cells.

We select with and without ``groups="donor"`` and count the false findings. Then we ask another
question, about cells: which genes mark which cell type?
"""

# %%
# Load
# ----
# Counts of 120 genes in 20 cells of each of 90 donors, as an AnnData object. Donors differ in every
# gene; three of these differences are associated with how ill a donor is.
from textwrap import fill

import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import sparse

import smrmr

plt.rcParams["axes.spines.top"] = plt.rcParams["axes.spines.right"] = False
BLUE, ORANGE, GREY = "#1f5fbf", "#d9742b", "#8a8f98"

rng = np.random.default_rng(0)
n_donors, n_cells, n_genes = 90, 20, 120
genes = [f"gene{k + 1:03d}" for k in range(n_genes)]
true = ["gene021", "gene061", "gene091"]

of_donor = rng.normal(0, 0.4, (n_donors, n_genes))  # what sets donors apart, on the log scale
severity = 2.5 * of_donor[:, [20, 60, 90]] @ [1, -1, 1] + rng.normal(0, 0.5, n_donors)
donor = np.repeat(np.arange(n_donors), n_cells)
depth = rng.lognormal(0, 0.3, (len(donor), 1))  # how many molecules of a cell are counted
rate = depth * np.exp(rng.normal(1, 0.5, n_genes) + of_donor[donor])
counts = rng.poisson(rng.gamma(2, rate / 2))

obs = pd.DataFrame({"donor": donor, "severity": severity[donor].round(2)}).astype({"donor": str})
obs.index = [f"cell{i + 1:04d}" for i in range(len(obs))]
adata = anndata.AnnData(sparse.csr_matrix(counts, dtype=np.float32), obs)
adata.var_names = genes
adata.layers["counts"] = adata.X.copy()
size = counts.sum(axis=1, keepdims=True)
adata.X = sparse.csr_matrix(np.log1p(counts / size * np.median(size)))  # as is usual for cells
print(adata)


def marked(selection):
    """How many findings there are, and how many of them are true."""
    right = sum(name in true for name in selection.selected_names)
    return f"{len(selection.selected)} genes found, {right} of them true"


# %%
# With cells as rows
# ------------------
# The answer goes into ``adata.var``, so we keep this one, which is wrong, in a copy.
cells = smrmr.anndata.select(adata.copy(), "severity")
print(marked(cells))

# %%
# Most are false. The tests assume 1,800 independent rows, and there are 90 donors: a chance
# difference between donors is repeated in 20 cells each.
#
# With donors as rows
# -------------------
# All cells of a donor have the same severity, so donors are compared, by the means of their cells.
donors = smrmr.anndata.select(adata, "severity", groups="donor")
print(marked(donors))

# %%
# The answer is in ``adata.var``, and how it was found in ``adata.uns["smrmr"]``.
answer = adata.var[["smrmr_selected", "smrmr_p_value", "smrmr_q_value", "smrmr_direction"]]
print(answer.sort_values("smrmr_p_value").head().to_string(float_format="{:.1e}".format))
print()
print(fill(adata.uns["smrmr"]["statement"], 74))

# %%
# The p-values show what went wrong. Those of the 117 genes that do not matter should lie on the
# line: a tenth of them below 0.1, and so on. With cells as rows they are far too small.
others = ~adata.var_names.isin(true)
fig, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
for selection, colour, label in [
    (cells, ORANGE, "cells as rows"),
    (donors, BLUE, "donors compared"),
]:
    p = np.sort(selection.p_values[others])
    ax.plot(np.arange(1, len(p) + 1) / len(p), p, ".", color=colour, label=label)
ax.plot([1 / others.sum(), 1], [1 / others.sum(), 1], color=GREY, label="as it should be")
ax.set(xscale="log", yscale="log", ylim=1e-6)
ax.set(xlabel="share of genes that do not matter", ylabel="p-value")
ax.legend(frameon=False)
plt.show()

# %%
# Markers of cell types
# ---------------------
# A cell type differs between the cells of a donor, so the same ``groups="donor"`` compares cells
# within donors. All types are given at once: every gene gets one p-value over all of them. Here
# are 12 cells of each of 40 donors; of 60 genes the first three mark B cells, the next three
# monocytes, and so on.
types = np.array(["B", "Monocyte", "NK", "T"])
donor = np.repeat(np.arange(40), 12)
kind = rng.choice(types, len(donor))
rate = np.exp(rng.normal(0.5, 0.3, 60) + rng.normal(0, 0.3, (40, 60))[donor])
for k, name in enumerate(types):
    rate[kind == name, 3 * k : 3 * k + 3] *= 2.5
obs = pd.DataFrame({"donor": donor, "type": kind}).astype({"donor": str})
obs.index = [f"cell{i + 1:03d}" for i in range(len(obs))]
typed = anndata.AnnData(sparse.csr_matrix(np.log1p(rng.poisson(rate))), obs)
typed.var_names = genes[:60]
selection = smrmr.anndata.select(typed, "type", groups="donor")
print(f"{len(selection.selected)} of 60 genes found; marked by")
for name, marking in typed.uns["smrmr"]["markers"].items():
    print(f"  {name}: {', '.join(marking)}")

# %%
# Each gene is named for the types in which it is higher or lower than in all others together, given
# all other genes. ``selection.markers()`` has their effects, which are partial correlations.
marks = selection.markers()
table = marks.pivot(index="feature", columns="class", values="effect").sort_index()
fig, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
image = ax.imshow(table, cmap="RdBu_r", vmin=-0.6, vmax=0.6, aspect="auto")
ax.set(xticks=range(len(table.columns)), xticklabels=table.columns)
ax.set(yticks=range(len(table)), yticklabels=table.index)
fig.colorbar(image, label="effect, where a type is named")
plt.show()

# %%
# Caution
# -------
# - Types must not come from clusters of the same genes: these differ by construction, and no
#   p-value holds for them.
# - It is the number of donors that counts. With a dozen donors hardly anything can be found,
#   however many cells there are, and an empty answer is then the right one.
# - How rows of one donor are compared, within or by their means, is explained in :doc:`/rows`.
# - The data do not show which rows belong together: it must be declared.

"""
Gene expression: which genes tell about the response?
=====================================================

A table of patients and genes, a number measured on every patient, and the question which genes
tell about it. We load the table, ask, look at the answer and its figures, and find out why a gene
that looked good is not in it.

The table comes with the package. It is simulated, so here, unlike in a study, the answer can be
marked.
"""

# %%
# Load
# ----
# 120 patients, 150 genes, and the response to a drug. Your own table would be one line of pandas;
# all that matters is a row for each patient.
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np

import smrmr

plt.rcParams["axes.spines.top"] = plt.rcParams["axes.spines.right"] = False

table = smrmr.load_example("response")
X, y = table.drop(columns="response"), table["response"]
print(table.iloc[:4, :6].to_string())

# %%
# Ask
# ---
# The one number to choose is the level ``fdr``: the largest share of false genes, on average,
# among those that are named. At 0.1 we accept one in ten.
selection = smrmr.SmRMR(fdr=0.1).fit(X, y).selection_
print(fill(str(selection), 74))

# %%
# Answer
# ------
# Five findings, and all five are true. ``direction`` is what a gene does to the response given
# all other genes; ``shape`` is what a plain plot of the gene against the response shows.
columns = ["feature", "size", "q_value", "direction", "shape"]
print(selection.findings()[columns].to_string(index=False, float_format="{:.1e}".format))

true = set(table.attrs["true"])
found = set(selection.selected_names)
print(f"\n{len(found & true)} of {len(true)} true genes found, {len(found - true)} false")

# %%
# The first finding is a group. Genes 041 to 044 are so alike that these 120 patients cannot tell
# whether one of them, given the other three, goes with the response; that the four together do is
# clear. ``gene041`` speaks for them.
print(selection.findings().loc[0, "members"])

# %%
# Figures of the findings hold the median response, and where the middle half and the middle 80%
# of the patients lie, in bins along each gene. They are summaries: no single patient is shown. The
# last figure has the p-values of the best 40 genes; bars point down where the response falls.
fig, axes = plt.subplots(2, 3, figsize=(7.5, 5), layout="constrained")
for name, ax in zip(selection.selected_names, axes.flat, strict=False):
    selection.plot("shape", ax, feature=name)
    ax.set(title=name, xlabel="expression (log)", ylabel="response")
    ax.set(ylim=(44, 63), yticks=range(45, 61, 5))
selection.plot("best", axes.flat[5])
axes.flat[5].set(title="smallest p-values", xlabel="rank of the gene", ylabel="-log10 p")
plt.show()

# %%
# ``gene030`` has a U: both little and much of it go with a high response. Its correlation with the
# response is -0.11, so a search for lines would have passed it by.

# %%
# Why not my gene?
# ----------------
# Suppose we had hoped for ``gene040``. Alone it goes with the response, with a p-value of 0.0025.
print(fill(selection.explain("gene040"), 74))

# %%
# It is a neighbour of ``gene041`` and goes with the response only because that gene does. The next
# figure shows it for all genes at once: on the right, genes that look good alone; at the top, those
# that still do given all others. ``gene040`` looks good only through others. So do the three
# look-alikes of ``gene041``, which were found as its group.
fig, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
selection.plot("alone", ax)
ax.set(xlabel="-log10 p, gene alone", ylabel="-log10 p, given all other genes")
genes = selection.to_frame().set_index("feature")
for name, text, shift in [
    ("gene030", "gene030", (-30, 7)),
    ("gene040", "gene040", (14, 8)),
    ("gene042", "gene042 to gene044", (58, 4)),
]:
    at = -np.log10(genes.loc[name, ["p_value_alone", "p_value"]].astype(float))
    ax.annotate(text, at, shift, textcoords="offset points", ha="center")
plt.show()

# %%
# Caution
# -------
# - ``shape`` is a word for a noisy picture. ``gene080`` acts by a threshold and is said to rise;
#   ``gene010`` acts by a line and is said to have a threshold. With 120 patients, and four other
#   genes at work, rise and step cannot be told apart.
# - A gene that is not found may still matter. The best of those not found are near misses, which
#   are no findings: ``selection.near_misses()``.
# - The level holds for rows that are independent. If patients come from a few families or plates,
#   say so: see :doc:`/rows`.
#
# ``selection.report("report.html")`` writes all this, and the checks behind it, on one page.

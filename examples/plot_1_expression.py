"""
Gene expression: which genes are associated with the response?
==============================================================

A table of patients and genes, a number measured on every patient, and the question which genes are
associated with it given all others. We load the table, select, read the answer and its figures, and
see why a gene with a marginal association is not in it.

The table comes with the package. It is simulated, so here, unlike in a study, the answer can be
checked.
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
# Select
# ------
# The one number to choose is the level ``fdr``: the largest share of false genes, on average,
# among those selected. At 0.1, the default, we accept one in ten.
selection = smrmr.SmRMR().fit(X, y).selection_
print(fill(str(selection), 74))

# %%
# Answer
# ------
# Five findings, and all five are true. ``direction`` is the sign of the association given all other
# genes; ``shape`` describes the marginal association, not adjusted for other genes.
columns = ["feature", "size", "q_value", "direction", "shape"]
print(selection.findings()[columns].to_string(index=False, float_format="{:.1e}".format))

true = set(table.attrs["true"])
found = set(selection.selected_names)
print(f"\n{len(found & true)} of {len(true)} true genes found, {len(found - true)} false")

# %%
# The first finding is a group. Genes 041 to 044 correlate so strongly that none of them, given the
# other three, is significantly associated with the response in these 120 patients; the four
# together are. ``gene041`` represents them.
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
# ``gene030`` has a U: the response is high where the gene is low and where it is high. Its
# correlation with the response is -0.11, so a linear method would miss it.

# %%
# Why not my gene?
# ----------------
# Suppose we had hoped for ``gene040``. Its marginal p-value is 0.0025.
print(fill(selection.explain("gene040"), 74))

# %%
# It correlates with ``gene041``, and given that gene it is not associated with the response. The
# next figure shows this for all genes: marginal p-values on the horizontal axis, p-values given all
# other genes on the vertical one. ``gene040`` is significant only marginally. So are the three
# look-alikes of ``gene041``, which were selected as its group.
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
# - ``shape`` is an uncertain estimate. ``gene080`` acts by a threshold and is said to rise;
#   ``gene010`` acts linearly and is said to have a threshold. With 120 patients, and four other
#   true genes, a line and a step cannot be distinguished.
# - A gene that is not selected may still matter. The best of these are near misses, which are no
#   findings: ``selection.near_misses()``.
# - The level holds for rows that are independent. If patients come from a few families or plates,
#   say so: see :doc:`/rows`.
#
# ``selection.report("report.html")`` writes all this, and the checks behind it, on one page.

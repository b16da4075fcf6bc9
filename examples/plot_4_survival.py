"""
Survival: genes and risk, with age and stage adjusted for
=========================================================

How long patients live depends on their age and on the stage of their disease, and so does how
strongly some genes are expressed. Such genes are associated with survival, but not given age and
stage. We select genes that are.
"""

# %%
# Load
# ----
# 250 patients, 150 genes. Three genes act on the risk of death; three others follow age or stage.
# A patient who is alive at the end of the study is *censored*: we know only that death comes later.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import smrmr

plt.rcParams["axes.spines.top"] = plt.rcParams["axes.spines.right"] = False
BLUE, ORANGE, GREY = "#1f5fbf", "#d9742b", "#8a8f98"

rng = np.random.default_rng(0)
n, n_genes = 250, 150
age = rng.integers(40, 85, n)
stage = rng.choice(["I", "II", "III"], n, p=[0.5, 0.3, 0.2])
older, later = (age - 62) / 13, (stage == "II") / 2 + (stage == "III")

expression = rng.standard_normal((n, n_genes))
for k in range(1, n_genes):  # neighbours correlate by 0.4
    expression[:, k] = 0.4 * expression[:, k - 1] + np.sqrt(1 - 0.16) * expression[:, k]
genes = pd.DataFrame(expression, columns=[f"gene{k:03d}" for k in range(1, n_genes + 1)])
for name, follows in [("gene101", older), ("gene121", -older), ("gene131", 2 * later)]:
    genes[name] = 0.6 * genes[name] + follows

true = ["gene021", "gene051", "gene081"]
risk = 0.7 * genes[true] @ [1, -1, 1] + older + 1.5 * later
death, end = 40 * rng.exponential(np.exp(-risk)), rng.uniform(12, 90, n)
outcome = pd.DataFrame({"months": np.minimum(death, end).round(1), "died": death <= end})
known = pd.DataFrame({"age": age, "stage": stage})
print(pd.concat([outcome, known, genes.iloc[:, :3].round(2)], axis=1).head(4).to_string())

# %%
# Without covariates
# ------------------
# A table with a column of times and one of events is the target. ``target="survival"`` says so.
recipe = smrmr.Recipe(target="survival")
naive = smrmr.select(genes, outcome, recipe)
for name in naive.selected_names:
    print(name, "true" if name in true else "false")

# %%
# Adjusted for age and stage
# --------------------------
# Covariates may be numbers or labels. They are adjusted for and never selected.
adjusted = smrmr.select(genes, outcome, recipe, covariates=known)
columns = ["feature", "p_value", "q_value", "direction", "effect"]
print(adjusted.findings()[columns].to_string(index=False, float_format="{:.2g}".format))

# %%
# The genes that follow age or stage are gone and the three true ones are found. So are two false
# ones, with q-values just below the level: 0.1 is an average over many studies, and a single one
# may be worse. ``rises`` means that the *risk* rises with the gene.
#
# Survival curves of patients with low and high expression differ for both kinds of gene: such
# curves are not adjusted for age and stage.


def kaplan_meier(months, died):
    """Share of patients alive at each time at which one dies."""
    times = np.unique(months[died])
    at_risk = np.array([(months >= t).sum() for t in times])
    deaths = np.array([(died & (months == t)).sum() for t in times])
    return np.r_[0, times], np.r_[1, np.cumprod(1 - deaths / at_risk)]


def part(name, ax):
    """Survival of the patients in the lowest and in the highest third of a gene."""
    third = pd.qcut(genes[name], 3, labels=["least", "middle", "most"])
    for label, colour in [("least", BLUE), ("most", ORANGE)]:
        rows = (third == label).to_numpy()
        curve = kaplan_meier(outcome["months"].to_numpy()[rows], outcome["died"].to_numpy()[rows])
        ax.step(*curve, where="post", color=colour, label=f"{label} {name}")
    ax.set(xlabel="months", ylim=(0, 1.02))
    ax.legend(frameon=False)


fig, axes = plt.subplots(1, 2, figsize=(7.5, 3.5), sharey=True, layout="constrained")
part("gene081", axes[0])
part("gene101", axes[1])
axes[0].set(title="acts on the risk", ylabel="share alive")
axes[1].set(title="follows age")
plt.show()

# %%
# What adjusting does to the three genes that act, and to the three that follow age or stage:
both = [*true, "gene101", "gene121", "gene131"]
fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
for selection, colour, label in [
    (naive, GREY, "genes alone"),
    (adjusted, BLUE, "given age and stage"),
]:
    p = [selection.p_values[selection.position(name)] for name in both]
    ax.plot(-np.log10(p), both, "o", color=colour, label=label)
ax.invert_yaxis()
ax.set(xlabel="-log10 p given all other genes")
fig.legend(loc="outside upper center", ncols=2, frameon=False)
plt.show()

# %%
# Caution
# -------
# - Censoring must be independent of the genes given the covariates. Patients who leave the study
#   because they are worse break this.
# - Adjusting is for what comes before both genes and death. A covariate that the genes act through
#   hides them.
# - Patients who enter late (left truncation) are refused, see :doc:`/targets`.

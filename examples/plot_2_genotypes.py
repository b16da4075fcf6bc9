"""
Genotypes: linked SNPs and people of several populations
========================================================

Two things make genotypes hard. Neighbouring SNPs are inherited together, so several are correlated
and no study of this size can say which of them acts. And people of one population share SNPs and
also diet, climate and doctors: a SNP that is merely common among them seems to act.

We simulate both, see what goes wrong, and adjust for principal components as covariates.
"""

# %%
# Load
# ----
# 300 people of three populations; 240 SNPs, coded 0, 1, 2 by the number of rare alleles, in 40
# blocks of six that are inherited nearly together. Four SNPs act on the trait, and so does
# something in the environment of each population.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.special import ndtr

import smrmr

plt.rcParams["axes.spines.top"] = plt.rcParams["axes.spines.right"] = False
BLUE, ORANGE, GREY = "#1f5fbf", "#d9742b", "#8a8f98"

rng = np.random.default_rng(0)
n, n_blocks, size = 300, 40, 6
population = rng.integers(0, 3, n)
ancestral = rng.uniform(0.2, 0.5, n_blocks)
drifted = rng.beta(9 * ancestral, 9 * (1 - ancestral), (3, n_blocks)).clip(0.05, 0.95)
frequency = drifted.repeat(size, axis=1)[population]  # of each allele, for each person
genotypes = np.zeros((n, n_blocks * size))
for _ in range(2):  # one chromosome of the mother, one of the father
    shared = rng.standard_normal((n, n_blocks)).repeat(size, axis=1)
    own = rng.standard_normal(genotypes.shape)
    genotypes += ndtr(np.sqrt(0.95) * shared + np.sqrt(0.05) * own) < frequency

names = [f"block{b + 1:02d}_{letter}" for b in range(n_blocks) for letter in "abcdef"]
snps = pd.DataFrame(genotypes, columns=names)
true = ["block06_c", "block13_c", "block21_c", "block34_c"]
trait = 0.8 * snps[true].sum(axis=1) + 3 * population + rng.standard_normal(n)
print(snps.iloc[:3, 30:36].astype(int).to_string())

# %%
# Without adjusting for populations
# ---------------------------------
# A finding counts as true if a SNP that acts is in its group.


def judge(selection):
    """The findings as a table, with whether each is true."""
    findings = selection.findings()
    findings["true"] = [any(name in true for name in m.split()) for m in findings["members"]]
    return findings


naive = smrmr.select(snps, trait)
findings = judge(naive)
print(f"{len(findings)} findings, of which {(~findings['true']).sum()} are false")

# %%
# Three of seven are false, at a level of 0.1, although every SNP was tested given all others. The
# other SNPs predict the population in part, and the rest of its effect is attributed to SNPs that
# are common in one population.
#
# See the confounding
# -------------------
# The first principal components of the genotypes show the populations, whose trait values differ.
standard = (genotypes - genotypes.mean(axis=0)) / genotypes.std(axis=0)
scores, spread, _ = np.linalg.svd(standard, full_matrices=False)
components = pd.DataFrame(scores[:, :2] * spread[:2], columns=["pc1", "pc2"])

fig, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
dots = ax.scatter(components["pc1"], components["pc2"], c=trait, cmap="cividis", s=18)
fig.colorbar(dots, label="trait")
ax.set(xlabel="first principal component", ylabel="second principal component")
plt.show()

# %%
# Adjust for the components
# -------------------------
# ``covariates`` are adjusted for and never selected. Each SNP is now tested given all other SNPs
# *and* the two components.
adjusted = smrmr.select(snps, trait, covariates=components)
findings = judge(adjusted)
columns = ["feature", "size", "q_value", "direction", "credible_set", "probability", "true"]
print(findings[columns].to_string(index=False, float_format="{:.1e}".format))

# %%
# Three of the four SNPs that act are found, and one that does not. Where ``size`` is 6 the finding
# is a block: which of its SNPs acts is open. ``credible_set`` narrows it down: if one SNP of the
# block acts, it is one of these, with probability 95%; ``probability`` is that of the first.
fig, axes = plt.subplots(2, 1, figsize=(7, 4.6), sharex=True, sharey=True, layout="constrained")
for ax, selection, title in [
    (axes[0], naive, "populations ignored"),
    (axes[1], adjusted, "adjusted for two principal components"),
]:
    table = judge(selection)
    for right, colour, label in [(True, BLUE, "true finding"), (False, ORANGE, "false finding")]:
        some = table[table["true"] == right]
        places = [names.index(name) / size + 1 for name in some["feature"]]
        ax.stem(places, -np.log10(some["p_value"]), colour, basefmt=" ", label=label)
    ax.set(title=title, ylabel="-log10 p of findings", ylim=(0, 10))
axes[0].legend(frameon=False)
axes[1].set(xlabel="block of linked SNPs", xlim=(0, n_blocks + 1))
plt.show()

# %%
# Caution
# -------
# - One of the four findings is false. A level of 0.1 is about the average over many studies, not
#   about each.
# - Two components were enough because the figure shows three clusters. Components do not adjust for
#   families; people of one family are ``groups``, see :doc:`/rows`.
# - Never adjust for something that the SNPs act through, such as weight on the way to diabetes: it
#   takes their effect away.

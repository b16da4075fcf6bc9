"""
Redundant features: copies, look-alikes, and four ways to deal with them
========================================================================

Real tables repeat themselves: two probes for one gene, a sum beside its parts, the same quantity in
other units. A ranking by relevance then fills up with one signal. We put a strong signal with many
repetitions beside weaker ones and see what SIS, MRMR, HSIC Lasso and smrmr make of it.
"""

# %%
# Load
# ----
# 200 rows. Five features act on the target: A strongly, B, C and E more weakly, D by its absolute
# value. A has two copies (other units, and its exponential) and twelve look-alikes, B four
# look-alikes; 115 features are noise.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import smrmr

rng = np.random.default_rng(0)
n = 200
acting = pd.DataFrame(rng.standard_normal((n, 5)), columns=list("ABCDE"))
repeats = {"A_copy1": 2 * acting["A"] + 3, "A_copy2": np.exp(acting["A"])}
for name, count in [("A", 12), ("B", 4)]:
    for i in range(1, count + 1):
        repeats[f"{name}_like{i}"] = acting[name] + 0.25 * rng.standard_normal(n)
noise = {f"x{i}": rng.standard_normal(n) for i in range(1, 116)}
X = pd.concat([acting, pd.DataFrame(repeats), pd.DataFrame(noise)], axis=1)
y = acting @ [2, 1, 0.7, 0, 0.7] + np.abs(acting["D"]) + rng.standard_normal(n)
print(X.shape)

# %%
# Rankings
# --------
# The three rivals rank: the number of features, here ten, must be given.
chosen = {}
for label, ranking in [
    ("SIS", smrmr.rivals.SIS(10)),
    ("MRMR", smrmr.rivals.MRMR(10)),
    ("HSIC Lasso", smrmr.rivals.HSICLasso(10)),
]:
    order = np.argsort(ranking.fit(X, y).ranking_)
    chosen[label] = list(X.columns[order[:10]])

# %%
# smrmr
# -----
# The level is given, and the number of features follows.
selection = smrmr.select(X, y)
chosen["smrmr"] = selection.selected_names
columns = ["feature", "size", "q_value", "least_alike", "credible_set", "probability"]
print(selection.findings()[columns].to_string(index=False, float_format="{:.2g}".format))

# %%
# All five are found, and here nothing else. A represents a group of 15, B one of five.
# ``credible_set`` lists the possible carriers, the most probable first: if one feature of the group
# acts, it is among these, with probability 95%. Copies can never be distinguished, and count once;
# the exponential is one because the tests use ranks.
#
# Answer
# ------
# What each list holds, first choice on the left.
COLOURS = {"new signal": "#1f5fbf", "repeats one before": "#c9ccd1", "noise": "#d9742b"}


def kind(name, before):
    """Whether a feature brings a signal that the list did not have before."""
    if name in noise:
        return "noise"
    return "repeats one before" if name[0] in {other[0] for other in before} else "new signal"


fig, ax = plt.subplots(figsize=(7.5, 2.8), layout="constrained")
for row, names in enumerate(chosen.values()):
    for place, name in enumerate(names):
        what = kind(name, names[:place])
        ax.barh(row, 0.94, left=place, height=0.8, color=COLOURS[what])
        ink = "black" if what == "repeats one before" else "white"
        ax.text(place + 0.47, row, name, ha="center", va="center", color=ink, fontsize=7.5)
ax.set(yticks=range(len(chosen)), yticklabels=chosen, xlim=(0, 10))
ax.set_xticks(np.arange(10) + 0.47, range(1, 11))
ax.set(xlabel="place in the list")
ax.invert_yaxis()
ax.tick_params(length=0)
ax.spines[:].set_visible(False)
boxes = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in COLOURS.values()]
fig.legend(boxes, COLOURS, loc="outside upper center", ncols=3, frameon=False)
plt.show()

# %%
# SIS, which ranks by marginal association, finds one signal ten times. MRMR takes redundancy into
# account by subtracting it, which at some point favours noise over the rest: noise repeats nothing.
# HSIC Lasso lies between. None of them says where to stop.
#
# Look-alikes one by one
# ----------------------
# With ``alike=None`` only single features (and copies) are tested, not groups.
single = smrmr.select(X, y, alike=None)
print(single.selected_names)

# %%
# A and B are lost, although A is the strongest signal of all: given fourteen features that carry
# the same information, it adds hardly anything. That is why groups are tested by default.
#
# Caution
# -------
# - A group is a finding about its members together. To name one of them takes other data, or
#   knowledge of the field.
# - ``Recipe(alike=0.7)`` groups at one cut instead of several; ``feature_groups`` takes your own
#   groups, such as pathways. See :doc:`/columns`.
# - ``SmRMR(keep="all")`` keeps whole groups in ``transform``, rather than their representatives.

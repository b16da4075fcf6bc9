"""
Interactions: genes that matter only together
=============================================

Two genes may have an effect on the response only together: where both are high or both are low it
is high, else low. Each of them alone tells nothing. We find such a pair among other genes that act
by themselves, draw it, and see what tests of one gene at a time make of it.
"""

# %%
# Load
# ----
# 200 simulated samples and 100 genes. The response rises with gene000 and with gene010, and with
# the product of gene020 and gene030.
from textwrap import fill

import matplotlib.pyplot as plt
import pandas as pd

import smrmr

data = smrmr.simulate("lines and product", n=200, p=100, random_state=1)
X = pd.DataFrame(data.X, columns=[f"gene{k:03d}" for k in range(100)])
y = pd.Series(data.y, name="response")
print(X.shape)

# %%
# Select
# ------
# Interactions are tested in every fit: each gene with every other one as its partner.
# ``p_value_alone`` is that of the gene alone, ``p_value`` that given all others.
selection = smrmr.select(X, y)
print(fill(str(selection), 74))
columns = ["feature", "p_value_alone", "p_value", "partner"]
print(selection.findings()[columns].to_string(index=False, float_format="{:.2g}".format))

# %%
# gene020 and gene030 are found, although neither is associated with the response alone. The table
# of pairs has an FDR of its own: it is over all pairs, here 4,950.
columns = ["feature", "partner", "q_value", "direction", "share_explained"]
print(selection.findings("pairs")[columns].to_string(index=False, float_format="{:.2g}".format))

# %%
# Answer
# ------
# On the left the pair: mean response of samples in groups by both genes, and the size of each
# group. Blue is above the overall mean, orange below. The corners tell the story: the response is
# high where both genes are high or both are low, which the table calls concordant. Along the bottom
# row it falls with gene030, along the top row it rises. On the right gene020 alone, over all
# samples: the two cancel out.
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", width_ratios=[3, 2])
selection.plot("pair", axes[0], feature=("gene020", "gene030"))
selection.plot("shape", axes[1], feature="gene020")
axes[1].set(title="gene020 alone", ylabel="response")
axes[1].spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Without partners
# ----------------
# ``partners="none"`` leaves interactions out, and both genes are lost.
print(smrmr.select(X, y, partners="none").selected_names)

# %%
# Caution
# -------
# - An interaction is no proof of a mechanism that joins both genes, and who modifies whom cannot be
#   told from such data.
# - With ``partners=["treatment"]`` fewer pairs are tested, so that weaker interactions are found.
#   Choose partners before seeing results: for those picked because their pair stood out no level
#   holds.
# - Means of a tile are of few samples. ``n`` is on every tile, and tiles of fewer than five samples
#   are left empty.
# - Three genes that matter only together stay invisible. See :doc:`/together`.

"""
Power: what a table can tell
============================

An answer names three genes, or none. How many of them are false on data like these, and which
effects would have been found? We plant known effects into the features of a table, find them again,
and then ask how many samples a larger study needs.
"""

# %%
# Load
# ----
# The simulated patients of the package: 60 of them, ill or well, and 150 genes.
from textwrap import fill

import matplotlib.pyplot as plt

import smrmr

table = smrmr.load_example("disease").sample(60, random_state=4)
X, y = table.drop(columns="disease"), table["disease"]
print(X.shape, y.value_counts().to_dict())

# %%
# Select
# ------
# Given all other genes hardly anything is selected.
selection = smrmr.select(X, y)
print(fill(str(selection), 74))

# %%
# Check
# -----
# The labels are handed out anew to the patients: at random, or so that some genes have effects of
# known strength. Strengths above 1 are odds ratios per standard deviation of a gene. Each of these
# tables is fitted in the same way.
selection = selection.check(X, y, strengths=(2, 3, 5, 8), n_effects=1, n_fits=50, precision=0.05)
check = selection.table_check
print(fill(str(check), 74))

# %%
# So this answer says little about genes of moderate effects: most would have been missed. The
# table has a row for every strength and layer. Tested alone more effects are found, but a gene that
# is associated alone may follow another one.
shown = check.to_frame().query("layer in ('associated', 'signals')")
columns = ["odds_ratio", "layer", "power", "low", "high"]
print(shown[columns].to_string(index=False, float_format="{:.2f}".format))

# %%
# Plan
# ----
# How many patients would it take to find genes that double the odds? Up to 60 rows of the table are
# drawn; beyond, rows like them are simulated.
plan = smrmr.plan(X, y, strengths=2, n_effects=1, n_rows=(60, 120, 240), n_fits=60)
print(fill(str(plan), 74))

# %%
# Answer
# ------
# On the left power against the strength of an effect in this table, on the right power against the
# number of patients. Bands are 95% intervals: they are wide because a few dozen fits were made.
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
check.plot(axes[0])
plan.plot(axes[1])
plt.show()

# %%
# Caution
# -------
# - Planted effects are linear here. ``forms=("line", "bend", "pair")`` plants U-shaped effects and
#   products of two genes as well.
# - Shuffled labels cannot show what rows share: repeated samples, families, batches. Say which rows
#   belong together with ``groups=``.
# - Use a check to judge an answer or to plan the next study, not to choose settings until one
#   pleases. See :doc:`/check`.

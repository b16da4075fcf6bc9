"""
In a scikit-learn pipeline: selection inside the folds
======================================================

If features are selected on all rows and a model is then cross-validated on these features, the rows
held out were used for the selection. The score is too good, and the more features there are, the
more so. Selection belongs into the pipeline, where each fold selects anew.

We show the error on pure noise, and then a nested cross-validation that chooses the level.
"""

# %%
# The error, on noise
# -------------------
# 120 rows, 200 features, and a target that has nothing to do with them: an honest score is 0 or
# less. Ten features are selected, and a model is cross-validated, in two ways.
#
# smrmr nearly always selects nothing here. That is an answer, but leaves a model without input;
# ``on_empty="best"`` then passes on the best feature, without any guarantee.
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import smrmr

plt.rcParams["axes.spines.top"] = plt.rcParams["axes.spines.right"] = False
BLUE, PALE, ORANGE = "#1f5fbf", "#8fb0dd", "#d9742b"

rng = np.random.default_rng(0)
noise, nothing = rng.standard_normal((120, 200)), rng.standard_normal(120)
folds = KFold(4, shuffle=True, random_state=0)
selectors = {"ten best": SelectKBest(f_regression, k=10), "smrmr": smrmr.SmRMR(on_empty="best")}
outside, inside = {}, {}
for name, selector in selectors.items():
    chosen = selector.fit_transform(noise, nothing)  # has seen every row
    outside[name] = cross_val_score(Ridge(), chosen, nothing, cv=folds)
    inside[name] = cross_val_score(make_pipeline(selector, Ridge()), noise, nothing, cv=folds)

fig, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
for shift, scores, colour, label in [
    (-0.1, outside, ORANGE, "selected outside the folds"),
    (0.1, inside, BLUE, "selected inside the folds"),
]:
    x = np.arange(2) + shift
    by_fold = np.array(list(scores.values()))
    ax.plot(x, by_fold, "o", color=colour, alpha=0.4)
    ax.plot(x, by_fold.mean(axis=1), "_", color=colour, markersize=30, label=label)
ax.axhline(0, color="black", linewidth=0.8)
ax.set(xticks=[0, 1], xticklabels=selectors, xlim=(-0.5, 1.5))
ax.set(ylabel="R² on rows held out (bar: mean)", title="A target that nothing can predict")
ax.legend(frameon=False)
plt.show()

# %%
# The ten best features, selected outside, seem to predict noise. Selected inside, they do not.
#
# Load data with an answer
# ------------------------
# The example table: 120 patients, 150 genes, five of which act on the response, one of them by a U.
table = smrmr.load_example("response")
X, y = table.drop(columns="response"), table["response"]
model = make_pipeline(StandardScaler(), SVR(C=5, gamma=0.05))
ten_best = make_pipeline(selectors["ten best"], model)
print(f"R² with all genes: {cross_val_score(model, X, y, cv=folds).mean():.2f}")
print(f"with the ten best: {cross_val_score(ten_best, X, y, cv=folds).mean():.2f}")

# %%
# Which level predicts best?
# --------------------------
# An inner cross-validation chooses the level, an outer one scores what comes out. That asks for one
# selection per level and fold, but levels share their tests: with ``memory``, a folder or a
# ``joblib.Memory``, a selection that differs in its level alone is read rather than made again.
levels = [0.01, 0.05, 0.1, 0.2, 0.4]
with TemporaryDirectory() as folder:
    selector = smrmr.SmRMR(on_empty="best", memory=folder)
    pipeline = make_pipeline(selector, model)
    search = GridSearchCV(pipeline, {"smrmr__fdr": levels}, cv=3)
    nested = cross_validate(search, X, y, cv=folds, return_estimator=True)
    made = len(list(Path(folder).rglob("output.pkl")))
asked = 4 * (3 * len(levels) + 1)
print(f"R² with smrmr: {nested['test_score'].mean():.2f}")
print(f"{asked} selections were asked for, {made} were made")

# %%
# Answer
# ------
# Each outer fold has its own level and genes. Genes that come back in most folds are those to rely
# on. ``gene041`` has the look-alikes 042 to 044: the representative of the group may differ from
# fold to fold.
print("levels chosen:", [fold.best_params_["smrmr__fdr"] for fold in nested["estimator"]])
kept = [fold.best_estimator_["smrmr"].selection_.selected_names for fold in nested["estimator"]]
often = pd.Series(np.concatenate(kept)).value_counts(ascending=True)
alike = often.index.isin(["gene042", "gene043", "gene044"])
acts = often.index.isin(table.attrs["true"])

fig, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
ax.barh(often.index, often, color=np.select([acts, alike], [BLUE, PALE], ORANGE))
kinds = [("acts on the response", BLUE), ("looks like gene041", PALE), ("false", ORANGE)]
handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for _, colour in kinds]
ax.legend(handles, [kind for kind, _ in kinds], frameon=False, loc="lower right")
ax.set(xlabel="outer folds, of 4, that select the gene", xlim=(0, 4.2), xticks=range(5))
plt.show()

# %%
# Caution
# -------
# - The level that predicts best guarantees nothing: it was chosen by the data. Report findings at a
#   level fixed beforehand, and use this pipeline to predict.
# - ``groups`` and ``covariates`` of the rows are arguments of ``fit``; scikit-learn's metadata
#   routing passes them on. See :doc:`/recipes`.
# - The folder of ``memory`` holds summaries of your data. Delete it when you are done.

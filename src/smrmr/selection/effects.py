"""Effects on classes or outputs, alone or given all others: their directions and their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..conditional.rules import Holm
from ..types import Indices, Mask, Matrix, Vector

FOR_CLASSES = {"higher": "higher_in", "lower": "lower_in"}  # columns of tables by direction
FOR_OUTPUTS = {"rises": "rising_outputs", "falls": "falling_outputs"}


@dataclass(frozen=True, eq=False)
class Effects:
    """Correlations of k features with the q columns of the target, all of one kind.

    Attributes
    ----------
    names
        What the columns of the target are called.
    labels
        Names of classes; none for numbers. Of two classes there is one column.
    values, p
        Correlations and their p-values, (q, k).
    category
        Which features are labels without an order, whose effects have no sign.
    tested
        Which features have effects.
    unclear
        Size below which the direction of an effect is unclear: two standard errors.
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    values: Matrix
    p: Matrix
    category: Mask
    tested: Mask
    unclear: float

    @property
    def words(self) -> dict[str, str]:
        """The two directions, and the columns of tables that list classes or outputs of each."""
        return FOR_CLASSES if self.labels else FOR_OUTPUTS

    @property
    def both_classes(self) -> Effects:
        """The same with a column for each of two classes, of which one is the other's reverse."""
        other = [label for label in self.labels if label not in self.names]
        if len(self.names) > 1 or not other:
            return self
        reverse = np.where(self.category, 1.0, -1.0) * self.values
        return Effects(
            (*self.names, *other[:1]),
            self.labels,
            np.concatenate([self.values, reverse]),
            np.concatenate([self.p, self.p]),
            self.category,
            self.tested,
            self.unclear,
        )

    def strongest(self) -> tuple[NDArray[Any], Indices]:
        """For each feature a direction, and the column of `both_classes` that it is about.

        ``"rises"`` or ``"falls"`` says what the target does as the feature rises; of several
        outputs the one of largest effect is named. With classes it is the class that the feature is
        highest in. A category does not rise: ``"category"``. Effects within two standard errors of
        0 are ``"unclear"``: weak ones, and those that are not monotone. Features without effects
        have no direction.
        """
        effects, names = self.both_classes.values, np.array(self.both_classes.names, dtype=object)
        which = (effects if self.labels else np.abs(effects)).argmax(axis=0)
        effect = effects[which, np.arange(effects.shape[1])]
        way = names[which]
        if not self.labels:
            ways = np.where(effect > 0, "rises", "falls").astype(object)
            way = ways if len(names) == 1 else way + " " + ways
        way = np.where(self.category, "category", way)
        way = np.where(np.abs(effect) < self.unclear, "unclear", way)
        return np.where(self.tested, way, ""), which

    def sizes(self, which: Indices) -> Vector:
        """Effects on the columns that `strongest` found; 0 for features without any."""
        values = self.both_classes.values[which, np.arange(len(which))]
        return np.where(self.tested, values, 0.0)

    def associated(self, selected: Mask, level: float) -> Mask:
        """Which classes or outputs each selected feature is associated with, (q, k).

        Of several, those whose p-value passes Holm's rule over all q at the level. If R of m
        hypotheses are selected at FDR alpha and the level is alpha R / m, the error in naming
        classes, averaged over the selected, is at most alpha in expectation (Benjamini and
        Bogomolov 2014). With a single column it is the selection that says so.
        """
        q = len(self.names)
        if q == 1:
            return selected[None]
        holm, single = Holm(), np.full(q, -1)
        adjusted = np.array([holm.adjust(own, single) for own in self.p.T]).reshape(-1, q).T
        return np.asarray(selected & (adjusted <= level))

    def by_column(self, named: Mask) -> NDArray[Any]:
        """Direction of each feature for each class or output, (q, k); empty where not `named`.

        ``"higher"`` or ``"lower"`` in a class than in the other classes; an output ``"rises"`` or
        ``"falls"`` as the feature rises; ``"unclear"`` and ``"category"`` as in `strongest`.
        """
        up, down = self.words
        way = np.where(self.values > 0, up, down).astype(object)
        way[:, self.category] = "category"
        way[np.abs(self.values) < self.unclear] = "unclear"
        return np.where(named, way, "")

    def markers(self, named: Mask, features: list[str], order: Indices) -> dict[str, NDArray[Any]]:
        """Columns of a table with a row per class or output and feature that is `named` for it.

        Classes come in this order, in each the smallest p-value first. Of two classes both have
        rows.
        """
        both = self.both_classes
        way = both.by_column(np.broadcast_to(named, both.p.shape))
        rows = [(c, i) for c in order for i in np.argsort(both.p[c], kind="stable") if way[c, i]]
        at = tuple(np.array(rows, dtype=np.intp).reshape(-1, 2).T)
        return {
            "class" if self.labels else "output": np.array(both.names, dtype=object)[at[0]],
            "feature": np.array(features, dtype=object)[at[1]],
            "direction": way[at],
            "effect": both.values[at],
            "p_value": both.p[at],
        }

    def listed(self, way: NDArray[Any], order: Indices) -> dict[str, NDArray[Any]]:
        """Columns of tables: for each direction the names of classes or outputs, where several."""
        if len(self.names) == 1:
            return {}
        found = {}
        for word, column in self.words.items():
            each = [[self.names[c] for c in order if own[c] == word] for own in way.T]
            found[column] = np.array(["; ".join(names) for names in each], dtype=object)
        return found

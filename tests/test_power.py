"""What trials hold: power by cell, ratios, JSON; see test_power_rates for their intervals."""

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from smrmr.power.account import LAYERS, UNKNOWN, Cell, SamplePlan, TableCheck, ratio_of, share_of
from smrmr.problems import Problem

NOTHING = Cell("", 0.0, 0, 100)


def check_of(outcomes, cells, cell_of, level=0.1):
    """A check with these counts in the layer of signals; nothing in the others."""
    counts = np.zeros((len(cell_of), len(LAYERS), 4), np.intp)
    counts[:, LAYERS.index("signals")] = outcomes
    where = np.array(cell_of, np.intp)
    return TableCheck(level, "continuous", 50, tuple(cells), where, counts, "fits", 1.0)


def test_rates_of_a_check_are_counts_of_its_trials():
    """Oracle: sums by hand. Shuffled targets count for any_false, planted effects for the FDR."""
    cells = (NOTHING, Cell("line", 0.1, 2, 100), Cell("pair", 0.2, 1, 100))
    outcomes = [(0, 0, 0, 0), (0, 0, 3, 3), (2, 1, 2, 1), (2, 2, 2, 0), (2, 0, 0, 0), (2, 2, 4, 2)]
    check = check_of(outcomes, cells, [0, 0, 1, 1, 1, 2])
    assert check.any_false().mean == 1 / 2
    assert check.power(1).mean == pytest.approx((0.5 + 1 + 0) / 3)
    assert check.attained_fdr().mean == pytest.approx((0.5 + 0 + 0 + 0.5) / 4)
    assert (check.attained_fdr().n, check.any_false().n, check.power(1).n) == (4, 2, 3)
    assert check.rate(0) == check.any_false()
    assert check.rate(2) == check.power(2, "pairs")
    unknown = np.array(check.outcomes)
    unknown[:, 1, 3] = UNKNOWN
    assert replace(check, outcomes=unknown).attained_fdr().n == 0
    frame = check.to_frame()
    assert frame["form"].tolist() == ["line"] * 3 + ["pair"] * 4
    assert frame.query("layer == 'signals'")["power"].tolist() == [0.5, 1.0]


@pytest.mark.parametrize(("target", "ratio"), [("classes", 1.8), ("survival", 2.5)])
def test_ratios_and_shares_are_inverse_and_known(target, ratio):
    """Oracle: for one effect log ratio squared over itself and the variance of the noise."""
    share = share_of(target, ratio, 1)
    noise = np.pi**2 / (3 if target == "classes" else 6)
    assert share == pytest.approx(np.log(ratio) ** 2 / (np.log(ratio) ** 2 + noise))
    assert ratio_of(target, share_of(target, ratio, 4), 4) == pytest.approx(ratio)


@pytest.mark.parametrize("kind", [TableCheck, SamplePlan])
def test_trials_come_back_from_json(kind):
    """Law: what is read is what was written; other texts are refused in a sentence."""
    cells = (NOTHING, Cell("bend", 0.3, 1, 100))
    given = check_of([(0, 0, 1, 1), (1, 1, 1, 0)], cells, [0, 1])
    known = {name: getattr(given, name) for name in TableCheck.__dataclass_fields__}
    known.pop("planted_on")
    written = kind(**known)
    read = kind.from_json(written.to_json())
    assert_array_equal(read.outcomes, written.outcomes)
    assert_array_equal(read.cell_of, written.cell_of)
    assert (read.cells, read.level, read.stopped) == (cells, 0.1, "fits")
    assert json.loads(read.to_json()) == json.loads(written.to_json())
    with pytest.raises(ValueError, match=f"this is no {kind.__name__}"):
        kind.from_json('{"level": 0.1}')


def test_what_was_not_planted_is_not_told():
    """Oracle: messages by hand."""
    check = check_of([(0, 0, 0, 0)], (NOTHING, Cell("line", 0.1, 1, 100)), [0])
    with pytest.raises(Problem, match=r"no effect of form 'pair' was planted\. Use one of line"):
        check.smallest("pair")
    with pytest.raises(Problem, match="layer"):
        check.power(1, "groups")
    assert np.isinf(check.smallest("line").at)  # planted in no fit so far

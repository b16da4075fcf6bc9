"""For which classes or outputs a feature speaks, and in which direction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

from smrmr import Recipe, Selection, select
from smrmr.cli.commands import app
from smrmr.report import render
from smrmr.selection.conditional import associated_columns
from test_report import HOSTILE, Page

LEVEL = Recipe(fdr=0.1)
ONE_BY_ONE = Recipe(fdr=0.1, alike=None, partners="none")
COLUMNS = ["feature", "direction", "effect", "p_value"]


def planted(n_classes, n, p=60):
    """Class c is raised in feature 2 c and lowered in feature 2 c + 1, by two deviations."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(n_classes), n // n_classes)
    X = rng.normal(size=(len(codes), p))
    X[np.arange(len(codes)), 2 * codes] += 2
    X[np.arange(len(codes)), 2 * codes + 1] -= 2
    return X, np.array([f"class {c}" for c in range(n_classes)])[codes]


@pytest.fixture(scope="module")
def ten():
    return select(*planted(10, 400), LEVEL)


@pytest.fixture(scope="module")
def three():
    return select(*planted(3, 150, 30), ONE_BY_ONE)


@pytest.fixture(scope="module")
def outputs():
    """x0 raises output 1, x1 lowers output 2, x2 lowers output 1 and raises output 3."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 20))
    y = np.column_stack([X[:, 0] - X[:, 2], -X[:, 1], X[:, 2]]) + rng.normal(size=(200, 3)) / 2
    return select(X, y, LEVEL)


def assert_planted(found, n_classes):
    marked = found.markers()
    assert set(found.selected_names) == {f"x{k}" for k in range(2 * n_classes)}
    opposite = {"higher": "lower", "lower": "higher"}
    for row in marked.itertuples():
        k = int(row.feature[1:])
        way = ("higher", "lower")[k % 2]
        mine = row[1] == f"class {k // 2}"
        assert row.direction == (way if mine else opposite[way])  # others are more likely then
        assert (row.effect > 0) == (row.direction == "higher")
    return marked


def test_ten_classes_are_marked_by_what_was_planted(ten):
    """Oracle: how the data were made: every feature marks its class in its direction."""
    marked = assert_planted(ten, 10)
    pairs = set(zip(marked["class"], marked["feature"], marked["direction"], strict=True))
    for k in range(20):
        assert (f"class {k // 2}", f"x{k}", ("higher", "lower")[k % 2]) in pairs
    assert len(marked) < 40  # hardly any beyond those 20
    table = ten.findings().set_index("feature")
    for k in range(20):
        own, other = table.loc[f"x{k}", ["higher_in", "lower_in"][:: 1 - 2 * (k % 2)]]
        assert own == f"class {k // 2}"
        assert own not in other


def test_three_classes_are_marked_by_what_was_planted(three):
    """Oracle: how the data were made: every feature marks a class, none in the wrong direction."""
    marked = assert_planted(three, 3)
    assert set(marked["feature"]) == set(three.selected_names)
    assert marked["class"].is_monotonic_increasing
    assert all(part["p_value"].is_monotonic_increasing for _, part in marked.groupby("class"))


def test_tables_hold_what_markers_hold(three, ten, outputs):
    """Oracle: the table of markers, joined by feature."""
    for found, what, pair in (
        (three, "class", {"higher_in": "higher", "lower_in": "lower"}),
        (ten, "class", {"higher_in": "higher", "lower_in": "lower"}),
        (outputs, "output", {"rising_outputs": "rises", "falling_outputs": "falls"}),
    ):
        marked, frame = found.markers(), found.to_frame().set_index("feature")
        assert list(marked) == [what, *COLUMNS]
        for column, way in pair.items():
            some = marked[marked["direction"] == way].groupby("feature")[what].agg("; ".join)
            expected = some.reindex(frame.index, fill_value="")
            assert frame[column].tolist() == expected.tolist()
            assert found.findings()[column].tolist() == expected[found.selected_names].tolist()
            assert column in found.groups().columns


def test_outputs_are_named_with_their_direction(outputs):
    """Oracle: how the data were made."""
    table = outputs.findings().set_index("feature")
    assert set(table.index) == {"x0", "x1", "x2"}
    assert table["rising_outputs"].to_dict() == {"x0": "output 1", "x1": "", "x2": "output 3"}
    assert table["falling_outputs"].to_dict() == {"x0": "", "x1": "output 2", "x2": "output 1"}


def test_outputs_have_the_names_of_the_columns_of_y(rng):
    """Law: names change nothing else; names that repeat are none."""
    X, y = rng.normal(size=(80, 10)), rng.normal(size=(80, 2))
    y[:, 1] -= 2 * X[:, 3]
    plain = select(X, y)
    table = pd.DataFrame(y, columns=["dose", "weight"])
    for given in (table, pl.from_pandas(table)):
        named = select(X, given)
        row = named.findings().iloc[0]
        assert (row["direction"], row["falling_outputs"]) == ("weight falls", "weight")
        assert "as it rises, weight falls" in named.explain("x3")
        assert named.plot("shape", feature="x3").get_ylabel() == "weight"
        expected = plain.to_frame().replace("output 2", "weight", regex=True)
        pd.testing.assert_frame_equal(named.to_frame(), expected)
    twice = select(X, table.set_axis(["dose", "dose"], axis=1))
    pd.testing.assert_frame_equal(twice.to_frame(), plain.to_frame())


def test_classes_are_named_by_holms_rule_at_the_level_of_selected_families(three):
    """Oracle: Holm's rule by hand, one p-value after the other, at level fdr R / m."""
    rng = np.random.default_rng(2)
    evidence = three.evidence
    q, m = len(evidence.fits), len(evidence.p_of_hypotheses)
    p = 10.0 ** -rng.uniform(0, 6, (q, m))
    made = replace(three, evidence=replace(evidence, p_by_target=(p,)))
    for fdr in (0.01, 0.1, 0.5):
        found = made.at(fdr)
        R, everyone = len(found.selected), np.arange(m)
        named = associated_columns(found, everyone)
        assert 0 < named.sum() < q * R
        for h in everyone:
            own, expected = p[:, evidence.representatives[h]], np.zeros(q, bool)
            for i, c in enumerate(np.argsort(own)):
                if own[c] > fdr * R / m / (q - i) or h not in found.decision.selected:
                    break
                expected[c] = True
            np.testing.assert_array_equal(named[:, h], expected)


def test_rules_without_false_features_name_classes_without_errors(three):
    """Oracle: Bonferroni over hypotheses, which does not depend on how many are selected."""
    strict = replace(three, evidence=replace(three.evidence, rule="holm")).at(0.1)
    found = strict.decision.selected
    m, q = len(three.evidence.p_of_hypotheses), 3
    p = three.evidence.p_by_target[0][:, strict.selected]
    smallest = np.sort(p, axis=0)[0]
    any_named = associated_columns(strict, found).any(axis=0)
    np.testing.assert_array_equal(any_named, smallest <= 0.1 / m / q)
    more = replace(three, evidence=replace(three.evidence, rule="by")).at(0.1)
    assert associated_columns(more, found).sum() >= associated_columns(strict, found).sum()


def test_raised_p_values_hold_for_each_class(three):
    """Law: a feature whose p-value was raised has no smaller one for any class."""
    evidence = three.evidence
    raised = replace(evidence, raised=three.selected, p_of_members=(np.full(30, 1e-3),))
    found = replace(three, evidence=raised)
    assert three.markers()["p_value"].min() < 1e-3 <= found.markers()["p_value"].min()
    assert len(found.markers()) <= len(three.markers())


def test_a_lower_level_names_no_more(three):
    """Law: what is named at a level is named at every higher one."""
    known: set = set()
    for level in (0.001, 0.01, 0.05, 0.1, 0.2):
        marked = three.at(level).markers()
        now = set(zip(marked["class"], marked["feature"], strict=True))
        assert known <= now
        known = now


def test_renaming_classes_renames_the_answer(three):
    """Law: names mean nothing; the numbers stay to the last digit."""
    X, y = planted(3, 150, 30)
    names = {"class 0": "zebra", "class 1": "ape; or not", "class 2": "mouse"}
    other = select(X, np.array([names[label] for label in y]), ONE_BY_ONE).markers()
    renamed = three.markers()["class"].map(names).astype(object)  # pandas 3 makes it text
    expected = three.markers().assign(**{"class": renamed})
    expected = expected.sort_values(["class", "p_value"], ignore_index=True)
    pd.testing.assert_frame_equal(other, expected, check_exact=True)


def test_classes_stand_in_the_order_of_the_categories(three):
    """Oracle: the order that the user gave."""
    X, y = planted(3, 150, 30)
    order = ["class 2", "class 0", "class 1"]
    found = select(X, pd.Categorical(y, categories=order), ONE_BY_ONE)
    marked = found.markers()
    assert list(dict.fromkeys(marked["class"])) == order
    for names in found.findings()["lower_in"]:
        parts = names.split("; ") if names else []
        assert parts == sorted(parts, key=order.index)
    assert set(map(tuple, marked[["class", "feature"]].to_numpy())) == set(
        map(tuple, three.markers()[["class", "feature"]].to_numpy())
    )


def test_groups_of_look_alikes_have_the_classes_of_their_representative():
    """Oracle: the evidence of the partition that the group was found in."""
    X, y = planted(3, 240, 30)
    rng = np.random.default_rng(4)
    X[:, 20:23] = X[:, [0]] + 0.1 * rng.normal(size=(240, 3))
    found = select(X, y, LEVEL)
    (h,) = (int(h) for h in found.decision.selected if 0 in found.evidence.members_of(int(h)))
    representative = int(found.evidence.representatives[h])
    assert representative in (0, 20, 21, 22)
    partition = found.evidence.finest_partition[h]
    assert partition > 0
    marked = found.markers().set_index(["class", "feature"])
    row = marked.loc[("class 0", found.names[representative])]
    assert row["direction"] == "higher"
    c = [fit.target for fit in found.evidence.fits].index("class 0")
    assert row["effect"] == found.evidence.effects[partition][c, representative]
    p = found.evidence.p_by_target[partition][c, representative]
    raised = representative in found.evidence.raised
    together = found.evidence.p_of_members[partition][representative]
    assert row["p_value"] == (max(p, together) if raised else p)


def test_an_output_that_turns_has_no_direction():
    """Oracle: how the data were made: the first output is a U of x0."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(240, 12))
    y = np.column_stack([np.abs(X[:, 0]), X[:, 1]]) + rng.normal(size=(240, 2)) / 4
    found = select(X, y, ONE_BY_ONE)
    (row,) = found.markers().query("feature == 'x0'").to_dict("records")
    assert (row["output"], row["direction"]) == ("output 1", "unclear")
    (cells,) = (
        found.findings().query("feature == 'x0'")[["rising_outputs", "falling_outputs"]].to_numpy()
    )
    assert cells.tolist() == ["", ""]
    assert "it is associated with output 1, without a clear direction" in found.explain("x0")


def test_categories_have_no_direction():
    """Oracle: how the data were made: levels of a category that go with classes."""
    rng = np.random.default_rng(6)
    y = rng.choice(["a", "b", "c"], 200)
    X = pd.DataFrame(rng.normal(size=(200, 8))).add_prefix("x")
    X["word"] = pd.Categorical(np.where(rng.random(200) < 0.7, y, rng.choice(["a", "b", "c"], 200)))
    found = select(X, y, ONE_BY_ONE)
    assert set(found.markers()["direction"]) == {"category"}
    assert found.findings()[["higher_in", "lower_in"]].to_numpy().tolist() == [["", ""]]
    assert "this category is associated with classes" in found.explain("word")


def test_two_classes_and_one_number_show_nothing_new():
    """Oracle: the findings: each has one class it is highest in, or one direction."""
    X, y = planted(2, 160, 20)
    found = select(X, y, ONE_BY_ONE)
    assert not {"higher_in", "lower_in", "rising_outputs"} & {*found.to_frame(), *found.findings()}
    marked, table = found.markers(), found.findings().set_index("feature")
    assert len(marked) == 2 * len(table) > 0
    up = marked[marked["direction"] == "higher"].set_index("feature")
    down = marked[marked["direction"] == "lower"].set_index("feature")
    assert up["class"].to_dict() == table["direction"].to_dict()
    assert (down["class"] != up["class"][down.index]).all()
    np.testing.assert_array_equal(up["effect"], -down["effect"][up.index])
    assert list(dict.fromkeys(marked["class"])) == ["class 0", "class 1"]
    number = select(X, X[:, 0] - X[:, 1], ONE_BY_ONE)
    by_name = number.markers().set_index("feature")["direction"]
    assert by_name.to_dict() == {"x0": "rises", "x1": "falls"}
    assert set(number.markers()["output"]) == {"target"}


def test_markers_of_nothing_are_an_empty_table(ten):
    rng = np.random.default_rng(0)
    none = select(rng.normal(size=(60, 10)), np.repeat(["a", "b", "c"], 20), Recipe(fdr=0.01))
    assert not none.selected.size
    assert none.markers().empty
    assert list(none.markers()) == ["class", *COLUMNS]
    own = [name for name in ten.findings() if "mean_" not in name]
    assert [name for name in none.findings() if "mean_" not in name] == own


@pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")
def test_knockoffs_have_no_markers():
    X, y = planted(2, 80, 8)
    with pytest.raises(AttributeError, match="knockoffs has no effects for each class"):
        select(X, y, Recipe(control="knockoffs"), rng=0).markers()


@pytest.mark.parametrize("case", ["three", "ten", "outputs"])
def test_markers_come_back_from_json(case, request):
    """Oracle: the selection that was written."""
    found = request.getfixturevalue(case)
    again = Selection.from_json(found.to_json())
    pd.testing.assert_frame_equal(again.markers(), found.markers(), check_exact=True)
    pd.testing.assert_frame_equal(again.findings(), found.findings(), check_exact=True)


def test_the_command_line_shows_and_writes_classes(tmp_path):
    """Oracle: `select` in Python, on the file that was written."""
    X, y = planted(3, 150, 30)
    table = pd.DataFrame(X).add_prefix("x").assign(label=y)
    table.to_csv(tmp_path / "table.csv", index=False)
    options = ["--target", "label", "--fdr", "0.1", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, ["select", str(tmp_path / "table.csv"), *options])
    assert done.exit_code == 0, done.output
    expected = select(table.drop(columns="label"), y, LEVEL).findings()
    written = pd.read_csv(tmp_path / "out" / "selected.csv", keep_default_na=False)
    for column in ("higher_in", "lower_in"):
        assert written[column].tolist() == expected[column].tolist()
        assert column.replace("_", " ") in done.stdout
    assert "direction" not in done.stdout
    assert "class 0" in done.stdout


def test_hostile_names_of_classes_stay_names():
    """Law: no element of a page comes from the name of a class, and no line ends within one."""
    X, y = planted(3, 150, 12)
    names = dict(zip(np.unique(y), HOSTILE[:3], strict=True))
    found = select(X, np.array([names[label] for label in y]), ONE_BY_ONE)
    assert set(found.markers()["class"]) == set(HOSTILE[:3])
    page = Page(render(found))
    assert {tag for tag, _ in page.elements}.isdisjoint({"img", "iframe", "object"})
    assert len(page.scripts) == 2
    assert "\n" not in found.explain("x0")


def test_reports_name_the_classes_of_each_finding(ten):
    """Oracle: the table of findings; what is said of a finding is what `explain` says."""
    page = Page(render(ten))
    shown = " ".join(page.text["shapes"].split())
    assert "higher in" in " ".join(page.text["listing"].split())
    for row in ten.findings().itertuples():
        for name in filter(None, row.higher_in.split("; ")):
            assert f"higher in class {name} (partial correlation" in ten.explain(row.feature)
            assert f"higher in class {name} (partial correlation" in shown


@pytest.mark.slow
def test_outputs_are_named_at_the_level():
    """Law: the share of findings with an output named in error is at most the level, on average.

    Each of four outputs has five features of its own, and the others tell nothing of it.
    """
    shares = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150, 40))
        X[:, 1:] += 0.5 * X[:, :-1]
        own = X[:, :20].reshape(150, 4, 5) @ [1, -1, 0.7, 0.5, -0.4]
        found = select(X, own + 1.5 * rng.normal(size=(150, 4)), Recipe(fdr=0.2, alike=None))
        marked = found.markers()
        owner = marked["feature"].str[1:].astype(int) // 5 + 1
        wrong = marked["feature"][marked["output"] != "output " + owner.astype(str)]
        shares.append(wrong.nunique() / max(len(found.selected), 1))
    assert 0.02 < np.mean(shares) < 0.2

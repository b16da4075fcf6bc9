"""The report: what it must say, what it must not run, and that its numbers are the selection's."""

from __future__ import annotations

import json
import pathlib
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pytest

from recipes import recipe
from smrmr import Selection, select, simulate
from smrmr.paper import Gaussian, false_discovery_bounds
from smrmr.report import html, plot, render, write_report
from smrmr.report.features import cluster, redundancy_plot
from smrmr.report.figures import REPORT_PARTS
from smrmr.report.knockoffs.plots import fdp_plot, importance_plot, lambda_plot, relevance_plot
from smrmr.report.marks import Band, Boxes, Cells, Line, Points, Rule, Stems, short
from smrmr.report.scales import log_ticks, nice_ticks
from smrmr.report.shapes import shape_plot
from smrmr.report.table import DANGEROUS, embedded
from thinned import thinned

pytestmark = pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")

PLOTS = ["importance", "fdp", "relevance", "redundancy", "lambda", "diagnosis"]
SECTIONS = {
    "answer",
    "question",
    "found",
    "promise",
    "checks",
    "glossary",
    "shapes",
    "table",
    "methods",
}
FIGURES = {"importance", "fdp", "relevance", "redundancy", "lambda", "diagnosis"}
HOSTILE = [
    "<script>window.hacked = 1</script>",
    "</script><img src=x onerror='window.hacked = 2'>",
    '"><svg onload="window.hacked = 3">',
    "<!--<script>",
    "{{ 7 * 191 }}",
    "' onmouseover='window.hacked = 4",
    "x" * 10_000,
    "🧬🧪" * 40,
    "שלום \u202e olleh",
    "=HYPERLINK(1)",
    "-1+cmd",
    "$\\frac{1}{$",
    "a\x00b\ud800c",
    "",
]


class Page(HTMLParser):
    """Elements with their attributes, text by the id of the section around it, and scripts."""

    VOID = frozenset({"meta", "input", "br"})

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.text, self.scripts = [], [], {}, []
        self.feed(text)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")
        if tag not in self.VOID:
            self.open.append((tag, dict(attrs).get("id")))

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open and self.open[-1][0] == "script":
            self.scripts[-1] += data
        elif self.open and self.open[-1][0] != "style":
            for _, name in self.open:
                if name:
                    self.text[name] = self.text.get(name, "") + data

    @property
    def ids(self):
        return {attributes["id"] for _, attributes in self.elements if "id" in attributes}

    @property
    def data(self):
        return json.loads(self.scripts[0])

    def fact(self, name):
        """The number that stands under a word in the first section."""
        words = self.text["answer"].split("\n")
        return next(word[len(name) :] for word in words if word.startswith(name))


def fitted(design="1.d", n=200, p=150, seed=2, labels=None, **settings):
    data = simulate(design, n, p, random_state=seed)
    y = data.y if labels is None else np.array(labels)[data.y.astype(int)]
    return select(data.X, y, recipe(**settings), rng=seed)


def reweighted(selection, change, on_empty="none"):
    """The same selection with other W, decided again."""
    (draw,) = selection.evidence.draws
    evidence = replace(selection.evidence, draws=(replace(draw, W=change(draw.W)),))
    return replace(selection, evidence=evidence).at(selection.fdr, on_empty)


@pytest.fixture(scope="module")
def cases():
    """One selection of every kind that a report can meet."""
    single = fitted(fdr=0.3, lam="cv")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 30))
    two = X[:, :2] @ rng.normal(size=(2, 2)) + 0.1 * rng.normal(size=(150, 2))
    counts = rng.integers(0, 3, size=(150, 30)).astype(float)
    copies = np.column_stack([X, X[:, 0], np.ones(150)])
    y = np.abs(X[:, :6]).sum(axis=1)
    return {
        "continuous": single,
        "empty": single.at(0.01),
        "relaxed": single.at(0.01, on_empty="relax"),
        "best feature": reweighted(single, lambda W: -np.abs(W), on_empty="relax"),
        "no weight": reweighted(single, lambda W: 0 * W),
        "draws": fitted(n_draws=3, fdr=0.5, lam="cv"),
        "empty draws": fitted("1.a", 60, 40, n_draws=3, fdr=0.05),
        "lambda given": fitted(lam=0.01),
        "no penalty": fitted(penalty="none"),
        "classes": fitted("3.b", labels=["well", "ill"], fdr=0.4),
        "multi-output": select(X, two, recipe(fdr=0.5), rng=0),
        "counts": select(counts, counts[:, :6] @ np.arange(1, 7.0) + X[:, 0], recipe(), rng=0),
        "copies": select(copies, y, recipe(fdr=0.5, screening="none"), rng=0),
    }


EVERY = [
    "continuous",
    "empty",
    "relaxed",
    "best feature",
    "no weight",
    "draws",
    "empty draws",
    "lambda given",
    "no penalty",
    "classes",
    "multi-output",
    "counts",
    "copies",
]


@pytest.fixture(scope="module")
def text_of(cases):
    """The page of a case, rendered once."""
    return cache(lambda case: render(cases[case]))


@pytest.fixture(scope="module")
def page_of(text_of):
    """The page of a case, read once."""
    return cache(lambda case: Page(text_of(case)))


@pytest.fixture(scope="module")
def hostile(cases):
    """Every name is an attack; so are the labels of the classes."""
    found = cases["classes"]
    names = tuple(HOSTILE[k % len(HOSTILE)] + str(k) for k in range(found.n_features))
    labels = HOSTILE[0], HOSTILE[1]
    shapes = tuple(replace(shape, names=labels) for shape in found.plot_data.shapes)
    picture = replace(found.plot_data, labels=labels, shapes=shapes)
    return replace(
        found,
        names=names,
        plot_data=picture,
        source={"target column": HOSTILE[0], HOSTILE[2]: HOSTILE[3]},
    )


@pytest.mark.parametrize("case", EVERY)
def test_every_section_is_there(cases, page_of, case):
    page = page_of(case)
    assert page.ids >= SECTIONS | {f"figure-{name}" for name in FIGURES} | {"settings"}
    assert cases[case].fdr <= 0.5
    assert f"{cases[case].fdr:g}" in page.text["promise"] + page.text["methods"]
    assert "exchangeable" in page.text["promise"]
    assert ("The screen kept every true feature" in page.text["promise"]) == (
        cases[case].evidence.draws[0].n_screen > 0
    )
    assert "Naylor" in page.text["methods"]
    assert "nan" not in "".join(page.text.values()).lower().replace("financ", "")
    assert "smrmr" in page.text["settings"]


@pytest.mark.parametrize("case", EVERY)
def test_numbers_are_those_of_the_selection(cases, page_of, case):
    """Oracle: the selection itself, number by number, without rounding."""
    found, page = cases[case], page_of(case)
    assert page.fact("features") == f"{found.n_features:,}"
    assert page.fact("selected") == f"{len(found.selected):,}"
    assert page.fact("passed the screen") == f"{len(found.evidence.kept):,}"
    assert page.fact("rows") == f"{found.n_rows:,}"
    assert page.fact("FDR level") == f"{found.decision.level:g}"
    columns = dict(zip(page.data["columns"], zip(*page.data["rows"], strict=True), strict=True))
    frame = found.to_frame().set_index("feature").loc[list(columns["feature"])]
    assert set(columns["feature"]) == set(found.names)
    assert list(columns["feature"][: len(found.selected)]) == found.selected_names
    for name in ("W", "q_value", "theta", "theta_knockoff", "relevance"):
        assert list(columns[name]) == frame[name].tolist()
    assert list(columns["outcome"]) == frame["outcome"].tolist()
    assert [name for name in found.selected_names[:12] if name not in page.text["answer"]] == []
    assert [name for name in found.selected_names if name not in page.text["shapes"]] == []


def test_copies_and_frequencies_are_told(cases, page_of):
    page = page_of("copies")
    assert "selected copy" in {row[1] for row in page.data["rows"]}
    assert "groups of copies1" in page.text["settings"]
    assert "constant features1" in page.text["settings"]
    found = cases["draws"]
    rows = page_of("draws").data["rows"]
    place = {name: k for k, name in enumerate(found.names)}
    assert [row[-1] for row in rows] == [found.decision.frequency[place[r[0]]] for r in rows]
    assert "3 random splits" in page_of("draws").text["methods"]


def test_an_empty_selection_says_why_and_at_which_level_it_would_not_be(cases, page_of):
    """Oracle: the decision, and deciding again at the level that is named."""
    found = cases["empty"]
    said = page_of("empty").text
    assert "nothing is selected at FDR" in said["found"]
    assert f"at least {found.decision.n_needed} features" in said["why-nothing"]
    level = found.decision.smallest_level
    n = len(found.at(level).selected)
    assert n > 0
    assert not found.at(level - 0.001).selected.size
    assert f"is {level:.3g}, which would select {n} features" in said["why-nothing"]
    assert "The 10 best are shown below" in said["why-nothing"]
    assert said["shapes"].count("near miss ") == 10
    assert "not findings" in said["shapes"]

    said = page_of("empty draws").text["why-nothing"]
    assert "averaged over 3 draws" in said
    assert "no level would select anything" in said
    found = cases["draws"].at(0.01)
    said = Page(render(found)).text["why-nothing"]
    level = found.decision.smallest_level
    n = len(found.at(level * 1.001).selected)
    assert n > 0
    assert not found.at(level * 0.999).selected.size
    assert f"is {level:.3g}, which would select {n} feature" in said
    assert "no level would select" in page_of("no weight").text["why-nothing"]


def test_a_relaxed_selection_claims_no_guarantee(cases, page_of):
    for case in ("relaxed", "best feature"):
        page = page_of(case)
        assert "does not hold for this list" in page.text["promise"]
        assert "without control of the FDR" in page.text["methods"]
        assert any(attributes.get("role") == "alert" for _, attributes in page.elements)
    level = cases["relaxed"].decision.level
    assert f"at the relaxed level {level:g}" in page_of("relaxed").text["found"]
    calm = page_of("continuous")
    assert not any(attributes.get("role") == "alert" for _, attributes in calm.elements)


def test_failed_knockoffs_raise_an_alarm(cases):
    found = cases["continuous"]
    draw = found.evidence.draws[0]
    bad = replace(draw, diagnosis=replace(draw.diagnosis, moment_p=0.001))
    evidence = replace(found.evidence, draws=(bad,))
    text = Page(render(replace(found, evidence=evidence))).text
    assert "NOT exchangeable" in text["answer"]
    assert "a test rejected this" in text["promise"]


def test_methods_follow_the_settings(page_of):
    other = fitted(
        measure="hsic",
        penalty="scad",
        lam=0.02,
        knockoffs="gaussian(s=mvr, covariance=sample, copula=false)",
    )
    text = " ".join(Page(render(other)).text["methods"].split())
    for phrase in (
        "Hilbert-Schmidt",
        "SCAD penalty, lambda fixed beforehand (0.02)",
        "Random seed: 2",
    ):
        assert phrase in text
    assert "Gaussian knockoffs [2] of the kept features were drawn with covariance" in text
    assert "'sample' and s by 'mvr'" in text
    default = " ".join(page_of("continuous").text["methods"].split())
    assert "Gaussian copula knockoffs" in default
    assert "MCP penalty, lambda chosen by cross-validation" in default
    assert "squared projection correlation" in default
    given = fitted(knockoffs=Gaussian(covariance=np.eye(150)))
    text = " ".join(Page(render(given)).text["methods"].split())
    assert "Gaussian knockoffs [2] of the kept features were drawn with a covariance given" in text
    assert "supplied" not in text
    made = fitted(knockoffs=lambda X, rng: rng.permuted(X, axis=0))
    assert "Knockoffs [2] were supplied by the user" in Page(render(made)).text["methods"]
    draws = page_of("draws").text["methods"]
    assert "[3]" in draws
    assert "e-values" in draws


def test_hostile_names_stay_names(hostile):
    """Names reach the page as text: no element, attribute or script comes from one."""
    text = render(hostile)
    page = Page(text)
    assert {tag for tag, _ in page.elements}.isdisjoint({"img", "iframe", "object", "link", "base"})
    assert len(page.scripts) == 2
    assert text.count("</script") == 2
    assert not [a for _, attrs in page.elements for a in attrs if a.startswith("on")]
    assert not re.search(r"(?<![\d.])1337(?!\d)", text)  # what the fifth would be, if run
    assert "hacked" not in page.scripts[1]
    clean = [name.encode("utf-8", "replace").decode() for name in hostile.names]
    assert {row[0] for row in page.data["rows"]} == set(clean)
    selected = short(hostile.selected_names[0], 200)
    assert selected in page.text["answer"]
    assert max(len(line) for line in page.text["answer"].split("\n")) < 1000
    assert HOSTILE[3] in page.text["settings"]


@pytest.mark.parametrize("name", HOSTILE)
def test_embedded_data_survive_and_cannot_end_their_script(name):
    """Oracle: JSON reads back what went in, and the HTML parser sees one element."""
    text = f'<script type="application/json">{embedded([name])}</script>'
    assert Page(text.replace("\ud800", "?")).elements == [("script", {"type": "application/json"})]
    assert json.loads(str(embedded([name]))) == [name]
    assert "<" not in embedded([name])


def test_short_names_are_isolated_and_cut():
    assert short("gene") == "gene"
    assert short("x" * 50, 10) == "\u2068" + "x" * 9 + "…\u2069"
    for name in HOSTILE:
        clean = short(name, 24)
        assert len(clean.strip("\u2068\u2069")) <= 24
        assert not re.search("[\x00-\x1f\u202e\ud800]", clean)
        assert clean.isascii() or (clean[0], clean[-1]) == ("\u2068", "\u2069")


def test_the_page_needs_no_network(hostile):
    page = Page(render(hostile))
    links = [v for _, attrs in page.elements for k, v in attrs.items() if k in ("src", "href")]
    assert all(link.startswith("#") for link in links)
    assert all(link[1:] in page.ids for link in links)
    text = re.sub(r"<script type.*?</script>", "", render(hostile), flags=re.S)
    assert not re.search(r"https?:|//[a-z]|@import|url\(", text.split("</style>")[0])
    assert not re.search("https?:", text)
    policy = next(a["content"] for t, a in page.elements if t == "meta" and "http-equiv" in a)
    assert policy.startswith("default-src 'none'")
    assert "script-src 'sha256-" in policy


def wide(cases, p, name):
    """A selection of p features of which the first are real."""
    found = cases["continuous"]
    rng = np.random.default_rng(0)
    more = p - found.n_features
    relevance = np.concatenate([found.relevance, rng.random(more) * 0.01])
    numbers = np.append(found.evidence.hypotheses[0], found.n_features + np.arange(more))
    evidence = replace(found.evidence, relevance=relevance, hypotheses=(numbers,))
    names = (*found.names, *(name(k) for k in range(more)))
    p, zeros = np.concatenate([found.alone.p, np.ones(more)]), np.zeros((1, more))
    alone = replace(
        found.alone,
        p=p,
        relevance=relevance,
        p_by_target=p[None],
        effects=np.hstack([found.alone.effects, zeros]),
    )
    return replace(found, names=names, alone=alone, evidence=evidence).at(found.fdr)


@pytest.mark.parametrize(
    "name", ["gene{}".format, lambda k: f"{k}" + "🧬" * 500], ids=["short", "long"]
)
def test_many_features_fit_in_two_megabytes(cases, name):
    found = wide(cases, 20_000, name)
    text = render(found)
    assert len(text.encode()) < 2_000_000
    page = Page(text)
    rows = page.data["rows"]
    assert len(rows) == 5000
    assert "5,000 of 20,000 features" in page.text["cut-rows"]
    assert "features.csv" in page.text["cut-rows"]
    listed = {row[0] for row in rows}
    assert set(found.selected_names) <= listed
    assert {found.names[k] for k in found.evidence.kept} <= listed
    # what is listed beyond the kept is more relevant than what is not
    relevance = sorted((row[6] for row in rows), reverse=True)
    others = np.sort(np.delete(found.relevance, found.evidence.kept))[::-1]
    assert set(relevance) >= set(others[: 5000 - len(found.evidence.kept)])
    assert ("cut-names" in page.ids) == (page.data["cut"] > 0) == (name(1) != "gene1")


def test_a_selection_writes_its_own_report(cases, tmp_path):
    """Oracle: the page that render makes, and the target that the source names."""
    found = replace(cases["continuous"], source={"target column": "yield"})
    path = found.report(tmp_path / "report.html")
    assert path.read_text(encoding="utf-8") == render(found)
    assert "associated with the target (yield), adjusted" in Page(render(found)).text["question"]


def test_saved_selections_give_the_same_page(cases, text_of):
    for case, found in cases.items():
        assert render(Selection.from_json(found.to_json())) == text_of(case)


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\r=1"])
def test_formulas_are_dangerous(cell):
    assert re.search(DANGEROUS, cell)
    assert not re.search(DANGEROUS, "x" + cell)
    assert not re.search(DANGEROUS, "'" + cell)


def test_a_failure_leaves_the_old_report(cases, text_of, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    assert write_report(cases["continuous"], path) == path
    before = path.read_bytes()
    assert before.decode() == text_of("continuous")
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask(tmp_path)

    with monkeypatch.context() as patch:
        patch.setattr(html, "render", lambda selection: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            write_report(cases["draws"], path)
    with monkeypatch.context() as patch:
        patch.setattr(pathlib.Path, "replace", lambda *names: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            write_report(cases["draws"], path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(FileNotFoundError, match=r"no directory .*missing"):
        write_report(cases["draws"], tmp_path / "missing" / "report.html")


def _umask(folder):
    probe = folder / "probe"
    probe.touch()
    mode = probe.stat().st_mode & 0o777
    probe.unlink()
    return 0o666 & ~mode


def marks_of(plot, kind, role=None):
    return [
        m for m in plot.marks if isinstance(m, kind) and role in (None, getattr(m, "role", None))
    ]


def test_importance_figure_draws_every_weight_and_the_threshold(cases):
    found = cases["continuous"]
    plot = importance_plot(found)
    bars = np.concatenate([mark.y for mark in marks_of(plot, Stems)])
    places = np.concatenate([mark.x for mark in marks_of(plot, Stems)])
    expected = found.W[found.W != 0]
    expected = expected[np.argsort(-np.abs(expected), kind="stable")]
    np.testing.assert_array_equal(bars[np.argsort(places)], expected)
    (selected,) = marks_of(plot, Stems, "selected")
    np.testing.assert_array_equal(selected.y, found.W[found.decision.selected])
    assert [rule.at for rule in marks_of(plot, Rule)] == [
        found.decision.threshold,
        -found.decision.threshold,
    ]
    assert (np.concatenate([m.y for m in marks_of(plot, Stems, "negative")]) < 0).all()
    assert not marks_of(importance_plot(cases["draws"]), Rule)


@pytest.mark.parametrize("ties", [False, True])
def test_fdp_figure_is_the_literal_estimate(cases, ties):
    """Oracle: counting, for every cut-off, features above it and below its mirror image."""
    found = cases["continuous"]
    if ties:
        found = reweighted(found, lambda W: np.round(W, 2)).at(0.4)
    W = found.W
    plot = fdp_plot(found)
    (line,), (bound,) = marks_of(plot, Line, "main"), marks_of(plot, Line, "bound")
    cuts = sorted(set(W[W > 0]), reverse=True)
    sizes = [np.count_nonzero(cut <= W) for cut in cuts]
    np.testing.assert_array_equal(line.x, sizes)
    negatives = [np.count_nonzero(cut <= -W) for cut in cuts]
    literal = np.minimum(1, (1 + np.array(negatives)) / sizes)
    np.testing.assert_allclose(line.y, literal)
    limits = false_discovery_bounds(W)[np.array(sizes) - 1]
    np.testing.assert_allclose(bound.y, limits / np.array(sizes))
    (chosen,) = marks_of(plot, Points, "selected")
    assert chosen.x.tolist() == [len(found.decision.selected)]
    assert chosen.y[0] <= found.fdr
    n = len(found.decision.selected)
    assert f"at most {limits[sizes.index(n)]} of the {n}" in Page(render(found)).text["check-fdp"]
    (levels,) = marks_of(fdp_plot(cases["draws"]), Line)
    q = cases["draws"].q_values
    np.testing.assert_array_equal(levels.y, np.sort(q[q < 1]))


def test_relevance_and_lambda_figures_mark_what_was_chosen(cases):
    found = cases["continuous"]
    (selected,) = marks_of(relevance_plot(found), Points, "selected")
    np.testing.assert_array_equal(selected.y, found.relevance[found.selected])
    rank = [1 + np.sum(found.relevance > value) for value in selected.y]
    np.testing.assert_array_equal(selected.x, rank)
    (kept,) = marks_of(relevance_plot(found), Points, "kept")
    assert len(kept.x) == len(found.evidence.kept) - len(found.selected)
    (line,), (chosen,) = (marks_of(lambda_plot(found), kind) for kind in (Line, Points))
    np.testing.assert_array_equal(line.y, found.evidence.draws[0].losses)
    assert chosen.x[0] == found.evidence.draws[0].lam
    assert chosen.y[0] == found.evidence.draws[0].losses.min()
    assert len(marks_of(lambda_plot(cases["draws"]), Line)) == 3
    assert "0.01" in lambda_plot(cases["lambda given"]).nothing


def test_redundancy_figure_puts_clusters_side_by_side(cases, rng):
    """Oracle: three blocks, shuffled, come out whole."""
    block = rng.permutation(np.repeat([0, 1, 2], 5))
    values = np.where(block[:, None] == block, 0.8, 0.05) + 0.2 * np.eye(15)
    order = block[cluster(values)]
    assert np.count_nonzero(np.diff(order)) == 2
    found = cases["continuous"]
    plot = redundancy_plot(found)
    (cells,) = marks_of(plot, Cells)
    np.testing.assert_allclose(np.diag(cells.values), 1.0)
    assert {t.label for t in plot.y_ticks} == {found.names[k] for k in found.plot_data.features}
    chosen = {tick.label for tick in plot.y_ticks if tick.chosen}
    assert chosen == set(found.selected_names) & {t.label for t in plot.y_ticks}
    place = {found.names[k]: i for i, k in enumerate(found.plot_data.features)}
    at = [place[tick.label] for tick in plot.y_ticks]
    np.testing.assert_allclose(cells.values, found.plot_data.redundancy[np.ix_(at, at)])


def test_shapes_follow_the_kinds_of_feature_and_target(cases):
    """Oracle: the summaries in the picture, which tests/test_pictures.py holds to the data."""
    classes = cases["classes"]
    plot = shape_plot(classes, int(classes.plot_data.features[0]))
    (boxes,) = marks_of(plot, Boxes)
    shape = classes.plot_data.shapes[0]
    np.testing.assert_array_equal(boxes.quartiles, shape.quantiles)
    assert [tick.label for tick in plot.x_ticks] == list(shape.names)
    assert f"{shape.counts[0]} rows, median {shape.quantiles[0, 2]:.3g}" in boxes.tips[0]
    counts = cases["counts"]
    by_level = shape_plot(counts, int(counts.plot_data.features[0]))
    assert [tick.label for tick in by_level.x_ticks] == ["0", "1", "2"]
    assert shape_plot(cases["multi-output"], "x0").y_label in ("output 1", "output 2")
    found = cases["continuous"]
    plot = shape_plot(found, int(found.plot_data.features[0]))
    shape = found.plot_data.shapes[0]
    (line,), (wide_band, narrow) = marks_of(plot, Line), marks_of(plot, Band)
    np.testing.assert_array_equal(line.y, shape.quantiles[:, 2])
    np.testing.assert_array_equal(wide_band.y, shape.quantiles[:, [0, 4]].T)
    np.testing.assert_array_equal(narrow.y, shape.quantiles[:, [1, 3]].T)
    assert not marks_of(plot, Points, "cloud")
    assert "stand out most" in shape_plot(cases["no weight"], _unshown(cases["no weight"])).nothing
    copies = cases["copies"]
    assert len(shape_plot(copies, "x30").marks) == len(shape_plot(copies, "x0").marks) == 4
    with pytest.raises(ValueError, match="no feature 'nonsense'"):
        shape_plot(classes, "nonsense")


def _unshown(found):
    return int(np.setdiff1d(np.arange(found.n_features), found.plot_data.features)[0])


def test_single_rows_are_drawn_if_they_were_kept(page_of):
    found = fitted(fdr=0.3, keep_data=True)
    values, y = found.plot_data.values, found.plot_data.y
    (cloud,) = marks_of(shape_plot(found, int(found.plot_data.features[0])), Points, "cloud")
    np.testing.assert_array_equal(cloud.x, values[:, 0])
    np.testing.assert_array_equal(cloud.y, y)
    assert "hold exact values of 200 rows" in Page(render(found)).text["data-shown"]
    assert "hold no values of single rows" in page_of("continuous").text["data-shown"]
    assert "hold no values of single rows" in page_of("empty").text["data-shown"]
    far = y.copy()
    far[:3] = 1e9
    plot = shape_plot(
        replace(found, plot_data=replace(found.plot_data, y=far)), int(found.selected[0])
    )
    assert "3 extreme rows left out" in plot.y_label
    (cloud,) = marks_of(plot, Points, "cloud")
    assert len(cloud.y) == len(y) - 3
    classes = fitted("3.b", labels=["well", "ill"], fdr=0.4, keep_data=True)
    k = int(classes.plot_data.features[0])
    plot = shape_plot(classes, k)
    (cloud,) = marks_of(plot, Points, "cloud")
    names = np.array([tick.label for tick in plot.x_ticks])[np.rint(cloud.x).astype(int)]
    labels = np.array(classes.plot_data.labels)[classes.plot_data.y.astype(int)]
    np.testing.assert_array_equal(names, labels)


def test_axes_have_round_numbers(rng):
    for _ in range(200):
        low, span = rng.normal() * 10, 10 ** rng.uniform(-6, 6)
        ticks = nice_ticks(low, low + span, 5)
        assert 2 <= len(ticks) <= 7
        assert all(low - 1e-9 * span <= tick.at <= low + span * (1 + 1e-9) for tick in ticks)
    assert [tick.label for tick in nice_ticks(-0.3, 0.3, 3)] == ["-0.2", "0", "0.2"]
    assert [tick.label for tick in log_ticks(0.9, 120, 8)] == [
        "1",
        "2",
        "5",
        "10",
        "20",
        "50",
        "100",
    ]


@pytest.mark.parametrize("case", thinned(EVERY, ["continuous", "draws"]))
def test_figures_draw_on_axes(cases, case, tmp_path):
    """Every figure has marks or a text, is drawn on the axes given, and can be saved."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 8))
    for name, ax in zip(PLOTS, figure.subplots(2, 3).flat, strict=True):
        assert plot(cases[case], name, ax) is ax
        said = " ".join(text.get_text() for text in ax.texts)
        assert ax.has_data() != (len(said) > 20)
    figure.savefig(tmp_path / "figure.png", dpi=30)
    assert (tmp_path / "figure.png").stat().st_size > 5000


def test_figures_make_their_own_axes(cases):
    for name in PLOTS:
        one, two = plot(cases["classes"], name), plot(cases["classes"], name)
        assert one is not two
        assert one.figure is not two.figure
        assert one.get_title()


def test_notebooks_and_show_know_the_figures(cases):
    """They show what pyplot holds; axes that are given stay with their own figure."""
    from matplotlib import pyplot
    from matplotlib.figure import Figure

    held = pyplot.get_fignums()
    plot(cases["continuous"], "relevance", Figure().subplots())
    assert pyplot.get_fignums() == held
    ax = cases["continuous"].plot()
    assert pyplot.gca() is ax
    assert ax.get_title() == "Every feature alone"
    assert len(pyplot.get_fignums()) == len(held) + 1


def test_the_panel_names_its_features(cases):
    found = cases["continuous"]
    (points,) = REPORT_PARTS["tests"].FIGURES["panel"](found).marks
    names = [tick.get_text() for tick in plot(found, "panel").get_yticklabels()]
    assert names == [found.names[k] for k in found.panel.features]
    np.testing.assert_array_equal(points.x, found.panel.theta)


def test_figures_stand_dollar_signs(cases, tmp_path):
    found = cases["continuous"]
    names = tuple(f"$\\frac{{{k}$" for k in range(found.n_features))
    found = replace(found, names=names)
    for ax in (plot(found, "redundancy"), plot(found, "shape", feature=found.selected[0])):
        ax.figure.savefig(tmp_path / "figure.png", dpi=30)
        assert ax.has_data()


@pytest.mark.slow
def test_page_in_a_browser(browser, hostile, tmp_path):
    """The table sorts, filters and downloads; nothing runs, leaves or goes wrong."""
    path = write_report(hostile, tmp_path / "report.html")
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    faults, requests = [], []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("dialog", lambda dialog: faults.append(dialog.message))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())

    def column(number):
        return page.locator(f"#features tbody td:nth-child({number})").all_inner_texts()

    assert len(column(1)) == 100
    page.locator("#more").click()
    assert len(column(1)) == hostile.n_features
    page.get_by_role("button", name="relevance").click()
    assert [float(v) for v in column(7)] == sorted((float(v) for v in column(7)), reverse=True)
    page.get_by_role("button", name="relevance").click()
    assert [float(v) for v in column(7)] == sorted(float(v) for v in column(7))
    page.get_by_role("button", name="outcome").click()
    assert column(2) == sorted(column(2))
    page.locator("#search").fill("HACKED = 2")
    expected = [name for name in hostile.names if "hacked = 2" in name]
    assert sorted(column(1)) == sorted(expected)
    page.locator("#search").fill("")

    with page.expect_download() as waiting:
        page.locator("#download").click()
    lines = waiting.value.path().read_bytes().decode("utf-8-sig")
    check_csv(lines, hostile)

    page.locator("#check-importance summary").click()
    page.locator("#figure-importance .bar path").first.hover()
    assert "W" in page.locator("#tip").inner_text()
    widths = page.locator("#features bdi").evaluate_all("all => all.map(e => e.offsetWidth)")
    assert max(widths) < 400
    assert page.evaluate("window.hacked") is None
    assert faults == []
    assert {url.split(":")[0] for url in requests} <= {"file", "blob"}
    assert requests[0] == path.as_uri()


def check_csv(text, found):
    """Oracle: Python's reader gets every name back, with an apostrophe where it is a formula."""
    import csv
    import io

    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    clean = [name.encode("utf-8", "replace").decode() for name in found.names]
    expected = {("'" if name[:1] in tuple("=+-@\t\r") else "") + name for name in clean}
    assert {row["feature"] for row in rows} - expected == set()
    assert any(name.startswith("'=") for name in expected)
    place = {name.lstrip("'"): k for k, name in enumerate(clean)}
    for row in rows:
        assert float(row["W"]) == found.W[place[row["feature"].lstrip("'")]]
    assert any(row["W"].startswith("-") for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["continuous", "empty", "draws", "hostile"])
@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 1200), ("light", 360)])
def test_page_fits_every_screen(browser, cases, hostile, tmp_path, case, scheme, width):
    """No sideways scrolling, no text in the colour of its ground, and a picture to look at."""
    path = write_report({**cases, "hostile": hostile}[case], tmp_path / "report.html")
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    names = page.locator(".shapes bdi, .chips bdi")
    over = "all => all.filter(e => e.offsetWidth > e.parentElement.clientWidth).length"
    assert names.evaluate_all(over) == 0
    ground, ink = page.evaluate(
        "['backgroundColor', 'color'].map(name => getComputedStyle(document.body)[name])"
    )
    light = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (ground, ink)]
    assert (light[0] > light[1]) == (scheme == "light")
    assert abs(light[0] - light[1]) > 400
    picture = tmp_path / f"{case}-{scheme}-{width}.png"
    page.screenshot(path=picture, full_page=True)
    assert picture.stat().st_size > 20_000

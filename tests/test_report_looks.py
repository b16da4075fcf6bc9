"""How reports look in a browser: pictures that were looked at, and what a glance must not miss.

The pictures are in tests/reference/reports. To draw them again, and then look at them:

    PYTHONPATH=src:tests python -m report_looks
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from PIL import Image

from report_cases import case
from report_looks import HIDDEN, LIMIT, LOOKS, colour, difference, picture, reference
from smrmr.report import write_report

FAINT = 10.0  # pixels of colour that the fewer colours of kept pictures may add or take away
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")]


def alike(drawn, kept, way):
    """Whether two pictures show the same page, perhaps in other fonts."""
    return (
        difference(kept, drawn) < LIMIT.get(way, 0.07)
        and 0.75 < (colour(drawn) + FAINT) / (colour(kept) + FAINT) < 1.33
        and 0.85 < drawn.height / kept.height < 1.15
    )


@pytest.mark.parametrize(("name", "way"), LOOKS)
def test_reports_look_as_they_did(browser, name, way):
    """Oracle: a picture that somebody looked at."""
    kept = Image.open(reference(name, way)).convert("RGB")
    assert alike(picture(browser, case(name), way), kept, way)


@pytest.mark.parametrize(
    ("style", "same"),
    [
        ("body, svg { font-family: serif !important }", True),
        ("body, svg { font-family: monospace !important }", True),
        ("svg { visibility: hidden }", False),
        ("#shapes { display: none }", False),
        (".shapes { display: block }", False),
        (".line, .axis { fill: black !important }", False),
        (":root { --card: #222 !important; --ink: #eee !important }", False),
    ],
)
def test_fonts_do_not_matter_and_faults_do(browser, style, same):
    """Law: the comparison can fail, and does not fail for the fonts of another machine."""
    kept = Image.open(reference("numbers", "light")).convert("RGB")
    assert alike(picture(browser, case("numbers"), "light", HIDDEN + style), kept, "light") == same


@pytest.mark.parametrize("name", ["two_classes", "groups", "sixty_findings", "empty"])
def test_prints_hold_what_was_found_and_no_rows_that_say_nothing(browser, tmp_path, name):
    page = browser.new_page()
    page.goto(write_report(case(name), tmp_path / "report.html").as_uri())
    page.emulate_media(media="print")
    assert page.locator("#listing tbody tr").first.is_visible()
    assert not page.locator("#features").is_visible()
    assert page.get_by_text("it is not printed").is_visible()
    assert page.locator("#settings .empty").count() > 0
    assert not page.locator("#settings .empty").first.is_visible()
    assert not page.locator(".check figure").first.is_visible()
    assert page.locator(".check .verdict").first.is_visible()
    page.close()


@pytest.mark.parametrize(("name", "way"), [(name, way) for name, way in LOOKS if way == "narrow"])
def test_narrow_pages_do_not_scroll_sideways(browser, tmp_path, name, way):
    page = browser.new_page(viewport={"width": 400, "height": 800})
    page.goto(write_report(case(name), tmp_path / "report.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.close()


@pytest.mark.parametrize("name", ["numbers", "two_classes", "groups", "covariates", "knockoffs"])
def test_no_table_of_findings_is_cut_on_a_wide_screen(browser, tmp_path, name):
    """Law: at 1400 pixels every column of every table but that of all features can be seen."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto(write_report(case(name), tmp_path / "report.html").as_uri())
    beyond = page.locator(".scroll:not(:has(#features))").evaluate_all(
        "all => all.map(e => e.scrollWidth - e.clientWidth)"
    )
    assert len(beyond) >= 2
    assert max(beyond) <= 0
    page.close()


def test_tables_with_symbols_beside_ensembl_ids_are_not_cut(browser, tmp_path):
    """Law: as without labels; and at 400 pixels both names can be read whole."""
    found = case("numbers")
    ids = [f"ENSG00000{k:06d}.12" for k in range(found.n_features)]
    found = replace(found, names=tuple(ids)).with_annotations(dict.fromkeys(ids, "HLA-DQB1-AS1"))
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto(write_report(found, tmp_path / "report.html").as_uri())
    beyond = page.locator(".scroll:not(:has(#features))").evaluate_all(
        "all => all.map(e => e.scrollWidth - e.clientWidth)"
    )
    assert max(beyond) <= 0
    page.set_viewport_size({"width": 400, "height": 800})
    cut = page.locator(".chips bdi").evaluate_all(
        "all => all.map(e => e.scrollWidth - e.clientWidth)"
    )
    assert max(cut) <= 0
    page.close()


@pytest.mark.parametrize("name", ["numbers", "two_classes", "groups", "sixty_findings", "empty"])
def test_the_first_page_of_a_print_holds_the_first_figure(browser, tmp_path, name):
    """Law: on A4, less margins of 1.4 cm, the figure of features alone ends on page one."""
    page = browser.new_page(viewport={"width": 688, "height": 1016})
    page.goto(write_report(case(name), tmp_path / "report.html").as_uri())
    page.emulate_media(media="print")
    box = page.locator("#figure-associated").bounding_box()
    assert box["y"] + box["height"] < 1016
    assert page.evaluate("document.documentElement.scrollWidth") <= 688  # else it is made smaller
    page.close()


def test_heads_tell_what_they_mean_when_pointed_at(browser, tmp_path):
    """Oracle: the text that the page keeps for the head."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto(write_report(case("numbers"), tmp_path / "report.html").as_uri())
    for place in ("#listing .term", "#features .term"):
        head = page.locator(place).first
        head.hover()
        assert page.locator("#tip").is_visible()
        assert page.locator("#tip").inner_text() == head.get_attribute("data-tip")
        page.mouse.move(0, 0)
        assert not page.locator("#tip").is_visible()
    page.locator("#listing .term").first.focus()
    assert page.locator("#tip").is_visible()
    page.close()


def test_names_of_classes_stay_within_their_figure(browser, tmp_path):
    """Law: no name of a class reaches beyond the figure it stands in, in any case."""
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    for name in ("ten_classes", "counts"):
        page.goto(write_report(case(name), tmp_path / "report.html").as_uri())
        beyond = page.locator(".shapes svg .row").evaluate_all(
            "all => all.map(e => e.getBoundingClientRect().right"
            " - e.closest('svg').getBoundingClientRect().right)"
        )
        assert len(beyond) >= 20
        assert max(beyond) < 1
    page.close()

"""Every report in a browser: drawn, quiet, offline, sortable, narrow, dark, printable."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from chrome import BROWSER, DRIVER, MISSING, Chrome
from program import dynarm

from oracles.hostile import hostile_arm

pytestmark = pytest.mark.skipif(not (BROWSER and DRIVER), reason=MISSING)

PAGES = {
    "sheet": "sheet.html",
    "counts": "counts.html",
    "excitation": "excitation.html",
    "identification": "identified/report.html",
    "validation": "validation.html",
    "simulation": "run.html",
    "mobile": "tanner2001_case5.html",
    "demo": "dynarm-demo/report.html",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The pages as the commands write them, the robot's sheet for a robot with hostile names."""
    place = tmp_path_factory.mktemp("reports")
    hostile_arm().save(place / "hostile.toml")
    for line in (
        "info hostile.toml --html sheet.html",
        "count two_link --html counts.html",
        "excite two_link -d 5 --starts 1 --log log.csv --html excitation.html",
        "identify two_link log.csv --hold-out 0.3",
        "validate two_link log.csv --html validation.html",
        "simulate two_link --q0 1,0 --time 1 --html run.html",
        "mobile tanner2001 --case 5",
        "demo --json",
    ):
        dynarm(*line.split(), folder=place).check()
    return place


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    with Chrome() as found:
        yield found


@pytest.fixture
def opened(browser, folder):
    """A function that opens a page at a width and waits until it is drawn."""

    def open_page(kind: str, width: int = 1200, scheme: str = "light") -> Chrome:
        browser.size(width, 900)
        browser.scheme(scheme)
        browser.open(folder / PAGES[kind])
        browser.until(DRAWN)
        return browser

    return open_page


DRAWN = """
const plots = Array.from(document.querySelectorAll('.plot'));
return plots.every(p => p.querySelector('svg.main') !== null);
"""
LARGEST = 1_200_000  # bytes of a page with its figures
MARKS = """
return Array.from(document.querySelectorAll('.plot')).map(p => {
  const box = p.querySelector('svg.main').getBoundingClientRect();
  const marks = p.querySelectorAll('.traces path, .traces rect, .traces image').length;
  return [p.clientWidth, box.width, box.height, marks];
});
"""


@pytest.mark.parametrize("width", [1200, 400])
@pytest.mark.parametrize("kind", PAGES)
def test_a_page_opens_quietly_draws_everything_and_fits(kind, width, opened):
    page = opened(kind, width)
    assert page.complaints() == []
    assert page.requests() == []
    drawn = page.run(MARKS)
    assert drawn
    for room, across, high, marks in drawn:
        assert 0 < across <= room + 1 and high > 100 and marks > 0
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert page.run("return window.hacked") is None


@pytest.mark.parametrize("kind", PAGES)
def test_a_page_is_small(kind, folder):
    assert (folder / PAGES[kind]).stat().st_size <= LARGEST


@pytest.mark.parametrize("kind", PAGES)
def test_tables_sort_up_and_down_by_a_click(kind, opened):
    page = opened(kind)
    orders = page.run("""
    const heads = Array.from(document.querySelectorAll('table.sortable'))
      .filter(t => t.tBodies[0].rows.length > 1).map(t => t.tHead.rows[0]);
    return heads.map(row => Array.from(row.cells).map((head, k) => {
      const cells = () => Array.from(head.closest('table').tBodies[0].rows).map(
        r => r.cells[k].dataset.value === undefined ? r.cells[k].textContent.trim() : r.cells[k].dataset.value);
      head.querySelector('button').click();
      const up = cells();
      head.querySelector('button').click();
      return [head.classList.contains('number'), up, cells(), head.getAttribute('aria-sort')];
    }));
    """)
    if kind in ("demo", "sheet", "counts", "identification"):
        assert orders
    for columns in orders:
        for numeric, up, down, said in columns:
            assert said == "descending" and sorted(up) == sorted(down)
            if numeric:
                values = [float(x) for x in up if x and x not in ("inf", "nan")]
                assert values == sorted(values)
                values = [float(x) for x in down if x and x not in ("inf", "nan")]
                assert values == sorted(values, reverse=True)


def test_light_and_dark_follow_the_persons_wish(opened):
    look = """
    const title = document.querySelector('.xtitle');
    return [getComputedStyle(document.body).backgroundColor, getComputedStyle(title).fill];
    """
    light, dark = (opened("simulation", scheme=scheme).run(look) for scheme in ("light", "dark"))
    assert light[0] == "rgb(255, 255, 255)" and light != dark and light[1] != dark[1]


def test_figures_follow_when_the_wish_changes(opened):
    page = opened("simulation")
    look = "return getComputedStyle(document.querySelector('.xtitle')).fill"
    before = page.run(look)
    page.scheme("dark")
    page.until(f"{look} !== {json.dumps(before)}")


def test_the_view_from_above_plays(opened):
    page = opened("mobile")
    lines = "Array.from(document.querySelectorAll('.plot path.line'))"
    arm = f"{lines}.map(p => p.getAttribute('d')).join()"
    start = page.run(f"return {arm}")
    page.run("""
    const slider = document.querySelector('.player input');
    slider.value = 60;
    slider.dispatchEvent(new Event('input'));
    """)
    page.until(f"return {arm} !== {json.dumps(start)}")
    assert page.run("return document.querySelector('.player output').textContent").endswith(" s")
    page.run("document.querySelector('.player button').click()")
    page.until("return Number(document.querySelector('.player input').value) > 62")
    assert page.run("return document.querySelector('.player button').textContent") == "Pause"
    page.run("document.querySelector('.player button').click()")
    assert page.run("return document.querySelector('.player button').textContent") == "Play"


def drag(page: Chrome, start: float, end: float, y: float) -> None:
    """Press the left button, move it across, let it go."""
    for kind, x in (("mousePressed", start), ("mouseMoved", end), ("mouseReleased", end)):
        page.devtools(
            "Input.dispatchMouseEvent",
            type=kind,
            x=x,
            y=y,
            button="left",
            buttons=1,
            clickCount=1,
        )


def test_dragging_turns_the_sketch(opened):
    page = opened("sheet")
    before = page.run("return document.querySelector('.sketch .link').getAttribute('points')")
    box = page.run("""
    const b = document.querySelector('.sketch').getBoundingClientRect();
    return [b.x, b.y, b.width, b.height];
    """)
    x, y = box[0] + box[2] / 2, box[1] + min(box[3], 500) / 2
    drag(page, x, x + 80, y)
    after = page.run("return document.querySelector('.sketch .link').getAttribute('points')")
    assert after != before
    # the page's own projection starts where the drawing was: turning back gives it again
    drag(page, x + 80, x, y)
    again = page.run("return document.querySelector('.sketch .link').getAttribute('points')")
    first, last = ([float(v) for v in p.replace(",", " ").split()] for p in (before, again))
    assert max(abs(a - b) for a, b in zip(first, last, strict=True)) < 0.2


def test_names_are_explained_to_who_touches_or_tabs_to_them(opened):
    page = opened("identification", width=400)
    told, box = page.run("""
    const term = document.querySelector('#parameters .term');
    term.focus({ preventScroll: false });
    const look = getComputedStyle(term, '::after');
    return [[term.textContent, term.closest('td').title, look.content, look.position], look.width];
    """)
    name, meaning, shown, place = told
    assert name.startswith("U") and "inertia of link 1" in meaning
    assert shown.strip('"') == meaning and place == "fixed" and float(box[:-2]) <= 400
    assert page.run("return document.documentElement.scrollWidth") <= 400


def test_a_heat_map_is_chosen_from_a_list(opened):
    page = opened("demo")
    shown = """
    const list = document.querySelector('.plot-choice');
    return list.closest('.plot').querySelector('image.map').getAttribute('href');
    """
    first = page.run(shown)
    page.run("""
    const list = document.querySelector('.plot-choice');
    list.value = '1';
    list.dispatchEvent(new Event('change'));
    """)
    assert page.run(shown) != first


def test_a_page_prints_on_white(opened, tmp_path):
    page = opened("identification", scheme="dark")
    import base64

    sheet = base64.b64decode(page.devtools("Page.printToPDF", printBackground=True)["data"])
    assert (
        sheet.startswith(b"%PDF")
        and sheet.count(b"/Type /Page\n") + sheet.count(b"/Type /Page ") >= 2
    )
    page.run("window.dispatchEvent(new Event('beforeprint'))")
    assert (
        page.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    )
    page.run("window.dispatchEvent(new Event('afterprint'))")
    assert (
        page.run("return getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    )

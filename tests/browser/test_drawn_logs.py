"""What figures show: logs of any clock and length, values under the pointer, stretches seen larger, gaps, names."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from chrome import BROWSER, DRIVER, MISSING, Chrome

import dynarm
from dynarm.cli.rehearsal import simulated_log
from dynarm.identify.judgement.validation import judged, model_checks
from dynarm.report import figures, identification
from dynarm.report.html import figure, section, write_page
from dynarm.report.torques import POINTS, torque_figure
from oracles.hostile import IMAGE, SCRIPT

pytestmark = pytest.mark.skipif(not (BROWSER and DRIVER), reason=MISSING)


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    with Chrome("--host-resolver-rules=MAP * ~NOTFOUND") as started:
        started.size(1200, 900)
        started.devtools(
            "Network.emulateNetworkConditions",
            offline=True,
            latency=0,
            downloadThroughput=0,
            uploadThroughput=0,
        )
        yield started


LINES = """
return Array.from(document.querySelectorAll('.plot')).map(p => ({
  paths: Array.from(p.querySelectorAll('path.line')).map(l => l.getAttribute('d')),
  ticks: Array.from(p.querySelectorAll('.xtick')).map(t => t.textContent),
  yticks: Array.from(p.querySelectorAll('.ytick')).map(t => t.textContent),
  wide: p.querySelector('clipPath rect').getBBox().width,
  high: p.querySelector('clipPath rect').getBBox().height,
  said: p.closest('figure').textContent,
}));
"""


def corners(path: str) -> np.ndarray:
    """The points (k, 2) of a drawn line, in pixels."""
    return np.array(re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path), float)


def recorded(arm, seconds: float, count: int, start: float):
    """A simulated log of that length that begins at a clock's time."""
    t = np.linspace(0.0, seconds, count)
    q, qd, qdd = (np.empty((count, arm.n)) for _ in range(3))
    for j in range(arm.n):
        w = 2 * np.pi * (3 + 2 * j) / min(seconds, 10.0)
        q[:, j], qd[:, j], qdd[:, j] = (
            np.sin(w * t), w * np.cos(w * t), -w * w * np.sin(w * t),
        )  # fmt: skip
    return simulated_log(arm, start + t, q, qd, qdd, source="recorded.csv")


@pytest.mark.parametrize(
    ("seconds", "count", "start", "last"),
    [(8.0, 1601, 1_753_000_000.123, 8.0), (10_000.0, 50_001, 0.0, 10_000.0), (0.5, 501, 3.0, 0.5)],
    ids=["unix", "long", "short"],
)
def test_a_log_is_drawn_over_its_whole_length(browser, tmp_path, seconds, count, start, last):
    arm = dynarm.load("two_link")
    log = recorded(arm, seconds, count, start)
    checks = model_checks(arm, [log])
    identification.validation_page(arm, checks, judged(arm, checks, 0.5), tmp_path / "v.html")
    assert (tmp_path / "v.html").stat().st_size < 300_000
    browser.open(tmp_path / "v.html")
    drawn = browser.run(LINES)
    assert len(drawn) == arm.n and browser.complaints() == [] and browser.requests() == []
    for k, one in enumerate(drawn):
        line = corners(one["paths"][0])
        # from one end to the other, never backwards, as high as the torque is
        assert np.ptp(line[:, 0]) > 0.98 * one["wide"] and (np.diff(line[:, 0]) >= 0).all()
        assert len(np.unique(line[:, 0])) > 100
        torque = checks[0].measured[:, k]
        ticks = [float(text.replace("−", "-")) for text in one["ticks"]]
        begin = 0.0 if start > 1e6 else start
        assert begin <= ticks[0] < begin + last / 3 and ticks[-1] <= begin + last * 1.001
        assert ticks[-1] > begin + 0.6 * last
        assert np.ptp(line[:, 1]) > 50
        # the drawn shape is the torque's: where its highest sample lies, the line is highest
        top = line[line[:, 1].argmin(), 0] - line[0, 0]
        when = (log.t - log.t[0])[torque >= torque.max() - 0.02 * np.ptp(torque)] / last
        assert np.abs(when * one["wide"] - top).min() < 3
        assert (f"Of {count:,} samples the lowest and highest" in one["said"]) == (count > POINTS)


def test_gaps_names_and_numbers_that_are_none(browser, tmp_path):
    t = np.arange(10.0)
    y = np.where((t > 3) & (t < 6), np.nan, t)
    y[9] = np.inf
    name = f"a</script>{SCRIPT}{IMAGE}"
    drawn = figures.lines(t, {name: y, "other": t}, "time [s]", "torque [N m]", title=name)
    empty = figures.lines(t, {"nothing": np.full(10, np.nan)}, "time [s]", "y")
    write_page(tmp_path / "p.html", name, [section(name, figure(drawn, name), figure(empty))])
    browser.open(tmp_path / "p.html")
    one, none = browser.run(LINES)
    assert one["paths"][0].count("M") == 2 and len(corners(one["paths"][0])) == 7
    assert none["paths"] == [""] and "NaN" not in str(one) + str(none)
    assert browser.run("return window.hacked") is None
    assert browser.run("return document.querySelectorAll('img, body script').length") == 5
    assert browser.run("return document.querySelector('.plot-title').textContent") == name
    assert browser.complaints() == []


def mouse(page: Chrome, kind: str, x: float, y: float) -> None:
    buttons = 0 if kind == "mouseReleased" else 1
    page.devtools(
        "Input.dispatchMouseEvent",
        type=kind, x=x, y=y, button="left", buttons=buttons, clickCount=1,
    )  # fmt: skip


def test_pointing_says_the_values_and_dragging_shows_a_stretch(browser, tmp_path):
    t = np.linspace(0, 10, 101)
    drawn = figures.lines(t, {"up": 3 * t, "down": -t}, "time [s]", "torque [N m]")
    write_page(tmp_path / "p.html", "t", [section("s", figure(drawn))])
    browser.open(tmp_path / "p.html")
    x, y, width, height = browser.run("""
    const b = document.querySelector('.gridline').ownerSVGElement.querySelector('clipPath rect').getBBox();
    const s = document.querySelector('svg.main').getBoundingClientRect();
    return [s.x + b.x, s.y + b.y, b.width, b.height];
    """)
    mouse(browser, "mouseMoved", x + width / 2, y + height / 2)
    said = browser.run("return document.querySelector('.tip').textContent")
    assert said == "time [s] 5\nup: 15\ndown: −5"
    before = corners(browser.run(LINES)[0]["paths"][0])
    for kind, share in (("mousePressed", 0.2), ("mouseMoved", 0.3), ("mouseReleased", 0.4)):
        mouse(browser, kind, x + share * width, y + height / 2)
    zoomed = browser.run(LINES)[0]
    ticks = [float(v) for v in zoomed["ticks"]]
    assert min(ticks) >= 2 and max(ticks) <= 4 and len(ticks) >= 3
    browser.run("document.querySelector('.back').click()")
    np.testing.assert_array_equal(corners(browser.run(LINES)[0]["paths"][0]), before)
    # a name of the legend hides its line
    browser.run("document.querySelector('.legend button').click()")
    assert len(browser.run(LINES)[0]["paths"]) == 1


def test_bars_and_maps_are_as_high_and_dark_as_their_numbers(browser, tmp_path):
    high = figures.upright_bars(["a", "b"], (1.0, 3.0), ("--c1", "--c2"), "y", "%{x}: %{y}")
    stack = figures.stacked_bars(["a", "b"], {"p": [1, 2], "q": [3, 4]}, "x")
    twin = {"data": [*high["data"], {**high["data"][0], "y": [2.0, 2.0]}], "layout": high["layout"]}
    drawn = (figure(f) for f in (high, stack, twin))
    write_page(tmp_path / "p.html", "t", [section("s", *drawn)])
    browser.open(tmp_path / "p.html")
    upright, lying, beside = browser.run("""
    return Array.from(document.querySelectorAll('.plot')).map(p =>
      Array.from(p.querySelectorAll('rect.bar')).map(r =>
        ['x', 'y', 'width', 'height'].map(k => Number(r.getAttribute(k)))));
    """)
    assert upright[1][3] == pytest.approx(3 * upright[0][3])
    unit = lying[0][2]
    assert [b[2] / unit for b in lying] == pytest.approx([1, 2, 3, 4])
    assert [lying[2][0], lying[3][0]] == pytest.approx([b[0] + b[2] for b in lying[:2]])
    assert lying[0][1] < lying[1][1], "the first name is on top"
    assert beside[2][0] == pytest.approx(beside[0][0] + beside[0][2]), (
        "bars of two stand side by side"
    )
    assert beside[0][2] == pytest.approx(upright[0][2] / 2)


def test_what_colours_mean_stands_beside_them(browser, tmp_path):
    """Colours within one trace have a key, those that stand for numbers a scale with its unit."""
    graded = figures.upright_bars(["a", "b"], (1.0, 3.0), ("--c1", "--bad"), "y", "%{x}: %{y}")
    graded["key"] = [{"color": "--c1", "text": "known"}, {"color": "--bad", "text": SCRIPT}]
    marker = {"size": 5, "color": [1.0, 40.0], "colorscale": figures.DANGER, "cmin": 0, "cmax": 50}
    marker["colorbar"] = {"title": {"text": "kg"}}
    dots = {"type": "scatter", "mode": "markers", "x": [0, 1], "y": [0, 1], "marker": marker}
    drawn = (figure(graded), figure({"data": [dots], "layout": {}}))
    write_page(tmp_path / "p.html", "t", [section("s", *drawn)])
    browser.open(tmp_path / "p.html")
    key, shown, scale, edge, room = browser.run("""
    const [first, second] = document.querySelectorAll('.plot');
    const text = Array.from(second.querySelectorAll('.ytick')).map(t => t.textContent);
    const box = second.querySelector('svg.main').getBoundingClientRect();
    return [Array.from(first.querySelectorAll('.key-entry')).map(e => e.textContent),
      Array.from(first.querySelectorAll('.swatch')).map(e => getComputedStyle(e).backgroundColor),
      text, Math.max(...Array.from(second.querySelectorAll('text')).map(t => t.getBoundingClientRect().right)),
      box.right];
    """)
    assert key == ["known", SCRIPT] and len(set(shown)) == 2
    assert "50 kg" in scale and "25" in scale and edge <= room
    assert browser.run("return window.hacked") is None and browser.complaints() == []


def test_pointing_at_bars_side_by_side_tells_the_one_below(browser, tmp_path):
    drawn = figures.beside(
        ["a", "b"], {"fitted": [1, 2], "held out": [3, 4]}, ("--c1", "--c2"), "%"
    )
    write_page(tmp_path / "p.html", "t", [section("s", figure(drawn))])
    browser.open(tmp_path / "p.html")
    bars = browser.run("""
    return Array.from(document.querySelectorAll('rect.bar')).map(r => {
      const b = r.getBoundingClientRect();
      return [b.x + b.width / 2, b.y + b.height / 2];
    });
    """)
    told = []
    for x, y in bars:
        mouse(browser, "mouseMoved", x, y)
        told.append(browser.run("return document.querySelector('.tip').textContent"))
    assert told == ["a, fitted: 1", "b, fitted: 2", "a, held out: 3", "b, held out: 4"]


@pytest.mark.parametrize("size", [1e-9, 3e-4, 1.0, 4e7])
@pytest.mark.parametrize("width", [390, 1200])
def test_axes_say_their_scale_without_an_e_and_nothing_overlaps(browser, tmp_path, size, width):
    t = np.linspace(0, 1, 50)
    drawn = torque_figure("j", "torque [N m]", t, size * np.sin(9 * t), size * np.cos(3 * t))
    write_page(tmp_path / "p.html", "t", [section("s", drawn)])
    browser.size(width, 900)
    try:
        browser.open(tmp_path / "p.html")
        words, title, left = browser.run("""
        const ticks = Array.from(document.querySelectorAll('.ytick'));
        return [ticks.map(t => t.textContent),
          document.querySelector('.ytitle').getBoundingClientRect().right,
          Math.min(...ticks.map(t => t.getBoundingClientRect().left))];
        """)
    finally:
        browser.size(1200, 900)
    assert len(words) >= 5 and not any("e" in word or "…" in word for word in words), words
    assert title <= left, "numbers lie upon the axis' name"


@pytest.mark.parametrize("names", ["a", "cell-07", "the robot behind the door"])
def test_names_of_rows_do_not_lie_upon_the_axis_own(browser, tmp_path, names):
    rows = [f"{names}{k}" for k in range(9)]
    drawn = figures.heat_maps(["x", "y"], rows, {"m": np.ones((9, 2))}, "unknown", "robot")
    write_page(tmp_path / "p.html", "t", [section("s", figure(drawn))])
    browser.open(tmp_path / "p.html")
    title, left = browser.run("""
    const ticks = Array.from(document.querySelectorAll('.ytick'));
    const named = ticks.filter(t => getComputedStyle(t).textAnchor == 'end');
    return [document.querySelector('.ytitle').getBoundingClientRect().right,
      Math.min(...named.map(t => t.getBoundingClientRect().left))];
    """)
    assert title <= left, "names of rows lie upon the axis' name"

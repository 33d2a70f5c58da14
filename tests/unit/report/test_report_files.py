"""Reports as files: whole, escaped, asking for nothing outside themselves, their figures in words that plotly knows."""

from __future__ import annotations

import base64
import hashlib
import json
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest

import dynarm
from dynarm.cli.count import costs
from dynarm.cli.rehearsal import simulated_log
from dynarm.identify.design.trajectory import Series, Trajectory
from dynarm.identify.judgement.validation import judged, model_checks
from dynarm.mobile.outline import outline
from dynarm.report import counts, excitation, identification, mobile, robot_sheet, simulation
from dynarm.report.html import Cell, figure, page, section, table, write
from dynarm.report.sketch import frames, sketch
from dynarm.reproductions.tanner2001_cases import run as run_case
from oracles.hostile import IMAGE, SCRIPT, hostile_arm


class Page(HTMLParser):
    """What a browser would make of a page: elements, scripts, figures, texts."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict]] = []
        self.scripts: list[tuple[dict, str]] = []
        self.text = ""
        self._open: dict | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._open = dict(attrs) if tag == "script" else None
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag):
        if tag == "script":
            self._open = None

    def handle_data(self, data):
        if self._open is None:
            self.text += data
        else:
            attrs, before = self.scripts[-1]
            self.scripts[-1] = (attrs, before + data)

    def figures(self) -> list[dict]:
        return [
            json.loads(text)
            for attrs, text in self.scripts
            if attrs.get("type") == "application/json"
        ]

    def code(self) -> list[dict]:
        return [attrs for attrs, _ in self.scripts if "json" not in attrs.get("type", "")]


def motion(arm: dynarm.Arm) -> Trajectory:
    """A quick motion of every joint."""
    series = Series(5.0, 4)
    rng = np.random.default_rng(3)
    x = series.random(rng, arm.n) * 0.8
    t = np.arange(1001) / 200
    q, qd, qdd = (B @ x.T for B in series.basis(t))
    return Trajectory(
        t, q, qd, qdd, 7.0, arm.joint_names, (1.0,) * arm.n, (9.0, 12.0, np.inf), "found"
    )


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, str]:
    """One page of every kind, made of a robot with hostile names."""
    folder = tmp_path_factory.mktemp("pages")
    arm = hostile_arm()
    made = motion(arm)
    log = simulated_log(arm, made.t, made.q, made.qd, made.qdd, source=f"a/{SCRIPT}.csv")
    fit = dynarm.Identifier(arm).fit(log)
    (check,) = model_checks(arm, [log])
    counted = {q: costs(arm, q) for q in ("inverse_dynamics", "forward_dynamics")}
    robot_sheet.page(arm, dynarm.minimal_parameters(arm), counted, folder / "sheet.html")
    counts.page({arm.name: counted}, folder / "counts.html")
    excitation.page(arm, made, folder / "excitation.html")
    identification.page(fit, [check], fit.verdict([]), folder / "identification.html")
    identification.validation_page(
        arm, [check], judged(arm, [check], 0.5), folder / "validation.html"
    )
    run = dynarm.simulate(dynarm.compile(arm), np.zeros(4), np.full(4, 0.1), 0.3)
    simulation.page(run, folder / "simulation.html")
    mobile.case_page(run_case(5), outline, folder / "mobile.html")
    return {p.stem: p.read_text(encoding="utf-8") for p in folder.iterdir()}


KINDS = ("sheet", "counts", "excitation", "identification", "validation", "simulation", "mobile")


@pytest.mark.parametrize("kind", KINDS)
def test_names_stay_names(kind, pages):
    found = Page(pages[kind])
    scripts = [(attrs, text) for attrs, text in found.scripts if not attrs.get("type")]
    assert len(scripts) == len(found.code()) <= 6, "the page's own scripts, nothing else"
    (policy,) = [
        a["content"] for t, a in found.elements if a.get("http-equiv") == "Content-Security-Policy"
    ]
    for _, text in scripts:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy, "a script that the page's policy does not know"
    assert policy.count("sha256-") == len(scripts) and "'unsafe-eval'" not in policy
    assert not any(name.startswith("on") for _, attrs in found.elements for name in attrs)
    assert not any("onerror" in attrs or tag == "img" for tag, attrs in found.elements)
    if kind != "mobile":
        assert SCRIPT in found.text or SCRIPT in json.dumps(found.figures())
    for _, text in found.scripts:
        assert IMAGE not in text
    if kind not in ("counts", "mobile"):
        shown = found.text + json.dumps(found.figures())
        assert "{{7*7}}" in shown, "a template in a name was evaluated"


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_asks_for_nothing_outside_itself(kind, pages):
    found = Page(pages[kind])
    for tag, attrs in found.elements:
        assert tag not in ("link", "iframe", "object", "embed", "base")
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            assert attrs.get(name, "#").startswith(("#", "data:")), (tag, attrs)
    policy = [
        a["content"] for t, a in found.elements if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy and policy[0].startswith("default-src 'none'")


@pytest.mark.parametrize("kind", KINDS)
def test_plotly_knows_every_word_of_the_figures(kind, pages):
    drawn = Page(pages[kind]).figures()
    assert drawn
    for one in drawn:
        text = json.dumps({"data": one["data"], "layout": one["layout"]})
        for name in (
            *(f"c{k}" for k in range(1, 9)),
            *["ink", "faint", "line", "card", "good", "doubt", "bad", "measured", "predicted"],
        ):
            text = text.replace(f'"--{name}"', '"#123456"')
        assert '"--' not in text, "a colour that the page does not have"
        made = go.Figure(json.loads(text))  # refuses unknown properties
        assert all(trace.type in ("scatter", "bar", "heatmap", "box") for trace in made.data), (
            "no WebGL"
        )


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_small(kind, pages):
    assert len(pages[kind].encode()) < 400_000


def test_what_the_identification_page_must_hold(pages):
    text = Page(pages["identification"]).text
    for title in (
        "Verdict",
        "Measured and predicted torques",
        "Residuals",
        "Parameters",
        "What the logs determine",
        "Friction curves",
    ):
        assert title in text
    titles = [
        f["layout"].get("title", {}).get("text", "")
        for f in Page(pages["identification"]).figures()
    ]
    assert any(SCRIPT in t for t in titles)


def test_numbers_that_are_none_are_shown_as_such():
    found = table(("a", "b"), [["x", float("nan")], ["y", float("inf")], ["z", 1.5]])
    assert "–" in found and "∞" in found and 'data-value="1.5"' in found
    assert 'data-value="7"' in table(("a",), [[Cell("seven", 7)]])
    drawn = figure({"data": [{"type": "scatter", "y": [np.nan, np.inf, 1 / 3]}], "layout": {}})
    assert '"y":[null,null,0.33333]' in drawn


def test_two_sections_of_one_name_have_two_addresses():
    text = page("t", [section("Joint <1>", "a"), section("Joint 1", "b"), section("Joint 1", "c")])
    anchors = [a["id"] for t, a in Page(text).elements if t == "section"]
    assert len(set(anchors)) == 3


def test_writing_is_whole_or_not_at_all(tmp_path, monkeypatch):
    with pytest.raises(dynarm.DynarmError, match=r"end the name in \.html"):
        write("x", tmp_path / "x.txt")
    with pytest.raises(dynarm.DynarmError, match="check folder"):
        write("x", tmp_path / "no" / "x.html")
    (tmp_path / "x.html").write_text("before")

    def full(self, *_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(dynarm.DynarmError, match="No space"):
        write("after", tmp_path / "x.html")
    assert [p.name for p in tmp_path.iterdir()] == ["x.html"]
    assert (tmp_path / "x.html").read_bytes() == b"before"


@pytest.mark.parametrize("name", ["puma560", "stanford", "scara", "generic_7r", "ur5e", "gen3"])
def test_the_sketch_ends_where_the_kinematics_do(name):
    arm = dynarm.load(name)
    q = np.random.default_rng(1).uniform(-1, 1, arm.n)
    np.testing.assert_allclose(
        frames(arm, q)[-1], dynarm.compile(arm).forward_kinematics(q), atol=1e-12
    )
    raised = bool(np.linalg.norm(arm.base_pose[:3, 3]) > 1e-9)
    assert str(sketch(arm)).count("<polyline") == 1 + 3 + raised + (arm.n + 1) + arm.n + 3
    assert ('class="pedestal"' in str(sketch(arm))) == raised


def test_thinning_keeps_the_peaks():
    from dynarm.report.figures import MOST, thinned

    x = np.arange(100_000.0)
    y = np.sin(x / 50)
    y[31_234], y[71_000] = 9.0, -8.0
    t, z = thinned(x, y)
    assert len(t) <= MOST + 2 and z.max() == 9.0 and z.min() == -8.0 and (np.diff(t) > 0).all()

"""The 3D page in a browser: it loads, a slider moves the arm, a recording plays."""

from __future__ import annotations

import numpy as np
import pytest
from chrome import BROWSER, DRIVER, MISSING, Chrome

import dynarm
from oracles.patience import waited

pytestmark = pytest.mark.skipif(not (BROWSER and DRIVER), reason=MISSING)
pytest.importorskip("viser", reason="viser is not installed (the extra 'view')")

WEBGL = """
const context = document.createElement('canvas').getContext('webgl2');
return context ? context.getParameter(context.VERSION) : '';
"""
LABELS = "return document.body.innerText"


@pytest.fixture(scope="module")
def browser():
    with Chrome() as found:
        found.size(900, 600)  # drawn without a graphics card: every pixel takes time
        yield found


def errors(page: Chrome) -> list[str]:
    """What is wrong on the page; that a machine without a graphics card draws slowly is not."""
    return [
        m
        for m in page.complaints()
        if not any(w in m for w in ("WebGL", "GL Driver", "deprecated"))
    ]


def test_webgl_is_there_with_the_flags_used(browser):
    browser.open("about:blank")
    assert browser.run(WEBGL).startswith("WebGL 2.0")


def test_a_slider_moves_the_arm(browser, tmp_path):
    from dynarm.view.viewer import ArmViewer

    viewer = ArmViewer(dynarm.load("two_link"))
    try:
        browser.open(viewer.address)
        browser.until("return document.querySelector('canvas') !== null")
        browser.until("return document.body.innerText.includes('shoulder')")
        before = browser.run(LABELS)
        assert "gravity" in before and "N m" in before
        browser.run("document.querySelector('[role=slider]').focus()")
        for kind in ("keyDown", "keyUp"):
            browser.devtools(
                "Input.dispatchKeyEvent",
                type=kind,
                key="ArrowRight",
                code="ArrowRight",
                windowsVirtualKeyCode=39,
            )
        waited(lambda: viewer.drawing.q[0] > 0)
        np.testing.assert_array_equal(viewer.drawing.q, viewer.q)
        waited(lambda: browser.run(LABELS) != before)
        browser.picture(tmp_path / "arm.png")
        assert (tmp_path / "arm.png").stat().st_size > 10_000
        assert errors(browser) == []
        assert all(url.startswith(viewer.address) for url in browser.requests())
    finally:
        browser.open("about:blank")
        viewer.close()


def test_playback_runs_when_play_is_pressed(browser):
    from dynarm.reproductions.tanner2001_cases import run as run_case
    from dynarm.view.viewer import MobileViewer

    found = run_case(5)
    viewer = MobileViewer(found.robot, found.run)
    try:
        browser.open(viewer.address)
        browser.until("return document.body.innerText.includes('tip-over margin')")
        start = viewer.drawing.platform.position.copy()
        browser.run(
            "Array.from(document.querySelectorAll('button')).find(b => b.innerText.trim() === 'Play').click()"
        )
        waited(lambda: viewer.time > 0.3 and np.any(viewer.drawing.platform.position != start))
        viewer.playing = False  # a page that need not draw answers at once
        assert "load" in browser.run(LABELS)
        assert errors(browser) == []
    finally:
        browser.open("about:blank")
        viewer.close()

"""Drawn pictures show what the code of docs/ draws now; the README's moving one moves, and is small and safe.

Otherwise: python docs/pictures.py NAME. Three drawings take seconds (recording_fit, control, moving); of them only the
form is looked at here, and the numbers behind them are those of pages that are run (test_code_blocks.py).
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).parents[2] / "docs"
PICTURES = DOCS / "pictures"
sys.path.append(str(DOCS))  # last: docs/ has a benchmarks.py of its own
from drawings import DRAWINGS  # noqa: E402  where docs/ keeps it

DEAR = {"recording_fit", "control"}
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")


@pytest.mark.parametrize("name", sorted(set(DRAWINGS) - DEAR))
def test_drawing_is_what_its_code_makes(name):
    """Words to the letter; numbers to a pixel, because the last bits of the arithmetic differ between processors."""
    stored, made = (PICTURES / f"{name}.svg").read_text(encoding="utf-8"), DRAWINGS[name]()
    assert NUMBER.sub("#", stored) == NUMBER.sub("#", made)
    numbers = [np.array(NUMBER.findall(text), float) for text in (stored, made)]
    np.testing.assert_allclose(numbers[0], numbers[1], atol=1.0)


def test_a_changed_curve_is_noticed():
    stored = (PICTURES / "friction.svg").read_text(encoding="utf-8")
    numbers = np.array(NUMBER.findall(stored), float)
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(numbers, numbers * 1.1, atol=1.0)


@pytest.mark.parametrize("path", sorted(PICTURES.glob("*.svg")), ids=lambda p: p.stem)
def test_drawings_are_sound_and_hold_no_script(path):
    """They are shown in <img>: well-formed, nothing from elsewhere, readable without the page's style."""
    root = ET.fromstring(path.read_text(encoding="utf-8"))
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert root.get("viewBox") and not names & {"script", "image", "foreignObject", "use"}
    words = {key for element in root.iter() for key in element.attrib}
    assert not any(key.startswith("on") or key.endswith("href") for key in words)
    assert "text" in names and path.stat().st_size < 60_000


def test_the_moving_picture_moves_and_leads_the_readme():
    """Everything that moves does so for ever and together; without movement the whole curves are there."""
    path = PICTURES / "moving.svg"
    root = ET.fromstring(path.read_text(encoding="utf-8"))
    moves = [e for e in root.iter() if e.tag.endswith(("animate", "animateTransform"))]
    assert len(moves) >= 3 and path.stat().st_size < 30_000
    assert {(e.get("dur"), e.get("repeatCount")) for e in moves} == {("6s", "indefinite")}
    frames = [e.get("values").split(";") for e in moves if e.get("attributeName") == "points"]
    assert frames and all(len(set(one)) > 30 for one in frames)
    lines = (DOCS.parent / "README.md").read_text(encoding="utf-8").splitlines()
    top = "\n".join(lines[:22])
    assert "docs/pictures/moving.svg" in top and "dynarm demo" in top

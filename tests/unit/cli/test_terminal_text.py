"""Names that try to drive the terminal: every command shows them, none of them acts."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest
from program import dynarm

import dynarm as library
from dynarm.border.text import LONGEST, plain, plain_json, shortened

ESC, BEL, CSI, OSC = "\x1b", "\x07", "\x9b", "\x9d"
ATTACKS = {
    "colour": f"{ESC}[31mred{ESC}[0m",
    "title": f"{ESC}]0;owned{BEL}",
    "link": f"{ESC}]8;;https://evil.example{ESC}\\click{ESC}]8;;{ESC}\\",
    "bell": f"ding{BEL}",
    "one-byte controls": f"{CSI}2J{OSC}52;c;AAAA{BEL}",
    "backspace": "PASS\b\b\b\bFAIL",
    "return": "FAIL\rPASS",
    "line": "one\ntwo",
    "override": "\u202egnp.exe\u2066",
    "mark": "\u200fabc\u061c",
    "separator": "a\u2028b\u2029c",
    "tag": "a\U000e0041",
}
MARKUP = "[red]x[/] [/] [bold] [link=https://evil.example]y[/link] :warning:"
EVIL = "".join(ATTACKS.values()).replace("\n", "").replace("\u2028", "").replace("\u2029", "")
ALLOWED = {"\n"}


def drives(text: str) -> set[str]:
    """Characters that would act on a terminal."""
    numbers = [*range(0x20), *range(0x7F, 0xA0), 0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F)]
    numbers += [*range(0x2066, 0x206A), *range(0xE0000, 0xE0080)]
    return {letter for letter in text if ord(letter) in numbers} - ALLOWED


@pytest.mark.parametrize("kind", ATTACKS)
def test_what_drives_a_terminal_is_shown_by_its_number(kind):
    shown = plain(ATTACKS[kind])
    assert not drives(shown) and "\n" not in shown and "\\" in shown
    assert plain(shown) == shown


def test_ordinary_text_stays_as_it_is():
    for text in (
        "joint_1",
        "Gelenk ä",
        "関節",
        "سلام",
        "می\u200cخواهم",
        "👩\u200d🔧",
        MARKUP,
        "a\\b",
    ):
        assert plain(text) == text


def test_a_document_means_the_same_without_controls():
    value = {"name": EVIL + "\udc80é"}
    text = plain_json(json.dumps(value, ensure_ascii=False, indent=2))
    assert not drives(text) and json.loads(text) == value and "é" in text


def test_only_words_beyond_patience_are_cut():
    assert shortened("a b " + "x" * LONGEST) == "a b " + "x" * LONGEST
    cut = shortened("see " + "x" * 3000 + "/file.urdf now")
    assert len(cut) < LONGEST and "..." in cut and cut.endswith("/file.urdf now")


# ---- every command that prints names


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A robot, a log and a machine whose names are hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    arm = library.load("two_link")
    joints = [replace(j, name=f"{word}{k}") for k, (j, word) in enumerate(zip(arm.joints, NAMES))]
    hostile = replace(arm, name=f"{EVIL}{MARKUP}", joints=tuple(joints))
    hostile.save(folder / "arm.toml")
    joints = [replace(j, name=f"{XML}{k}") for k, j in enumerate(arm.joints)]
    replace(arm, name=XML, joints=tuple(joints)).save(folder / "xml.toml")
    machine = resources.files("dynarm.mobile") / "catalogue" / "tanner2001.toml"
    text = machine.read_text()
    for name in ("tanner2001", "w0", "w1", "w2", "q1", "q2"):
        text = text.replace(f'name = "{name}"', f"name = {json.dumps(EVIL.rstrip(TAG) + name)}")
    (folder / "machine.toml").write_text(text)
    odd = hostile.parameters.copy()
    odd[0, 9] = 1e-9  # an impossible inertia: a warning that names the joint
    hostile.with_parameters(odd).save(folder / "odd.toml")
    dynarm(
        "excite", "arm.toml", *["-d", "5", "--harmonics", "3", "--starts", "1"], "--log", "log.csv",
        folder=folder,
    ).check()  # fmt: skip
    (folder / f"{FILE}.csv").write_bytes((folder / "log.csv").read_bytes())
    (folder / "columns.csv").write_text(f"t,{EVIL},q2,tau1,tau2\n0,0,0,0,0\n1,1,1,1,1\n")
    return folder


TAG = "\U000e0041"  # JSON would write it as a pair, which TOML does not know
NAMES = (EVIL, MARKUP)
XML = f"{CSI}31m\u202e{MARKUP}"  # what a URDF can hold
FILE = f"log{ESC}[31m[red]"
SHOWN = {
    "info": ["info", "arm.toml"],
    "info of a doubtful robot": ["info", "odd.toml"],
    "count": ["count", "arm.toml", "-q", "mass_matrix"],
    "compile": ["compile", "arm.toml", "-q", "gravity"],
    "export": ["export", "arm.toml", "c", "-q", "gravity", "--force"],
    "excite": ["excite", "arm.toml", "-d", "5", "--harmonics", "3", "--starts", "1"],
    "identify": ["identify", "xml.toml", f"{FILE}.csv", "--hold-out", "0.3", "--force"],
    "validate": ["validate", "arm.toml", f"{FILE}.csv", "--limit", "0"],
    "simulate": ["simulate", "arm.toml", "--time", "0.1"],
    "mobile at rest": ["mobile", "machine.toml", "--adhesion", "0.01"],
    "mobile in motion": ["mobile", "machine.toml", "--z0", "3,0,1,0", "--time", "0.2"],
    "simulate with limits": ["simulate", "arm.toml", "--time", "0.1", "--limits", "report"],
}
REFUSED = {
    "columns": ["identify", "arm.toml", "columns.csv"],
    "a file's name": ["info", f"{EVIL}.urdf".replace("/", "")],
    "a robot's name": ["info", EVIL.replace("/", "")],
    "a command": [EVIL],
    "an option": ["info", "arm.toml", f"--{EVIL}"],
    "a value": ["simulate", "arm.toml", "--q0", EVIL],
    "an order of joints": ["simulate", "arm.toml", "--q0", "1,2,3"],
    "a log of another robot": ["identify", "scara", f"{FILE}.csv"],
    "a chain": ["info", "arm.toml", "--tip", EVIL],
    "debugging": ["info", f"{EVIL}.urdf".replace("/", ""), "--debug"],
}


@pytest.mark.parametrize("how", ["text", "json"])
@pytest.mark.parametrize("case", SHOWN)
def test_no_command_lets_a_name_act(case, how, place):
    found = dynarm(*SHOWN[case], *(["--json"] if how == "json" else []), folder=place)
    assert found.code in (0, 1), found.err
    assert not drives(found.out) and not drives(found.err)
    name = plain(XML if case == "identify" else EVIL)[:10]
    assert name in found.out or case == "export" or how == "json"
    if how == "json":
        json.loads(found.out)


@pytest.mark.parametrize("case", REFUSED)
def test_no_refusal_lets_a_name_act(case, place):
    found = dynarm(*REFUSED[case], folder=place)
    assert found.code == 2 and not drives(found.err) and not found.out
    assert found.err.count("\n") == 1 or case == "debugging"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_too_and_markup_is_literal(place, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "2000")
    out, err = Terminal(), Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.chdir(place)
    from dynarm.cli.app import run

    assert run(["validate", "arm.toml", f"{FILE}.csv", "--limit", "0"]) == 1
    assert run(["simulate", "arm.toml", "--q0", "1,2,3"]) == 2
    for text in (out.getvalue(), err.getvalue()):
        assert MARKUP in text and plain(EVIL)[:20] in text
        assert not drives(text)


def test_a_bar_shows_a_name_literally(monkeypatch):
    from dynarm.border import progress

    err = Terminal()
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "2000")
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    with progress.progress_of(True, f"simulating {ATTACKS['title']}{MARKUP}") as report:
        report(0.5)
    assert f"simulating {plain(ATTACKS['title'])}{MARKUP}" in err.getvalue()
    assert BEL not in err.getvalue()

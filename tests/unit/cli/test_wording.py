"""Messages speak the language of who reads them: options on the command line, keywords in Python."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest
from program import dynarm

import dynarm as library
from dynarm.cli.info import info
from dynarm.cli.wording import options_of, spoken

ROOT = Path(library.__file__).parent
KEYWORDS = [k for k in inspect.signature(library.load).parameters if k != "robot"]
PYTHONIC = re.compile(rf"\b(?:{'|'.join(KEYWORDS)})=")
ELSEWHERE = {  # a keyword that no option has: only Python can have given it
    "; mend the file or load it with strict=False",
    "robot 'arm' has impossible inertias: ; mend the file or load it with strict=False",
}


def templates(tree):
    """Texts of a module as messages have them, an x in place of what is filled in; docstrings left out."""
    parts, docs = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts |= {id(value) for value in node.values}
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and node.body:
            docs |= {id(getattr(node.body[0], "value", None))}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(v.value if isinstance(v, ast.Constant) else "x" for v in node.values)
        elif isinstance(node, ast.Constant) and id(node) not in parts | docs:
            yield str(node.value)


def test_no_message_about_robot_files_keeps_a_keyword():
    options, seen = options_of(info), 0
    for path in sorted((ROOT / "robot").rglob("*.py")):
        for text in templates(ast.parse(path.read_text())):
            if not PYTHONIC.search(text) or text in ELSEWHERE or "<" in text or " " not in text:
                continue
            if text.startswith((" ", ",", ";", '"')) or text.endswith(("'", '="')):
                continue  # a piece that is put together with others
            seen += 1
            assert not PYTHONIC.search(spoken(text, options)), text
    assert seen >= 10


CHAIN = """<robot name="r">{links}
<joint name="j1" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
<joint name="j2" type="{kind}"><parent link="b"/><child link="c"/>{more}</joint></robot>"""
BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
LINKS = "".join(f'<link name="{name}">{BODY}</link>' for name in "abc")
CASES = {  # words of the command line, kind and more of a joint, what it says there and in Python
    "a free joint": (
        ("--tip", "c"),
        {"tip": "c"},
        ("floating", ""),
        "choose --base c behind it (with --floating if it moves freely), or hold it: --freeze j2=0",
        "choose base='c' behind it (with floating=True if it moves freely), or hold it: freeze={'j2': 0}",
    ),
    "a planar joint": (
        (),
        {},
        ("planar", ""),
        "choose --base c behind it, or hold it: --freeze j2=0",
        "choose base='c' behind it, or hold it: freeze={'j2': 0}",
    ),
    "a joint that follows itself": (
        (),
        {},
        ("revolute", '<mimic joint="j2"/>'),
        "or hold it: --freeze j2=0",
        "or hold it: freeze={'j2': 0}",
    ),
    "an unknown link": (
        ("--tip", "z"),
        {"tip": "z"},
        ("revolute", ""),
        "unknown link for --tip 'z'",
        "unknown link for tip 'z'",
    ),
    "a link without inertia": (
        (),
        {},
        ("revolute", ""),
        "or load with --allow-massless",
        "or load with allow_massless=True",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_refusals_in_both_languages(name, tmp_path):
    words, how, (kind, more), here, there = CASES[name]
    links = LINKS.replace(f'"c">{BODY}', '"c">') if "without" in name else LINKS
    (tmp_path / "r.urdf").write_text(CHAIN.format(links=links, kind=kind, more=more))
    assert here in dynarm("info", "r.urdf", *words, folder=tmp_path).refusal()
    with pytest.raises(library.DynarmError) as refused:
        library.load(tmp_path / "r.urdf", **how)
    assert there in str(refused.value) and "--" not in str(refused.value)


def test_macros_and_packages(tmp_path):
    head = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    for body, here, there in (
        ("$(find parts)", "--package parts=folder", "packages={'parts': 'folder'}"),
        ("$(arg side)", "--xacro side=value", "xacro={'side': 'value'}"),
    ):
        (tmp_path / "r.xacro").write_text(f'{head}<link name="{body}"/></robot>')
        assert here in dynarm("info", "r.xacro", folder=tmp_path).refusal()
        with pytest.raises(library.DynarmError) as refused:
            library.load(tmp_path / "r.xacro")
        assert there in str(refused.value)
    for words in (("--xacro", "side"), ("--package", "=x"), ("--xacro", "a=1", "--xacro", "a=2")):
        assert words[0] in dynarm("info", "r.xacro", *words, folder=tmp_path).refusal()
    (tmp_path / "r.urdf").write_text(CHAIN.format(links=LINKS, kind="revolute", more=""))
    line = dynarm("info", "r.urdf", "--xacro", "a=1", folder=tmp_path).refusal()
    assert "--xacro and --package are for the macros of a .xacro file" in line
    assert "--no-snap" in dynarm("count", "--n", "3", "--no-snap").refusal()


def test_a_flag_that_is_off_is_left_out():
    said = "robot 'go2' is on a free base, load it with floating=False"
    assert spoken(said, {"floating": "--floating"}).endswith("load it without --floating")


def test_options_with_an_opposite():
    options = {"snap": "--snap/--no-snap", "tip": "--tip"}
    assert spoken("load with snap=False, or snap=True", options) == "load with --no-snap, or --snap"
    assert options_of(info)["snap"] == "--snap/--no-snap"


def test_warnings_are_spoken_as_well(tmp_path, monkeypatch):
    import warnings

    from dynarm.robot import files

    def doubtful(arm, strict=False):
        warnings.warn("load with snap=False", library.DynarmWarning, stacklevel=2)
        return arm

    monkeypatch.setattr(files, "warn_doubts", doubtful)
    assert "warning: load with --no-snap" in dynarm("info", "two_link").check().err

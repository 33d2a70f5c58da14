"""Who may import whom, and which module is the door to which dependency."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import dynarm

ROOT = Path(dynarm.__file__).parent
LAYERS = [  # a module may import from its own layer and from those before it
    {"errors", "forks", "memo"},
    {"border"},
    {"arguments"},
    {"algebra"},
    {"robot"},
    {"kinematics", "drive", "factorisation", "articulated_body", "schedule", "published"},
    {"papers"},
    {"composite_derivatives"},
    {"minimal", "long_form", "redundancy"},
    {"table"},
    {"graph"},
    {"simplify", "casadi_bridge", "trace"},
    {"scene", "quantities", "regularity", "counts"},
    {"machine"},
    {"compiled", "batch", "jax_bridge"},
    {"refusals", "functions", "model", "export", "terms"},
    {"report"},
    {"identify", "simulation", "mobile"},
    {"view"},
    {"cli"},
    {"__main__"},
]
DOORS = {
    "casadi": {"casadi_bridge.py", "identify/excitation.py"},
    "llvmlite": {"machine/"},
    "xml": {"robot/urdf.py"},
    "plotly": {"report/"},
    "jinja2": {"report/"},
    "viser": {"view/"},
    "clarabel": {"identify/feasibility.py", "mobile/"},
    "rosbags": {"identify/"},
    "pandas": {"identify/", "simulation/"},
    "typer": {"cli/"},
    "rich": {"cli/", "report/"},
    "jax": {"jax_bridge.py"},
    "pickle": set(),
    "subprocess": {"identify/formats/apart.py"},
}
FILES = sorted(p.relative_to(ROOT).as_posix() for p in ROOT.rglob("*.py"))


def layer(name: str) -> int:
    for k, names in enumerate(LAYERS):
        if name in names:
            return k
    raise AssertionError(f"dynarm.{name} stands in no layer; add it to LAYERS where it belongs")


def imports(path: str) -> list[str]:
    """Dotted names that a file imports, its own package spelled out."""
    package = ["dynarm", *path.split("/")[:-1]]
    found = []
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            head = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*head, *([node.module] if node.module else [])])
            found += [stem, *(f"{stem}.{alias.name}" for alias in node.names)]
    return found


@pytest.mark.parametrize("path", [f for f in FILES if f != "__init__.py"])
def test_imports_go_inwards_only(path):
    own = path.split("/")[0].removesuffix(".py")
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "dynarm" and len(parts) > 1 and parts[1] in {n for ns in LAYERS for n in ns}:
            assert layer(parts[1]) <= layer(own), f"{path} imports {name}"


@pytest.mark.parametrize("path", FILES)
def test_each_dependency_has_one_door(path):
    for name in imports(path):
        allowed = DOORS.get(name.split(".")[0])
        assert allowed is None or any(path.startswith(door) for door in allowed), (
            f"{path} imports {name}"
        )


def test_papers_do_not_know_that_they_are_traced():
    for path in FILES:
        if path.startswith("papers/"):
            names = {n.split(".")[0] for n in imports(path)} - {"dynarm", "__future__", ""}
            assert names <= {
                "collections",
                "dataclasses",
                "typing",
                "math",
                "fractions",
                "functools",
            }, (path, names)

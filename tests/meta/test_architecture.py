"""Who may import whom, and which module is the door to which dependency."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import dynarm

ROOT = Path(dynarm.__file__).parent
LAYERS = (  # a room may import from itself and from those before it; docs/architecture.md has the same order
    "errors",
    "border",
    "algebra",
    "robot",
    "dynamics",
    "parameters",
    "graph",
    "plan",
    "machine",
    "model",
    "simulation",
    "identify",
    "mobile",
    "reproductions",
    "report",
    "view",
    "cli",
    "__main__",
)
UPWARDS = {  # when they are asked for
    "simulation/run.py": "report",  # Run.plot: a page
    "mobile/__init__.py": "reproductions",  # dynarm.mobile.cases and counts
}
DOORS = {
    "casadi": {"graph/casadi_bridge.py", "identify/design/excitation.py"},
    "llvmlite": {"machine/"},
    "xml": {"robot/formats/elements.py"},
    "plotly": set(),  # pages draw for themselves
    "jinja2": {"report/"},
    "viser": {"view/"},
    "clarabel": {"identify/estimators/feasibility.py", "mobile/"},
    "rosbags": {"identify/"},
    "pandas": {"identify/", "simulation/"},
    "typer": {"cli/"},
    "rich": {"border/progress.py", "cli/"},
    "jax": {"graph/jax_bridge.py"},
    "dask": {"identify/dataset/cluster.py"},
    "distributed": {"identify/dataset/cluster.py"},
    "pickle": set(),
    "subprocess": {"border/apart.py"},
    "mujoco": {"robot/formats/mjcf_child.py"},
    "xacro": {"robot/formats/xacro_child.py"},
}
LATER = re.compile(r"\.+[a-z_]\w*(?:\.\w+)*")  # a module as `import_module` takes it
FILES = sorted(p.relative_to(ROOT).as_posix() for p in ROOT.rglob("*.py"))


def layer(name: str) -> int:
    assert name in LAYERS, f"dynarm.{name} stands in no layer; add it to LAYERS where it belongs"
    return LAYERS.index(name)


def imports(path: str) -> list[str]:
    """Dotted names that a file imports, its own package spelled out; also those it only names, to import them later."""
    package = ["dynarm", *path.split("/")[:-1]]
    names = []
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            head = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*head, *([node.module] if node.module else [])])
            names += [stem, *(f"{stem}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Constant) and LATER.fullmatch(str(node.value)):
            dots = len(node.value) - len(node.value.lstrip("."))
            names.append(".".join([*package[: len(package) - dots + 1], node.value[dots:]]))
    return names


@pytest.mark.parametrize("path", [f for f in FILES if f != "__init__.py"])
def test_imports_go_inwards_only(path):
    own = path.split("/")[0].removesuffix(".py")
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "dynarm" and len(parts) > 1 and parts[1] in LAYERS:
            inwards = layer(parts[1]) <= layer(own) or UPWARDS.get(path) == parts[1]
            assert inwards, f"{path} imports {name}"


def test_every_room_is_a_layer_and_stands_in_the_architecture_page():
    rooms = {f.split("/")[0].removesuffix(".py") for f in FILES} - {"__init__"}
    assert rooms == set(LAYERS)
    page = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
    (told,) = [line for line in page.splitlines() if line.startswith("`errors ← ")]
    assert told.strip("`").split(" ← ") == list(LAYERS[:-1])


@pytest.mark.parametrize("path", FILES)
def test_each_dependency_has_one_door(path):
    for name in imports(path):
        allowed = DOORS.get(name.split(".")[0])
        assert allowed is None or any(path.startswith(door) for door in allowed), (
            f"{path} imports {name}"
        )


def test_papers_do_not_know_that_they_are_traced():
    for path in FILES:
        if path.startswith("dynamics/papers/"):
            names = {n.split(".")[0] for n in imports(path)} - {"dynarm", "__future__", ""}
            assert names <= {
                "collections",
                "dataclasses",
                "typing",
                "math",
                "fractions",
                "functools",
            }, (path, names)


def test_every_file_that_the_page_names_is_there():
    repository = Path(__file__).parents[2]
    page = (repository / "docs" / "architecture.md").read_text(encoding="utf-8")
    names = re.findall(r"`([\w/]+\.(?:py|md))`", page)
    assert len(names) > 30
    missing = [n for n in names if not any((top / n).is_file() for top in (ROOT, repository))]
    own = [n for n in missing if not (ROOT / "dynamics" / "own" / n).is_file()]
    assert not own


@pytest.mark.parametrize("path", sorted(UPWARDS))
def test_steps_upwards_are_taken(path):
    assert any(name.startswith(f"dynarm.{UPWARDS[path]}") for name in imports(path))

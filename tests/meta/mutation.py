"""Do the tests bite? Plants small faults in the source and sees whether a test fails. By hand, not in CI:

    python tests/meta/mutation.py --sample 200 --seed 1 [--only identify mobile] [--workers 2] [--out mutants.json]

First the tests run once with coverage (`pip install pytest-cov`) to learn which test runs which line and how long it
takes; a fault is then shown to the tests that run its line, quickest first, until one fails. A fault whose line no test
runs survives. Every fault lives in a copy of the tree; the checkout is never changed.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("identify", "mobile", "simulation", "machine", "cli", "report")
TESTS = ("tests/unit", "tests/equivalence", "tests/meta", "tests/papers", "tests/recordings")
PATIENCE = 240.0  # s for the tests of one fault; a fault that makes them last longer is caught
MOST = 400  # tests that a fault is shown to
BUDGET = 150.0  # s of tests, as timed without the fault, that a fault is shown to

SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    """One planted fault: the file, the line, what stood there, what stands there now, and the whole new text."""

    path: str
    line: int
    before: str
    after: str
    text: str


def faults(path: Path) -> Iterator[Fault]:
    """Every small fault that can be planted in a file."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    name = path.relative_to(ROOT).as_posix()
    for node in _code(tree):
        for changed in _changes(node):
            start, end = _span(source, node)
            after = ast.unparse(changed)
            if isinstance(node, ast.expr):
                after = f"({after})"
            text = source[:start] + after + source[end:]
            yield Fault(name, node.lineno, source[start:end], after, text)


def _code(tree: ast.AST) -> Iterator[ast.AST]:
    """The expressions that compute: no annotations, docstrings, defaults of messages or type aliases."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(
                child, (ast.Raise, ast.Import, ast.ImportFrom, ast.JoinedStr, ast.Assert)
            ):
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.AST):
                yield child
                yield from _code(child)


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """A node with a small fault in it."""
    if isinstance(node, ast.Compare):
        for k, op in enumerate(node.ops):
            changed = copy.deepcopy(node)
            changed.ops[k] = SWAPS[type(op)]()
            yield changed
    elif isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in SWAPS:
        if not any(
            isinstance(n, (ast.Constant, ast.JoinedStr)) and not _number(n) for n in ast.walk(node)
        ):
            changed = copy.deepcopy(node)
            changed.op = SWAPS[type(node.op)]()
            yield changed
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
        yield copy.deepcopy(node.operand)
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(node.test, copy.deepcopy(node.orelse), copy.deepcopy(node.body))
    elif isinstance(node, ast.Constant) and _number(node):
        yield ast.Constant(
            node.value * 1.5 if isinstance(node.value, float) and node.value else node.value + 1
        )


def _number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _span(source: str, node: ast.AST) -> tuple[int, int]:
    """Where a node's text begins and ends in the source."""
    lines = source.splitlines(keepends=True)

    def at(line: int, column: int) -> int:
        return sum(map(len, lines[: line - 1])) + len(lines[line - 1].encode()[:column].decode())

    assert isinstance(node, ast.expr)
    assert node.end_lineno is not None and node.end_col_offset is not None
    return at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)


# ---- which tests run which line


def observe(tests: Sequence[str], folder: Path) -> None:
    """Run the tests once: coverage by test into folder/.coverage, their durations into folder/durations.txt."""
    env = {**os.environ, "COVERAGE_FILE": str(folder / ".coverage")}
    command = [
        sys.executable,
        "-m",
        "pytest",
        *tests,
        "-n",
        "2",
        "--cov=dynarm",
        "--cov-context=test",
    ]
    command += ["--cov-report=", "--durations=0", "-vv"]
    with open(folder / "durations.txt", "w") as out:
        subprocess.run(
            command, cwd=ROOT, env=env, stdout=out, stderr=subprocess.STDOUT, check=False
        )


def observed(folder: Path) -> tuple[dict[tuple[str, int], set[str]], dict[str, float]]:
    """Tests by file and line, seconds by test."""
    from coverage.numbits import numbits_to_nums

    seconds: dict[str, float] = {}
    for line in (folder / "durations.txt").read_text().splitlines():
        match = re.match(r"\s*([\d.]+)s (?:call|setup)\s+(.*\S)", line)
        if match:
            seconds[match[2]] = seconds.get(match[2], 0.0) + float(match[1])
    with sqlite3.connect(folder / ".coverage") as data:
        rows = data.execute(
            "select file.path, context.context, line_bits.numbits from line_bits "
            "join file on file.id = line_bits.file_id join context on context.id = line_bits.context_id"
        )
        runs = [
            (path[path.index("src/dynarm") :], *context.partition("|")[::2], numbits_to_nums(bits))
            for path, context, bits in rows
        ]
    return _by_line(runs), seconds


def _by_line(
    runs: Sequence[tuple[str, str, str, list[int]]],
) -> dict[tuple[str, int], set[str]]:
    """Tests by file and line, from (file, test, phase, lines).

    What a fixture runs counts for every test of its file, not only for the first that asked for it; what an import
    runs, for every test that runs anything of the imported file.
    """
    companions: dict[str, set[str]] = {}
    for _, test, _, _ in runs:
        companions.setdefault(test.partition("::")[0], set()).add(test)
    by_line: dict[tuple[str, int], set[str]] = {}
    of_file: dict[str, set[str]] = {}
    for name, test, phase, lines in runs:
        if not test:
            continue
        whose = {test} if phase == "run" else companions[test.partition("::")[0]]
        of_file.setdefault(name, set()).update(whose)
        for line in lines:
            by_line.setdefault((name, line), set()).update(whose)
    for name, test, _, lines in runs:
        for line in lines if not test else ():
            by_line.setdefault((name, line), of_file.get(name, set()))
    return by_line


def shown_to(
    fault: Fault,
    by_line: dict[tuple[str, int], set[str]],
    seconds: dict[str, float],
    budget: float = BUDGET,
) -> list[str]:
    """The tests that run the fault's line, quickest first, as many as the budget [s] allows."""
    tests = by_line.get((fault.path, fault.line), set())
    order = sorted(tests, key=lambda t: (seconds.get(t, 0.01), t))
    chosen, spent = [], 0.0
    for test in order:
        spent += seconds.get(test, 0.01)
        if spent > budget and chosen:
            break
        chosen.append(test)
    return chosen[:MOST]


# ---- one fault


def caught(fault: Fault, tests: Sequence[str], tree: Path) -> bool:
    """Whether one of the tests fails with the fault in a copy of the source."""
    target = tree / fault.path
    original = target.read_text(encoding="utf-8")
    target.write_text(fault.text, encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        for some in (tests[:12], tests[12:]):
            if not some:
                continue
            command = [
                sys.executable,
                "-m",
                "pytest",
                "-x",
                "-q",
                "-n",
                "0",
                "-p",
                "no:cacheprovider",
                *some,
            ]
            done = subprocess.run(command, cwd=tree, env=env, capture_output=True, timeout=PATIENCE)
            if done.returncode:
                return True
        return False
    except subprocess.TimeoutExpired:
        return True
    finally:
        target.write_text(original, encoding="utf-8")


def copies(count: int, folder: Path) -> list[Path]:
    """Copies of the tree, `shared` beside each as beside the checkout."""
    trees = []
    for k in range(count):
        tree = folder / f"place{k}" / "tree"
        shutil.copytree(
            ROOT, tree, ignore=shutil.ignore_patterns(".git", ".venv", "site", ".*_cache")
        )
        if (ROOT.parent / "shared").exists():
            (tree.parent / "shared").symlink_to(ROOT.parent / "shared")
        trees.append(tree)
    return trees


def main() -> None:
    given = _parser().parse_args()
    files = [
        p for name in given.only for p in sorted((ROOT / "src" / "dynarm" / name).rglob("*.py"))
    ]
    every = [fault for path in files for fault in faults(path)]
    sample = random.Random(given.seed).sample(every, min(given.sample, len(every)))
    folder = Path(given.observed or tempfile.mkdtemp(prefix="mutation-"))
    if not (folder / ".coverage").exists():
        folder.mkdir(parents=True, exist_ok=True)
        print(f"running {' '.join(given.tests)} with coverage into {folder}", flush=True)
        observe(given.tests, folder)
    by_line, seconds = observed(folder)
    trees: SimpleQueue[Path] = SimpleQueue()
    survivors: list[Fault] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as place:
        for tree in copies(given.workers, Path(place)):
            trees.put(tree)

        def judge(fault: Fault) -> bool:
            tests = shown_to(fault, by_line, seconds, given.budget)
            tree = trees.get()
            try:
                return bool(tests) and caught(fault, tests, tree)
            finally:
                trees.put(tree)

        with ThreadPoolExecutor(given.workers) as pool:
            for k, (fault, dead) in enumerate(zip(sample, pool.map(judge, sample), strict=True), 1):
                if not dead:
                    survivors.append(fault)
                    ran = len(shown_to(fault, by_line, seconds, given.budget))
                    print(
                        f"survived: {fault.path}:{fault.line} {fault.before!r} -> {fault.after!r} ({ran} tests)"
                    )
                if k % 10 == 0:
                    print(f"{k} of {len(sample)}, {k - len(survivors)} caught", flush=True)
    print(f"{len(sample) - len(survivors)} of {len(sample)} caught ({len(every)} can be planted)")
    if given.out:
        rows = [{k: v for k, v in asdict(f).items() if k != "text"} for f in survivors]
        Path(given.out).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sample", type=int, default=200, help="how many faults")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=PACKAGES, help="packages of dynarm")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="what is run to find faults")
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds of tests for a fault")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--observed", help="folder with a run observed before, or for this one")
    parser.add_argument("--out", help="JSON file for the survivors")
    return parser


if __name__ == "__main__":
    main()

"""Which tests may be skipped, and when: a skip for another reason, or where its reason does not hold, fails the run."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Allowed:
    """A reason for skipping, when it holds, and the folder of which then all tests are skipped and no other."""

    reason: str  # what the reason's text contains
    holds: Callable[[], bool]
    folder: str | None = None


def _without(*programs: str) -> Callable[[], bool]:
    return lambda: any(shutil.which(p) is None for p in programs)


def _without_package(name: str) -> Callable[[], bool]:
    return lambda: importlib.util.find_spec(name) is None


def no_browser() -> bool:
    """Whether the tests of pages have nothing to run in."""
    browsers = ("chromium", "chromium-browser", "google-chrome")
    return not any(map(shutil.which, browsers)) or shutil.which("chromedriver") is None


ALLOWED = (
    Allowed("no Chromium", no_browser, "tests/browser"),
    Allowed("measured logs", lambda: not (ROOT.parent / "shared" / "data").exists()),
    Allowed("gcc is not installed", _without("gcc")),
    Allowed("no C compiler", _without("cc")),
    Allowed("Node is not installed", _without("node")),
    Allowed("cmake is not installed", _without("cmake")),
    Allowed("g++ is not installed", _without("g++")),
    Allowed("aarch64", _without("aarch64-linux-gnu-gcc", "qemu-aarch64")),
    Allowed("extra 'view'", _without_package("viser")),
    Allowed("extra [bags]", _without_package("rosbags")),
    Allowed("extra [jax]", _without_package("jax")),
    Allowed("POSIX", lambda: os.name != "posix"),
    Allowed("processes are not forked here", lambda: not hasattr(os, "fork")),
    Allowed("mprotect", lambda: not sys.platform.startswith("linux")),
    Allowed("counts x86 assembly", lambda: platform.machine() not in ("x86_64", "AMD64")),
    Allowed("no builtins", lambda: platform.python_implementation() != "CPython"),
    Allowed("the C library is asked by name", lambda: sys.platform == "win32"),
)


def complaints(
    skipped: Mapping[str, str],
    collected: Iterable[str],
    allowed: Iterable[Allowed] = ALLOWED,
) -> list[str]:
    """What is wrong with the skips of a run: reason by test, and all tests that were collected."""
    words: list[str] = []
    known = tuple(allowed)
    for test, reason in skipped.items():
        fitting = [a for a in known if a.reason in reason]
        if not fitting:
            words.append(
                f"{test} was skipped for a reason that tests/skips.py does not list: {reason}"
            )
        elif not any(a.holds() for a in fitting):
            words.append(f"{test} was skipped although its reason does not hold here: {reason}")
    for a in known:
        if a.folder is not None and a.holds():
            wanted = {test for test in collected if test.startswith(a.folder + "/")}
            given = {test for test, reason in skipped.items() if a.reason in reason}
            if wanted != given:
                words.append(
                    f"{len(given)} tests were skipped for '{a.reason}', {len(wanted)} should be"
                )
    return words


class Skips:
    """Gathers what was skipped and why; a skip that tests/skips.py does not allow fails the run."""

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}
        self.collected: set[str] = set()
        self.words: list[str] = []

    def pytest_collection_finish(self, session: Any) -> None:
        self.collected |= {item.nodeid for item in session.items}

    def pytest_xdist_node_collection_finished(self, ids: Any) -> None:
        self.collected |= set(ids)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self.reasons[report.nodeid] = report.longrepr[2].removeprefix("Skipped: ")

    def pytest_collectreport(self, report: Any) -> None:
        if report.skipped:
            self.reasons[report.nodeid] = report.longrepr[2].removeprefix("Skipped: ")

    def pytest_sessionfinish(self, session: Any) -> None:
        self.words = complaints(self.reasons, self.collected)
        if self.words and session.exitstatus == 0:
            session.exitstatus = 1

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for reason, number in Counter(self.reasons.values()).items():
            terminalreporter.write_line(f"{number} skipped: {reason}")
        for word in self.words:
            terminalreporter.write_line(word, red=True)


def plugin(parallel: bool) -> Skips:
    """The plug-in of a run; without pytest-xdist its hook would be unknown."""
    if parallel:
        return Skips()
    alone = type("Skips", (Skips,), {"pytest_xdist_node_collection_finished": None})
    made: Skips = alone()
    return made

"""`dynarm` run inside the test's own process, in a folder of its own: as a person would, but quick."""

from __future__ import annotations

import io
import os
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from dynarm.cli.app import run


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    def check(self) -> Outcome:
        """Itself, after a look whether all went well."""
        assert self.code == 0, self.err or self.out
        return self

    def refusal(self) -> str:
        """The one line of an error."""
        assert self.code == 2, (self.code, self.out, self.err)
        lines = [line for line in self.err.splitlines() if not line.startswith("dynarm: warning")]
        assert len(lines) == 1, self.err
        assert lines[0].startswith("dynarm: ")
        assert "Traceback" not in self.err and "mistake in dynarm" not in self.err
        return lines[0]


def dynarm(*words: str, folder: Path | None = None) -> Outcome:
    """Run `dynarm` with these words, in a folder."""
    before = os.getcwd()
    out, err = io.StringIO(), io.StringIO()
    try:
        if folder is not None:
            os.chdir(folder)
        with redirect_stdout(out), redirect_stderr(err):
            code = run(list(words))
    finally:
        os.chdir(before)
    return Outcome(code, out.getvalue(), err.getvalue())


def examples(command: str) -> list[list[str]]:
    """The example commands that --help prints, as words."""
    text = dynarm(command, "--help").check().out
    found = [line.split()[2:] for line in text.splitlines() if re.match(r"\s*\$ dynarm ", line)]
    assert found, f"{command} --help shows no example"
    return found


PYTHON = sys.executable

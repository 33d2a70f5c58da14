"""What cannot be done: one helpful line on standard error, exit code 2, nothing half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from program import dynarm

import dynarm as library
from oracles.processes import started

LOG = "t,q1,q2,tau1,tau2\n"


@pytest.fixture
def place(tmp_path) -> Path:
    """A folder with files that are wrong in one way each."""
    (tmp_path / "arm.xacro").write_text("<robot/>")
    (tmp_path / "broken.urdf").write_text("<robot name='x'><link")
    (tmp_path / "broken.toml").write_text("joints = [")
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "words.csv").write_text(LOG + "0,a,0,0,0\n1,b,0,0,0\n")
    (tmp_path / "short.csv").write_text(LOG + "0,0,0,0,0\n")
    (tmp_path / "three.csv").write_text(
        "t,q1,q2,q3,tau1,tau2,tau3\n0,0,0,0,1,1,1\n0.1,1,1,1,2,2,2\n0.2,0,0,0,1,1,1\n"
    )
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("keep")
    return tmp_path


REFUSED = {
    "too few digits": (["count", "two_link", "--equivalence", "--digits", "15"], "from 16 to 1000"),
    "too many digits": (["count", "two_link", "--equivalence", "--digits", "1001"], "from 16 to"),
    "no processors": (
        ["count", "two_link", "--schedule", "--quantity", "bias", "--processors", "0"],
        "--processors is 0; give a whole number from 1",
    ),
    "digits of nothing": (["count", "two_link", "--digits", "60"], "--digits is for --equivalence"),
    "processors of nothing": (
        ["count", "two_link", "--processors", "2"],
        "--processors is for --sched",
    ),
    "formulation of nothing": (
        ["count", "two_link", "-q", "bias", "--formulation", "lagrange"],
        "--formulation is for --schedule and --rows",
    ),
    "a tree where a paper speaks of chains": (["count", "go2", "--equivalence"], "with --tip, or"),
    "rows of a tree": (
        ["count", "go2", "--rows", "-q", "mass_matrix"],
        "the listings are of chains of two joints and more, the first rotational; without --rows",
    ),
    "a study of an arm on wheels": (
        ["count", "tanner2001", "--schedule", "-q", "bias"],
        "is for arms; of an arm on wheels all functions are counted",
    ),
    "rows of nothing": (["count", "two_link", "--rows"], "mass_matrix_and_bias"),
    "rows that no paper has": (
        ["count", "two_link", "--rows", "-q", "mass_matrix", "--formulation", "partial_velocity"],
        "no paper lists mass_matrix by partial_velocity line by line; listed are: base_composite",
    ),
    "unknown robot, near": (["info", "puma56"], "puma560"),
    "unknown robot": (["info", "zzz"], "stanford"),
    "missing file": (["info", "nosuch.urdf"], "nosuch.urdf"),
    "nothing in it": (["info", "arm.xacro"], "arm.xacro has no <link>"),
    "not a robot": (["info", "notes.txt"], ".urdf, .toml, .xacro, .xml or .mjcf"),
    "broken urdf": (["info", "broken.urdf"], "broken.urdf"),
    "broken toml": (["info", "broken.toml"], "broken.toml"),
    "base of a robot that is no urdf": (["info", "two_link", "--base", "x"], "leave them out"),
    "unknown convention": (["info", "two_link", "--convention", "lin95"], "lin1995"),
    "html with another ending": (["info", "two_link", "--html", "sheet.pdf"], ".html"),
    "html in no folder": (["info", "two_link", "--html", "no/where.html"], "no folder"),
    "html of a platform": (
        ["info", "tanner2001", "--html", "x.html"],
        "dynarm mobile tanner2001 --html FILE",
    ),
    "html of a platform's counts": (
        ["count", "tanner2001", "--html", "x.html"],
        "dynarm mobile tanner2001 --html FILE",
    ),
    "html is a folder": (["count", "two_link", "--html", "full"], ".html"),
    "robot and generic": (["count", "two_link", "--n", "3"], "dynarm count --n"),
    "neither": (["count"], "dynarm count --n"),
    "not a range": (["count", "--n", "x"], "3..8"),
    "range backwards": (["count", "--n", "8..3"], "smaller number first"),
    "too many joints": (["count", "--n", "100"], "between 1 and 60"),
    "type": (["count", "--n", "4", "--type", "3"], "--type"),
    "unknown quantity": (["count", "two_link", "-q", "mass"], "mass_matrix"),
    "unknown quantity to compile": (
        ["compile", "two_link", "-q", "inverse_dynamic"],
        "inverse_dynamics",
    ),
    "wish without a name": (["compile", "two_link", "-f", "bias"], "quantity=name"),
    "unknown formulation": (["compile", "two_link", "-f", "bias=newton"], "newton_euler"),
    "export into a full folder": (["export", "two_link", "full"], "--force"),
    "export onto a file": (["export", "two_link", "notes.txt"], "name a folder"),
    "export prefix": (["export", "two_link", "--name", "9 lives"], "9 lives"),
    "duration": (["excite", "two_link", "-d", "0"], "duration"),
    "criterion": (["excite", "two_link", "--criterion", "best"], "condition"),
    "limits of other joints": (["excite", "two_link", "--velocity", "1,2,3"], "shoulder, elbow"),
    "box": (["excite", "two_link", "--box", "1,2"], "--box"),
    "no log": (["identify", "two_link"], "dynarm identify two_link"),
    "missing log": (["identify", "two_link", "nosuch.csv"], "nosuch.csv"),
    "empty log": (["identify", "two_link", "empty.csv"], "empty.csv"),
    "words in a log": (["identify", "two_link", "words.csv"], "words.csv"),
    "log of one sample": (["identify", "two_link", "short.csv"], "short.csv"),
    "log of another robot": (["identify", "two_link", "three.csv"], "3 joints"),
    "log of unknown kind": (["identify", "two_link", "notes.txt"], "notes.txt"),
    "results into a full folder": (
        ["identify", "two_link", "short.csv", "--out", "full"],
        "--force",
    ),
    "results in no folder": (
        ["identify", "two_link", "short.csv", "--out", "no/where"],
        "no folder",
    ),
    "estimator": (["identify", "two_link", "short.csv", "--estimator", "wlss"], "wls"),
    "friction": (["identify", "two_link", "short.csv", "--friction", "stiction"], "viscous"),
    "channels": (["validate", "two_link", "short.csv", "--channels", "nosuch.toml"], "nosuch.toml"),
    "start of other joints": (["simulate", "two_link", "--q0", "1,2,3"], "shoulder, elbow"),
    "start in words": (["simulate", "two_link", "--q0", "up"], "--q0"),
    "time": (["simulate", "two_link", "--time", "-1"], "--time"),
    "method": (["simulate", "two_link", "--method", "euler"], "rk4"),
    "control": (["simulate", "two_link", "--control", "pid"], "gravity_pd"),
    "torque and control": (
        ["simulate", "two_link", "--control", "gravity_pd", "--torque", "1"],
        "leave one",
    ),
    "format": (["simulate", "two_link", "--save", "run.xlsx"], ".npz"),
    "unknown mobile robot": (["mobile", "tanner"], "tanner2001"),
    "arm as a mobile robot": (["mobile", "two_link"], "tanner2001"),
    "case of another robot": (["mobile", "diffdrive_puma560", "--case", "3"], "tanner2001"),
    "unknown case": (["mobile", "tanner2001", "--case", "6"], "3"),
    "start of other coordinates": (["mobile", "tanner2001", "--q0", "1,2"], "theta"),
    "view of an unknown robot": (["view", "zzz"], "stanford"),
    "view of a recording that is not there": (
        ["view", "two_link", "--play", "nosuch.npz"],
        "nosuch.npz",
    ),
    "view of another robot's recording": (["view", "two_link", "--play", "three.csv"], "2"),
    "case of an arm": (["view", "two_link", "--case", "3"], "tanner2001"),
    "unknown command": (["cuont"], "count"),
    "unknown option": (["count", "two_link", "--bogus"], "dynarm count --help"),
    "missing argument": (["info"], "dynarm info"),
    "value of an option": (["simulate", "two_link", "--time", "long"], "--time"),
    "one word too many": (["info", "two_link", "scara"], "dynarm info --help"),
    "demo onto a file": (["demo", "--out", "notes.txt"], "name a folder"),
    "demo in no folder": (["demo", "--out", "no/where"], "no folder"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_one_line_says_what_is_wrong_and_what_to_do(case, place):
    words, hint = REFUSED[case]
    before = sorted(p.relative_to(place) for p in place.rglob("*"))
    assert hint in dynarm(*words, folder=place).refusal()
    assert sorted(p.relative_to(place) for p in place.rglob("*")) == before


def test_no_permission_to_write(tmp_path):
    if os.geteuid() == 0:  # root may write anywhere but into the kernel's own files
        target, words = Path("/proc/dynarm.html"), "check"
    else:
        tmp_path.chmod(0o500)
        target, words = tmp_path / "dynarm.html", "permission"
    assert words in dynarm("info", "two_link", "--html", str(target)).refusal()
    assert not target.exists()


def test_no_browser_to_open(monkeypatch):
    import webbrowser

    def none(*_):
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(webbrowser, "get", none)
    assert "open the address yourself" in dynarm("view", "two_link", "--open").refusal()


def test_windows_line_endings_and_odd_paths(tmp_path):
    folder = tmp_path / "Ordner mit Ä und 空"
    folder.mkdir()
    dynarm(
        "excite", "two_link", "-d", "5", "--starts", "1", "--log", "log.csv", folder=folder
    ).check()
    unix = (folder / "log.csv").read_bytes()
    (folder / "dos log.csv").write_bytes(unix.replace(b"\n", b"\r\n"))
    found = dynarm(
        "validate", "two_link", str(folder / "dos log.csv"), "--html", "ä b.html", folder=folder
    )
    assert "PASS" in found.check().out and (folder / "ä b.html").exists()


def test_warnings_are_one_line_each_and_leave_json_alone(tmp_path):
    arm = library.load("two_link")
    table = arm.parameters.copy()
    table[0, 9] = 1e-9
    arm.with_parameters(table).save(tmp_path / "odd.toml")
    found = dynarm("info", "odd.toml", "--json", folder=tmp_path).check()
    assert found.err.startswith("dynarm: warning: ") and "shoulder" in found.err
    assert found.out.startswith("{")


def test_debug_shows_the_traceback_and_works_anywhere():
    for words in (["--debug", "info", "zzz"], ["info", "zzz", "--debug"]):
        found = dynarm(*words)
        assert found.code == 2 and "Traceback" in found.err and "unknown robot" in found.err


def test_an_error_of_our_own_is_one_line_too(monkeypatch):
    monkeypatch.setattr("dynarm.cli.info.costs", lambda *_: 1 / 0)
    found = dynarm("info", "two_link")
    assert found.code == 2 and len(found.err.splitlines()) == 1
    assert "ZeroDivisionError" in found.err and "--debug" in found.err


# ---- Ctrl-C, banners, terminals: in processes of their own


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_an_interrupt_leaves_nothing_half_written(tmp_path):
    script = """
import sys, time

def slow(story, folder):
    (folder / "half.txt").write_text("half")
    print("begun", file=sys.stderr, flush=True)
    time.sleep(60)
slow.__doc__ = "sleeping"
import dynarm.cli.story as story
story.describe = slow
from dynarm.cli.app import run
sys.exit(run(["demo", "--json"]))
"""
    process = started(script, tmp_path)
    assert process.stderr.readline().strip() == "begun"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130 and out == ""
    assert err.strip().endswith("interrupted; nothing was left half-written")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="the C library is asked by name")
def test_banners_of_libraries_do_not_reach_standard_output(tmp_path):
    script = """
import ctypes, json, sys
import dynarm.cli.info as info
costs = info.costs
def loud(*words):
    ctypes.CDLL(None).puts(b"BANNER from C")
    print("BANNER from Python")
    return costs(*words)
info.costs = loud
from dynarm.cli.app import run
sys.exit(run(["info", "two_link", "--json"]))
"""
    process = started(script, tmp_path)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert out.startswith("{") and "BANNER" not in out
    assert "BANNER from C" in err and "BANNER from Python" in err


def test_a_reader_that_stops_early_is_no_error(tmp_path):
    script = "import sys; from dynarm.cli.app import run; sys.exit(run(['count', 'two_link']))"
    process = started(script, tmp_path)
    process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    assert process.wait(timeout=60) == 0 and err == ""


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX's")
@pytest.mark.parametrize(("columns", "plain"), [(40, True), (120, False)])
def test_on_a_terminal_lines_fit_and_colour_can_be_refused(columns, plain, tmp_path):
    import re

    text = on_terminal(["info", "two_link"], columns, {"NO_COLOR": "1"} if plain else {})
    assert ("\x1b[36m" in text or "\x1b[1;36m" in text or "\x1b[32m" in text) != plain
    bare = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r\n", "\n")
    shown = bare.rsplit("\r", 1)[-1]
    assert max(map(len, shown.splitlines())) <= columns
    for word in ("shoulder", "U1_33", "newton_euler_constants", "mass_matrix"):
        assert word in shown


def on_terminal(words: list[str], columns: int, environment: dict[str, str]) -> str:
    """What `dynarm` writes to a terminal of that width."""
    import fcntl
    import pty
    import struct
    import termios

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    script = f"import sys; from dynarm.cli.app import run; sys.exit(run({words!r}))"
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "FORCE_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**clean, "TERM": "xterm-256color", **environment},
        close_fds=True,
    )
    os.close(slave)
    chunks = []
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(master)
    assert process.wait(timeout=60) == 0
    return b"".join(chunks).decode()


def test_the_shell_completes_commands_and_robots():
    for line, wanted in (
        ("dynarm co", "count"),
        ("dynarm info pum", "puma560"),
        ("dynarm mobile tan", "tanner2001"),
    ):
        environment = {
            **os.environ,
            "_DYNARM_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(line.split()) - 1),
        }
        script = "import sys; sys.argv = ['dynarm']; from dynarm.cli import main; main()"
        found = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            env=environment,
            timeout=60,
        )
        assert wanted in found.stdout.split(), (line, found.stdout, found.stderr)

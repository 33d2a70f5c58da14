"""Tables, bars and streams of the commands, on a terminal and in a pipe."""

from __future__ import annotations

import io
import os
import re
import sys
from types import SimpleNamespace

import pytest

from dynarm.border import progress
from dynarm.cli import app, console


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def taken(self) -> str:
        """What was written since the last look, without bold letters and the like."""
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.getvalue())
        self.seek(0)
        self.truncate(0)
        return text


def seen_by_a_person(monkeypatch) -> SimpleNamespace:
    """Standard output and error as terminals without colours; a function sets the width.

    To be called by the test itself: pytest puts its own streams back after the fixtures.
    """
    out, err = Terminal(), Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")

    def width(columns: int) -> None:
        monkeypatch.setenv("COLUMNS", str(columns))

    width(80)
    return SimpleNamespace(out=out, err=err, width=width)


ROWS = [["one", "1.25", "words that may wrap"], ["three", "10", "few"]]
COLUMNS = ["name", "value", "about"]


# ---- tables


def test_in_a_pipe_columns_from_a_number_on_stand_right(capsys):
    console.show_table("Title", COLUMNS, ROWS, right=1, wrap=2)
    assert capsys.readouterr().out.splitlines() == [
        "Title",
        "name   value  about",
        "one     1.25  words that may wrap",
        "three     10  few",
        "",
    ]
    console.show_table("", COLUMNS[:2], [r[:2] for r in ROWS], right=2)
    assert capsys.readouterr().out.splitlines() == [
        "name   value", "one    1.25", "three  10", "",
    ]  # fmt: skip


def test_a_terminal_s_table_is_the_same_where_there_is_room(capsys, monkeypatch):
    terminal = seen_by_a_person(monkeypatch)
    console.show_table("Title", COLUMNS, ROWS, right=1, wrap=2)
    lines = [line.rstrip() for line in terminal.out.taken().splitlines()]
    assert lines == [
        "Title",
        "name   value  about",
        "one     1.25  words that may wrap",
        "three     10  few",
        "",
    ]


def test_a_column_wraps_before_the_table_gives_up(monkeypatch):
    """5 + 5 letters, two gaps of 2 and 19 letters, the last column's, that may wrap down to 24."""
    terminal = seen_by_a_person(monkeypatch)
    terminal.width(33)
    console.show_table("", COLUMNS, ROWS, right=1, wrap=2)
    assert "name   value  about" in terminal.out.taken()
    long = [["one", "1.25", "w " * 40], ["three", "10", "few"]]
    terminal.width(38)  # the fixed columns, the gaps, and 24
    console.show_table("", COLUMNS, long, right=1, wrap=2)
    text = terminal.out.taken()
    assert "name   value  about" in text and max(map(len, text.splitlines())) <= 38
    terminal.width(37)
    console.show_table("", COLUMNS, long, right=1, wrap=2)
    assert "name   value  about" not in terminal.out.taken()


def test_a_table_without_room_becomes_records(monkeypatch):
    """Its own width is 33; one letter less and each row stands in lines of its own, none too long."""
    terminal = seen_by_a_person(monkeypatch)
    rows = [["one", "1.25", "abc", ""], ["three", "10", "few words here", "x"]]
    columns = ["name", "value", "about", "end"]
    terminal.width(5 + 5 + 14 + 3 + 6)
    console.show_table("", columns, rows)
    assert terminal.out.taken().splitlines()[0].split() == columns
    terminal.width(32)
    console.show_table("", columns, rows)
    lines = [line.rstrip() for line in terminal.out.taken().splitlines()]
    assert lines == [
        "one", "  value 1.25 about abc", "three", "  value 10 about few words here", "  end x", "",
    ]  # fmt: skip


def test_records_fold_between_pairs(monkeypatch):
    """A line is as long as the terminal at most, and is filled before the next begins."""
    terminal = seen_by_a_person(monkeypatch)
    terminal.width(20)
    rows = [["first", "aaaa", "bbbb", "cccccccccccccccccccccccc"]]
    console.show_table("", ["n", "p", "q", "r"], rows)
    lines = terminal.out.taken().splitlines()
    assert lines[0] == "first" and lines[1].rstrip() == "  p aaaa q bbbb"
    assert "".join(lines[2:]).replace(" ", "") == "r" + "c" * 24


# ---- streams


def test_results_go_to_one_stream_and_what_others_print_to_the_other(capsys):
    with console.own_output():
        console.say("result")
        print("banner")
    print("after")
    out, err = capsys.readouterr()
    assert out == "result\nafter\n" and err == "banner\n"


def test_data_that_json_does_not_know():
    import numpy as np

    value = {1: np.array([1.0, np.inf]), "t": (True, None), "s": {3}, "x": float("nan")}
    assert console._data(value) == {"1": [1.0, None], "t": [True, None], "s": [3], "x": None}
    assert console._data(np.float64(2.5)) == 2.5 and console._data(ValueError("a")) == "a"


def test_a_stream_without_a_number():
    assert console._number(io.StringIO()) == -1 and console._number(None) == -1


# ---- bars


def test_a_bar_of_a_command_stays_between_nothing_and_all(monkeypatch):
    terminal = seen_by_a_person(monkeypatch)
    import rich.progress

    seen = []
    update = rich.progress.Progress.update

    def noted(self, task, **what):
        seen.append((what["completed"], self.tasks[0].total))
        return update(self, task, **what)

    monkeypatch.setattr(rich.progress.Progress, "update", noted)
    with console.progress("counting") as done:
        for part in (-0.5, 0.25, 1.0, 1.5):
            done(part)
    assert seen == [(0.0, 1.0), (0.25, 1.0), (1.0, 1.0), (1.0, 1.0)]
    assert "counting" in terminal.err.getvalue()


def test_in_a_pipe_there_are_no_bars(capsys):
    with console.progress("counting") as done, console.busy("thinking"):
        done(0.5)
    assert capsys.readouterr() == ("", "")


def test_a_busy_command_says_with_what(monkeypatch):
    terminal = seen_by_a_person(monkeypatch)
    with console.busy("thinking"):
        pass
    assert "thinking" in terminal.err.getvalue() and not terminal.out.taken()


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test sets."""
    hands = SimpleNamespace(now=100.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: hands.now)
    return hands


def parts_shown(terminal, clock, wanted, reports) -> list[bool]:
    """Whether each report, of a part at a time, wrote something."""
    shown = []
    with progress.progress_of(wanted, "working") as report:
        for when, part in reports:
            clock.now = 100.0 + when
            before = len(terminal.err.getvalue())
            report(part)
            shown.append(len(terminal.err.getvalue()) > before)
    return shown


def test_a_bar_that_nobody_asked_for_waits_two_seconds(clock, monkeypatch):
    terminal = seen_by_a_person(monkeypatch)
    reports = [(0.5, 0.1), (1.9, 0.2), (2.0, 0.5), (2.05, 0.6), (2.09, 0.61), (2.11, 0.7)]
    shown = parts_shown(terminal, clock, None, reports)
    assert shown == [False, False, True, False, False, True]
    assert "50 %" in terminal.err.getvalue() and "70 %" in terminal.err.getvalue()
    assert "60 %" not in terminal.err.getvalue()


def test_a_bar_that_was_asked_for_comes_at_once(clock, monkeypatch):
    terminal = seen_by_a_person(monkeypatch)
    assert parts_shown(terminal, clock, True, [(0.05, 0.2), (0.15, 0.3)]) == [False, True]
    assert "30 %" in terminal.err.getvalue()


def test_quick_work_shows_no_bar(clock, monkeypatch):
    terminal = seen_by_a_person(monkeypatch)
    assert parts_shown(terminal, clock, None, [(0.1, 0.5), (0.2, 1.0)]) == [False, False]
    assert terminal.err.getvalue() == ""


def test_no_bar_is_shown_where_none_is_wanted_or_nobody_looks(monkeypatch):
    seen_by_a_person(monkeypatch)
    with progress.progress_of(False, "x") as report:
        assert report is None
    told = []
    with progress.progress_of(told.append, "x") as report:
        report(0.5)
    assert told == [0.5]
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    for wanted in (True, None):
        with progress.progress_of(wanted, "x") as report:
            assert report is None


# ---- what becomes of errors


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (MemoryError(), 2, "out of memory; give less data at a time"),
        (OSError(28, "No space left", "f.txt"), 2,
         "No space left (f.txt); check the path and the rights to it"),
        (OSError("odd"), 2, "odd; check the path and the rights to it"),
        (KeyError("k"), 2, "unexpected KeyError: 'k'; this is a mistake in dynarm, --debug shows where"),
        (type("Abort", (RuntimeError,), {})(), 130, "interrupted; nothing was left half-written"),
        (app.Unexpected(EOFError("end")), 2,
         "unexpected EOFError: end; this is a mistake in dynarm, --debug shows where"),
    ],
)  # fmt: skip
def test_every_kind_of_error_is_one_line(error, code, told, capsys):
    assert app._failed(error) == code
    assert capsys.readouterr().err == f"dynarm: {told}\n"


def test_arguments_that_do_not_fit_lead_to_help():
    info = SimpleNamespace(command_path="dynarm info")
    assert app._usage("No such option: --x.", info) == "No such option: --x; see dynarm info --help"
    assert app._usage("Did you mean --y?", None) == "Did you mean --y? see dynarm --help"
    missing = app._usage("Missing argument 'ROBOT'.", info)
    assert missing.endswith("; for example: dynarm info stanford --html stanford.html")
    other = app._usage("Missing argument 'X'.", SimpleNamespace(command_path="dynarm"))
    assert other == "Missing argument 'X'; see dynarm --help"


def test_help_has_boxes_where_a_terminal_is_wide_enough(monkeypatch):
    terminal = seen_by_a_person(monkeypatch)
    for columns, boxed in ((59, False), (60, True), (100, True)):
        monkeypatch.setattr(
            app.os, "get_terminal_size", lambda *_, c=columns: os.terminal_size((c, 40))
        )
        terminal.width(columns)
        assert app.run(["info", "--help"]) == 0
        assert ("─" in terminal.out.taken()) == boxed
    monkeypatch.setattr(app.os, "get_terminal_size", lambda *_: (_ for _ in ()).throw(OSError()))
    assert app._columns() == 80


def test_without_words_of_its_own_the_program_takes_the_shell_s(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["dynarm", "--version"])
    assert app.run() == 0 and capsys.readouterr().out.startswith("dynarm ")


def test_pieces_of_different_length_make_one_progress():
    told: list[float] = []
    for k in range(2):
        tell = console.part_of(told.append, k, 2, (1.0, 3.0))
        tell(0.5)
        tell(1.0)
    assert told == pytest.approx([0.125, 0.25, 0.625, 1.0])


def test_info_says_on_the_way_how_much_is_counted(monkeypatch):
    """Formulation by formulation: those of long chains take seconds each."""
    import contextlib

    from program import dynarm as command

    from dynarm.cli import info

    told: list[float] = []
    monkeypatch.setattr(info, "progress", lambda what: contextlib.nullcontext(told.append))
    command("info", "two_link").check()
    assert len(told) > 20 and told == sorted(told) and told[0] >= 0 and 0.9 < told[-1] <= 1

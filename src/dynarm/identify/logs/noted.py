"""Remarks about logs, one line a kind: the same remark about several joints or logs is said once, with all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_JOINT = re.compile(r"\bjoint (\d+)\b")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]*\w)")
_DROPPED = re.compile(r"(\d+) rows with missing numbers were left out")
_PLACE = "\x01"  # of a number
_FEW = 3  # that are listed; of more numbers the range is said, of more logs their count


Remark = tuple[str, str, str]  # log, joint (none: empty), text with the joint's place


def left_out(rows: int) -> tuple[str, ...]:
    """The note about so many rows that were dropped; none where there are none."""
    return (f"{rows} rows with missing numbers were left out",) if rows else ()


def of_parts(notes: Iterable[str]) -> tuple[str, ...]:
    """The notes about a recording from those about its parts: each once, rows that were left out counted together."""
    others: dict[str, None] = {}
    rows = 0
    for note in notes:
        dropped = _DROPPED.fullmatch(note)
        if dropped is None:
            others[note] = None
        else:
            rows += int(dropped.group(1))
    return (*left_out(rows), *others)


def one_a_kind(notes: Iterable[str]) -> list[str]:
    """The notes about one log; those that differ in the joint and in numbers only are one."""
    return [_line(same) for same in _kinds([("", notes)])]


def noted(notes: Iterable[tuple[str, Iterable[str]]]) -> list[str]:
    """Lines `log: note` of (log, its notes); what is said of several logs is one line, of many with some names.

    Logs of which it is said of other joints have a line of their own, unless these would be many.
    """
    lines = []
    for same in _kinds(notes):
        groups: dict[tuple[str, ...], list[Remark]] = {}
        for source in dict.fromkeys(source for source, _, _ in same):
            own = [remark for remark in same if remark[0] == source]
            groups.setdefault(tuple(joint for _, joint, _ in own), []).extend(own)
        for group in groups.values() if len(groups) <= _FEW else [same]:
            lines.append(f"{_named([source for source, _, _ in group])}: {_line(group)}")
    return lines


def _kinds(notes: Iterable[tuple[str, Iterable[str]]]) -> Iterable[list[Remark]]:
    """The remarks of each kind."""
    kinds: dict[str, list[Remark]] = {}
    for source, told in notes:
        for note in dict.fromkeys(told):
            at = _JOINT.search(note)
            joint = at.group(1) if at else ""
            text = note if at is None else f"{note[: at.start()]}joint \0{note[at.end() :]}"
            kinds.setdefault(_NUMBER.sub(_PLACE, text), []).append((source, joint, text))
    return kinds.values()


def _line(same: Sequence[Remark]) -> str:
    """Remarks of one kind as one."""
    joints = list(dict.fromkeys(joint for _, joint, _ in same))
    line = _together([text for _, _, text in same])
    if len(joints) > 1:
        joints = sorted(joints, key=int) if len(joints) > _FEW else joints
        line = line.replace("joint \0 rests", "joint \0 rest")
        line = line.replace("joint \0", f"joints {', '.join(joints)}")
    return line.replace("\0", joints[0])


def _named(sources: Iterable[str]) -> str:
    names = list(dict.fromkeys(sources))
    if len(names) <= _FEW:
        return ", ".join(names)
    return f"{len(names)} logs ({', '.join(names[:_FEW])}, ...)"


def _together(texts: list[str]) -> str:
    """One text of several that differ in their numbers."""
    columns = zip(*(_NUMBER.findall(text) for text in texts), strict=True)
    told = iter([_several(list(dict.fromkeys(column))) for column in columns])
    return _NUMBER.sub(lambda _: next(told), texts[0])


def _several(numbers: list[str]) -> str:
    if len(numbers) <= _FEW:
        return ", ".join(numbers)
    return f"{min(numbers, key=float)} to {max(numbers, key=float)}"

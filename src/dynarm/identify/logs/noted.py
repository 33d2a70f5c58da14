"""Remarks about logs, one line a kind: the same remark about several joints or logs is said once, with all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_JOINT = re.compile(r"\bjoint (\d+)\b")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]*\w)")
_PLACE = "\x01"  # of a number
_FEW = 3  # that are listed; of more numbers the range is said, of more logs their count


def one_a_kind(notes: Iterable[str]) -> list[str]:
    """The notes about one log; those that differ in the joint and in numbers only are one."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for note in dict.fromkeys(notes):
        at = _JOINT.search(note)
        joint = at.group(1) if at else ""
        text = note if at is None else f"{note[: at.start()]}joint \0{note[at.end() :]}"
        kinds.setdefault(_NUMBER.sub(_PLACE, text), []).append((joint, text))
    lines = []
    for same in kinds.values():
        joints = list(dict.fromkeys(joint for joint, _ in same))
        line = _together([text for _, text in same])
        if len(joints) > 1:
            line = line.replace("joint \0 rests", "joint \0 rest")
            line = line.replace("joint \0", f"joints {', '.join(joints)}")
        lines.append(line.replace("\0", joints[0]))
    return lines


def noted(notes: Iterable[tuple[str, Iterable[str]]]) -> list[str]:
    """Lines `log: note` of (log, its notes); what is said of several logs is one line."""
    kinds: dict[str, dict[str, list[str]]] = {}
    for source, told in notes:
        for line in one_a_kind(told):
            joints = "|".join(re.findall(r"\bjoints? [\d, ]*\d", line))
            key = _NUMBER.sub(_PLACE, line) + joints
            kinds.setdefault(key, {}).setdefault(source, []).append(line)
    return [
        f"{', '.join(same) if len(same) <= _FEW else f'{len(same)} logs'}: "
        f"{_together([line for lines in same.values() for line in lines])}"
        for same in kinds.values()
    ]


def _together(texts: list[str]) -> str:
    """One text of several that differ in their numbers."""
    columns = zip(*(_NUMBER.findall(text) for text in texts), strict=True)
    told = iter([_several(list(dict.fromkeys(column))) for column in columns])
    return _NUMBER.sub(lambda _: next(told), texts[0])


def _several(numbers: list[str]) -> str:
    if len(numbers) <= _FEW:
        return ", ".join(numbers)
    return f"{min(numbers, key=float)} to {max(numbers, key=float)}"

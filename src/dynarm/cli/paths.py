"""dynarm mobile --path: a path out of a CSV file, driven in the shortest time."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from ..border.digits import written
from ..border.files import content, named
from ..errors import FormatError, InputError
from .console import busy, print_json, say, show_table

if TYPE_CHECKING:
    from ..mobile.robot import MobileManipulator
    from .standing import Posed

MOST = 64 * 2**20  # bytes of a path


def read_path(robot: MobileManipulator, file: str) -> tuple[list[float], list[list[float]]]:
    """Times and coordinates of a CSV file whose columns are t and the robot's coordinates, in any order."""
    where = named(Path(file))
    try:
        lines = content(Path(file), MOST).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise FormatError(f"{where} is no text; give a CSV file of t and coordinates") from None
    rows = [row for row in csv.reader(lines) if row]
    wanted = ["t", *robot.coordinate_names]
    heads = [word.strip() for word in rows[0]] if rows else []
    if sorted(heads) != sorted(wanted):
        raise FormatError(
            f"{where} has the columns {', '.join(heads) or 'of nothing'}; give {', '.join(wanted)}"
        )
    order = [heads.index(word) for word in wanted]
    table = []
    for k, row in enumerate(rows[1:]):
        try:
            values = [written(row[place].strip()) for place in order]
        except (ValueError, IndexError):
            raise FormatError(
                f"{where}, row {k + 2}: {','.join(row)[:60]} is no row of numbers"
            ) from None
        table.append(values)
    return [row[0] for row in table], [row[1:] for row in table]


def drive(
    robot: MobileManipulator, file: str, asked: Posed, html: str | None, as_json: bool
) -> int:
    """The path in the shortest time: told, as data, and on a page."""
    import numpy as np

    if asked.adhesion is None:
        raise InputError("--path needs --adhesion, the friction coefficient of the ground")
    t, q = read_path(robot, file)
    with busy("looking for the shortest time"):
        fast = robot.retime((t, q), asked.adhesion, gravity=asked.gravity, load=asked.load)
    if html is not None:
        from ..report.standing import path_page

        moved = fast.motion
        ground = robot.ground(moved.q, moved.z, moved.zd, asked.gravity, asked.load)
        path_page(robot, fast, ground, html)
    words, counts = np.unique(np.array(fast.by), return_counts=True)
    shares = {str(w): float(c) / len(fast.by) for w, c in zip(words, counts, strict=True)}
    if as_json:
        columns = dict(zip(robot.speed_names, fast.motion.z.T.tolist(), strict=True))
        print_json(
            {
                "robot": robot.name,
                "time": fast.time,
                "used": fast.used,
                "between": fast.between,
                "status": fast.status,
                "limited_by": shares,
                "t": fast.motion.t,
                "s": fast.s,
                "rate": fast.rate,
                "speeds": columns,
                "files": [] if html is None else [html],
            }
        )
        return 0
    say(f"{robot.name}: {fast.status}")
    rows = [[word, f"{100 * part:.0f}"] for word, part in shares.items()]
    show_table("What limits the path", ["limited by", "% of the points"], rows)
    if html is not None:
        say(f"wrote {html}")
    return 0

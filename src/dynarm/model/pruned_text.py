"""What the header of a pruned model says: what was saved, and where its forces may be trusted."""

from __future__ import annotations

import numpy as np

from ..graph.graph import Count
from .state_box import StateBox

HEAD = ("joint", "limit", "q from", "q to", "|qd|", "|qdd|")


def about_pruned(count: Count, exact: Count, limit: np.ndarray, box: StateBox | None) -> str:
    """A comment in C: operations, and joint by joint the limit and the bounds of the states that it is promised for."""
    saved = f"Pruned: {count.total} operations of {exact.total}"
    if box is None:
        return f"""/* {saved}, judged along one motion only.
 * Joint forces of other motions may be off by more than was asked for.
 */
"""
    columns = (limit, box.low, box.high, box.speed, box.acceleration)
    rows = [
        HEAD,
        *((str(i), *map(_short, row)) for i, row in enumerate(zip(*columns, strict=True))),
    ]
    lines = "".join(
        f" *   {row[0]:<5}" + "".join(f"{x:>11}" for x in row[1:]) + "\n" for row in rows
    )
    return f"""/* {saved}.
 * Joint forces are off by the limit [N m or N] at most where all joints are within these bounds [rad or m, and s]:
{lines} */
"""


def _short(x: float) -> str:
    return f"{x:.4g}"

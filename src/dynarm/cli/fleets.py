"""dynarm identify --by: robots of one kind, each by itself and all together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .console import print_json, progress, say, show_table
from .files import new_folder

if TYPE_CHECKING:
    from ..border.kinds import Json, Kept
    from ..identify.dataset.files import Dataset
    from ..identify.fleet.result import Fleet
    from ..robot.arm import Arm
    from .datasets import Bulk

_SHOWN = 20  # rows of a table


def identify_fleet(
    arm: Arm,
    data: tuple[Dataset, str],
    options: dict[str, Kept],
    out: tuple[str, bool],
    as_json: bool,
    bulk: Bulk,
) -> int:
    """Fit every robot of a dataset, write tables and a page, and print what stands out; the exit code.

    bulk: names the cluster, if any.
    data: the logs, and what tells robots apart. out: the folder, and whether one that is there is replaced.
    """
    from ..identify.fleet.fitting import fit_fleet
    from ..report.fleet import page

    with progress("fitting robots") as done:

        def tell(some: int, whole: int) -> None:
            done(some / whole, f"fitting robots, {some} of {whole}")

        with bulk.client() as client:
            fleet = fit_fleet(arm, *data, progress=tell, client=client, **options)
    with new_folder(*out) as folder:
        fleet.frame.to_csv(folder / "robots.csv", index=False)
        fleet.shared.to_csv(folder / "shared.csv", index=False)
        page(fleet, folder / "fleet.html")
    if as_json:
        print_json(_as_data(fleet, out[0]))
        return 0
    rows = [
        [one.robot, one.what, f"{one.deviations:+.1f}", f"{one.critical:.1f}"]
        for one in fleet.outliers[:_SHOWN]
    ]
    if rows:
        show_table("robots that stand out", ["robot", "by", "deviations", "named beyond"], rows)
    listed = {f"  {one}" for one in fleet.outliers[:_SHOWN]}  # in the table
    for line in fleet.summary().splitlines():
        if line not in listed:
            say(line)
    say(f"wrote {out[0]}/robots.csv, shared.csv, fleet.html")
    return 0


def _as_data(fleet: Fleet, folder: str) -> Json:
    pool = fleet.pool
    return {
        "robots": list(fleet.robots),
        "unknowns": list(fleet.names),
        "mean": pool.mean.tolist(),
        "mean_std": pool.mean_std.tolist(),
        "spread": pool.spread.tolist(),
        "outliers": [
            {"robot": one.robot, "what": one.what, "deviations": one.deviations}
            for one in fleet.outliers
        ],
        "drift": [
            {
                "robot": one.robot,
                "what": one.what,
                "trend": one.trend,
                "std": one.trend_std,
                "period": one.period,
            }
            for one in fleet.drifting_
        ],
        "left_out": list(fleet.left_out),
        "notes": list(fleet.notes),
        "folder": folder,
    }

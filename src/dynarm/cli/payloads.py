"""dynarm identify with --payload: what the arm carries, by a fit of it without, or by logs of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..border.arguments import shown
from ..border.toml_text import toml_value
from ..errors import InputError
from .console import busy, print_json, say, show_table
from .files import new_folder
from .options import LOGS, ROBOT, Portion, check_logs, load_arm

if TYPE_CHECKING:
    from ..border.kinds import Json
    from ..identify.carried import Payload
    from ..identify.logs.log import Log
    from ..identify.result import Fit
    from ..robot.arm import Arm

PAYLOAD = typer.Option(
    [],
    "--payload",
    metavar="LOG",
    help="A log of the arm carrying something: its mass, by --base fit.toml or logs without it.",
)
MAYBE_ROBOT = typer.Argument(
    "", help=ROBOT.help, autocompletion=ROBOT.autocompletion, show_default=False
)
MAYBE_LOGS = typer.Argument(None, help=LOGS.help, show_default=False)
FILES = ("payload.toml", "model.toml")
UNITS = ("kg", "m", "kg m^2")


@dataclass(frozen=True, slots=True)
class LoadedLogs:
    """What --payload was given with: the robot, its logs without payload, those with it, and how they are read."""

    robot: str
    portion: Portion
    logs: Sequence[str]
    loaded: Sequence[str]
    how: tuple[str | None, str | None]

    @property
    def by_fit(self) -> bool:
        """Whether --base names a fit, because there are no logs without the payload."""
        return not self.logs


def given(robot: str, logs: Sequence[str] | None, loaded: Sequence[str]) -> list[str]:
    """The logs, none where --payload may go without; a robot or logs that are missing are asked for."""
    if not robot and not loaded:
        raise InputError(
            "ROBOT is missing; give its name or a path: dynarm identify two_link log.csv"
        )
    if not logs and not loaded:
        raise InputError(
            f"LOGS are missing; give one or more of the robot, for example dynarm identify {robot} log.csv"
        )
    return list(logs or ())


def identify_carried(wish: LoadedLogs, out: str, force: bool, as_json: bool) -> int:
    """Find the payload, write it and the arm that carries it; the exit code."""
    from ..identify.logs.log import Log
    from ..identify.payload import identify_payload

    check_logs([*wish.logs, *wish.loaded], wish.how[0])
    tool = wish.portion.tools[0] if len(wish.portion.tools) == 1 else None
    fit = _fit(wish) if wish.by_fit else None
    arm = fit.record.terms.arm if fit is not None else load_arm(wish.robot, wish.portion)
    with busy("reading"):
        without = [Log.read(path, *wish.how) for path in wish.logs]
        loaded = [Log.read(path, *wish.how) for path in wish.loaded]
    with busy("fitting"):
        load = identify_payload(arm, fit if fit is not None else without, loaded, tool)
    carrying = (fit.arm_ if fit is not None else arm).with_payload(
        load.mass, load.com, load.inertia, tool
    )
    with busy("writing"), new_folder(out, force) as folder:
        _write(load, arm, carrying, Path(folder))
    errors = [] if fit is None else _errors(fit, load, arm, loaded, tool)
    if as_json:
        print_json(_as_data(load, arm, errors, out))
    else:
        _show(load, arm, errors, out)
    return 0


def _fit(wish: LoadedLogs) -> Fit:
    """The fit that --base names, of the robot that was named, if one was."""
    from ..identify.saved import load_fit

    if wish.portion.base is None:
        raise InputError(
            "--payload needs the arm without it: give --base fit.toml, which dynarm identify writes, or logs of the "
            "robot without the payload before it"
        )
    fit = load_fit(wish.portion.base)
    own = fit.record.terms.arm
    if wish.robot:
        named = load_arm(wish.robot, wish.portion._replace(base=None))
        if named.joint_names != own.joint_names:
            raise InputError(
                f"{wish.portion.base} is a fit of {shown(own.name)} with joints {', '.join(own.joint_names)}; robot "
                f"{shown(named.name)} has {', '.join(named.joint_names)}: give its fit, or leave ROBOT out"
            )
    return fit


def _errors(
    fit: Fit, load: Payload, arm: Arm, loaded: Sequence[Log], tool: str | None
) -> list[tuple[str, float, float]]:
    """By joint: its name, the RMS error of the arm alone along the loaded logs, and with the payload [N m]."""
    import numpy as np

    from ..identify.added import unexplained

    alone, carried = np.zeros(arm.nv), np.zeros(arm.nv)
    count = 0
    for log in loaded:
        without, with_it = unexplained(fit, arm, log, tool, load.parameters)
        alone, carried = alone + (without**2).sum(axis=0), carried + (with_it**2).sum(axis=0)
        count += len(without)
    pairs = zip(arm.joint_names, np.sqrt(alone / count), np.sqrt(carried / count), strict=True)
    return [(name, float(a), float(b)) for name, a, b in pairs]


def rows_of(load: Payload) -> list[tuple[str, float, float, str]]:
    """What is said of a payload: name, value, deviation (infinite: not determined), unit."""
    from ..identify.carried import PARAMETERS

    rows = [("mass", load.mass, load.mass_std, UNITS[0])]
    rows += [
        (f"centre {axis}", float(x), float(s), UNITS[1])
        for axis, x, s in zip("xyz", load.com, load.com_std, strict=True)
    ]
    about = load.inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
    rows += [
        (name, float(x), float(s), UNITS[2])
        for name, x, s in zip(PARAMETERS[4:], about, load.inertia_std, strict=True)
    ]
    return rows


def _word(value: float, std: float) -> str:
    """How well a number is known."""
    if not std < float("inf"):
        return "not by this motion"
    return "known" if std < 0.2 * abs(value) else "known to its deviation" if std else "known"


def _show(load: Payload, arm: Arm, errors: Sequence[tuple[str, float, float]], out: str) -> None:
    rows = [
        [
            name,
            f"{value:.4g}",
            "-" if std == float("inf") else f"{std:.2g}",
            unit,
            _word(value, std),
        ]
        for name, value, std, unit in rows_of(load)
    ]
    title = f"{arm.name}: payload in the tool's frame, inertia about its centre"
    show_table(title, ["", "value", "std", "unit", "by the logs"], rows)
    if errors:
        told = [[name, f"{a:.3g}", f"{b:.3g}"] for name, a, b in errors]
        show_table("RMS error [N m or N]", ["joint", "arm alone", "with the payload"], told)
    low, high = load.mass - 1.96 * load.mass_std, load.mass + 1.96 * load.mass_std
    say(f"mass {load.mass:.4g} kg, 95 % between {max(low, 0):.4g} and {high:.4g} kg")
    if load.mass_std > 0.5 * abs(load.mass):
        say("the mass is hardly told by these logs: move the arm more, and in several poses")
    if not load.consistent:
        say("no body has the fitted numbers; the nearest possible one is shown")
    say(f"wrote {', '.join(FILES)} into {out}")


def _write(load: Payload, arm: Arm, carrying: Arm, folder: Path) -> None:
    lines = [
        'kind = "payload"',
        f"robot = {toml_value(arm.name)}",
        *(
            f"{name} = {toml_value(_plain(value))}"
            for name, value in (
                ("mass", load.mass),
                ("mass_std", load.mass_std),
                ("com", load.com),
                ("com_std", load.com_std),
                ("inertia", load.inertia),
                ("parameters", load.parameters),
                ("std", load.std),
                ("consistent", load.consistent),
            )
        ),
    ]
    (folder / FILES[0]).write_text("\n".join(lines) + "\n", encoding="utf-8")
    carrying.save(folder / FILES[1])


def _plain(value: object) -> object:
    """Arrays as lists."""
    return value.tolist() if hasattr(value, "tolist") else value


def _as_data(load: Payload, arm: Arm, errors: Sequence[tuple[str, float, float]], out: str) -> Json:
    return {
        "robot": arm.name,
        "mass": load.mass,
        "mass_std": load.mass_std,
        "com": load.com,
        "com_std": load.com_std,
        "inertia": load.inertia,
        "inertia_std": load.inertia_std,
        "determined": load.determined,
        "consistent": load.consistent,
        "rmse": [
            {"joint": name, "alone": alone, "with_payload": carried}
            for name, alone, carried in errors
        ],
        "files": [f"{out}/{name}" for name in FILES],
    }

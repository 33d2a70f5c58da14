"""Arguments and options that several commands share, and how their texts become numbers."""

from __future__ import annotations

import functools
import inspect
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar, get_type_hints

import typer

from ..border.arguments import path_of, real
from ..border.digits import NUMBER
from ..border.words import shown
from ..errors import FileError, InputError, UnknownName
from ..identify.logs.readers import known_formats

if TYPE_CHECKING:
    from ..border.kinds import Foreign, Maker, Outside
    from ..robot.arm import Arm

LONGEST = 1e9  # seconds of anything, some thirty years
_NUMBER = re.compile(rf"{NUMBER}(?:deg)?|[+-]?(?:inf|nan)")


def robots(incomplete: str = "") -> list[str]:
    """Built-in robots for the shell's completion; files are completed by the shell itself."""
    from ..robot.about import catalogue

    return [name for name in catalogue() if name.startswith(incomplete)]


def mobile_robots(incomplete: str = "") -> list[str]:
    """Built-in mobile manipulators for the shell's completion."""
    from ..mobile.files import catalogue

    return [name for name in catalogue() if name.startswith(incomplete)]


ROBOT = typer.Argument(
    help="A built-in robot's name, or a path to a .urdf, .xacro, .xml (MJCF) or .toml file.",
    autocompletion=robots,
    show_default=False,
)
BASE = typer.Option(
    None, "--base", metavar="LINK", help="Link where the chain begins; default: the root."
)
TIP = typer.Option(
    None, "--tip", metavar="LINK", help="Link where the chain ends; default: the whole robot."
)
FLOATING = typer.Option(False, "--floating", help="The base link of a URDF moves freely.")
TOOLS = typer.Option(
    [], "--tool", metavar="LINK", help="A link whose frame is a tool; may be repeated."
)
FREEZE = typer.Option(
    [],
    "--freeze",
    metavar="JOINT=POSITION",
    help="Hold a joint there [rad or m]; may be repeated.",
)
SNAP = typer.Option(
    True, "--snap/--no-snap", help="Rounded angles such as 1.5708 are taken as exact."
)
MIMIC = typer.Option(
    True, "--mimic/--no-mimic", help="Joints that follow others do so, and are none of their own."
)
XACRO = typer.Option(
    [], "--xacro", metavar="NAME=VALUE", help="An argument of a .xacro file; may be repeated."
)
PACKAGES = typer.Option(
    [], "--package", metavar="NAME=FOLDER", help="A package that files are in; may be repeated."
)
MASSLESS = typer.Option(
    False, "--allow-massless", help="Moving links of a URDF may have no inertia."
)
JSON = typer.Option(False, "--json", help="Print JSON for machines.")
FORMULATION = typer.Option(
    [], "--formulation", "-f", metavar="QUANTITY=NAME", help="Force a formulation; may be repeated."
)
LOGS = typer.Argument(help=f"One or more logs: {known_formats()}.", show_default=False)
CHANNELS = typer.Option(
    None,
    "--channels",
    metavar="TOML",
    help="What the logs' columns are; default: <log>.toml, else the usual names.",
)
TOPIC = typer.Option(
    None,
    "--topic",
    metavar="NAME",
    help="Of a bag with several of joint states; default: /joint_states.",
)
FRICTION = typer.Option(
    False, "--friction", help="Friction and motor inertia of the joints take part."
)
CUTOFF = typer.Option(
    None, "--cutoff", help="Of the low-pass filter [Hz]; default: chosen from the data."
)
LIMIT = typer.Option(
    0.5, "--limit", min=0.0, help="Largest error over deviation of a joint that passes."
)
FORCE = typer.Option(False, "--force", help="Write into a folder that is not empty.")
HTML = typer.Option(None, "--html", metavar="FILE", help="Write a page with pictures too.")


class Portion(NamedTuple):
    """Which part of a robot's file is meant, and what of it moves: options of all commands that load one."""

    base: str | None = BASE
    tip: str | None = TIP
    floating: bool = FLOATING
    tools: list[str] = TOOLS
    freeze: list[str] = FREEZE
    snap: bool = SNAP
    mimic: bool = MIMIC
    xacro: list[str] = XACRO
    packages: list[str] = PACKAGES
    allow_massless: bool = MASSLESS

    @property
    def given(self) -> dict[str, object]:
        """{option: what it was given}, None where it was left out."""
        declared: tuple[Foreign, ...] = PORTION
        told = zip(declared, self, strict=True)
        given: dict[str, object] = {o.param_decls[0]: said or None for o, said in told}
        for kept, both in ((self.snap, "--snap/--no-snap"), (self.mimic, "--mimic/--no-mimic")):
            del given[both]
            given[both.partition("/")[2]] = None if kept else True
        return given

    @property
    def xacro_arguments(self) -> dict[str, str]:
        """{argument: value} from texts such as prefix=left_."""
        return _pairs("--xacro", self.xacro, "prefix=left_")

    @property
    def package_folders(self) -> dict[str, str]:
        """{package: folder} from texts such as my_robot=folder."""
        return _pairs("--package", self.packages, "my_robot=folder")


PORTION = Portion()
Command = TypeVar("Command", bound="Maker")


def with_group(argument: str, group: Foreign) -> Callable[[Command], Command]:
    """What gives a command the options of a group, a named tuple of them, in the place of one argument."""
    kind = type(group)

    def spread(command: Command) -> Command:
        keyword = inspect.Parameter.KEYWORD_ONLY
        taken: list[inspect.Parameter] = []
        for parameter in inspect.signature(command).parameters.values():
            if parameter.name != argument:
                taken.append(parameter.replace(kind=keyword))
                continue
            for name, hint in get_type_hints(kind).items():
                default = getattr(group, name)
                taken.append(inspect.Parameter(name, keyword, default=default, annotation=hint))

        @functools.wraps(command)
        def called(**given: Outside) -> Outside:
            whole = kind(**{name: given.pop(name) for name in kind._fields})
            return command(**{argument: whole}, **given)

        called.__annotations__ = {p.name: p.annotation for p in taken}
        called.__signature__ = inspect.Signature(taken)  # type: ignore[attr-defined]
        return called  # type: ignore[return-value]

    return spread


with_portion = with_group("portion", PORTION)


def load_arm(robot: str, portion: Portion) -> Arm:
    """The arm that the arguments name."""
    from ..robot.files import load

    return load(
        robot,
        base=portion.base,
        tip=portion.tip,
        floating=portion.floating or None,  # as the file says
        tools=list(portion.tools) or None,
        freeze=frozen(portion.freeze) or True,
        snap=portion.snap,
        mimic=portion.mimic,
        xacro=portion.xacro_arguments or None,
        packages=portion.package_folders or None,
        allow_massless=portion.allow_massless,
    )


def _pairs(option: str, texts: Iterable[str], example: str) -> dict[str, str]:
    """{name: text} from texts such as name=text, or name:=text as ROS writes it."""
    values: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        name = name.removesuffix(":")
        if not (sign and name):
            raise InputError(f"{option} is {shown(text)}; give name=value, for example {example}")
        if values.get(name, value) != value:
            raise InputError(
                f"{option} gives {shown(values[name])} and {shown(value)} for {name}; leave one out"
            )
        values[name] = value
    return values


def frozen(texts: Iterable[str]) -> dict[str, float]:
    """{joint: position} from texts such as elbow=0.5; what stands before the last sign is the name."""
    positions: dict[str, float] = {}
    for text in texts:
        name, sign, number = text.rpartition("=")
        if not (sign and name and _NUMBER.fullmatch(number)):
            raise InputError(
                f"--freeze is {shown(text)}; give joint=position, for example elbow=0.5"
            )
        if number.endswith("deg"):
            raise InputError(f"--freeze {name} is at {number}; give radians, or metres for a slide")
        value = float(number)
        if not math.isfinite(value):
            raise InputError(f"--freeze has {shown(number)} for {name}; give finite numbers")
        if positions.get(name, value) != value:
            raise InputError(
                f"--freeze holds {name} at {positions[name]:g} and at {value:g}; leave one out"
            )
        positions[name] = value
    return positions


def numbers(
    option: str,
    text: str,
    size: int,
    names: Sequence[str] = (),
    angles: Sequence[bool] = (),
    above: float | None = None,
) -> list[float]:
    """`size` numbers from text such as "0.1,-2,0.5" or one number for all of them.

    angles: which of them are angles, and may end in deg. Numbers are finite; or, where they must lie above something,
    limits, of which infinity is one.
    """
    parts = text.replace(",", " ").split()
    example = f"give numbers such as {option} {','.join(['0.1'] * min(size, 3))}"
    if not parts or not all(_NUMBER.fullmatch(p) for p in parts):
        raise InputError(f"{option} is {shown(text)}; {example}")
    if len(parts) not in (1, size):
        listed = ", ".join(names)
        order = f" in the order {listed}" if listed else ""
        raise InputError(f"{option} has {len(parts)} numbers; give {size}{order}, or one for all")
    parts = parts * size if len(parts) == 1 else parts
    told = [f" for {name}" for name in names] or [""] * size
    for part, angle, place in zip(parts, angles or [False] * size, told, strict=True):
        if part.endswith("deg") and not angle:
            raise InputError(f"{option} has {part}{place}, which is no angle; give SI units there")
    values = [_number(p) for p in parts]
    for part, value in zip(parts, values, strict=True):
        if above is None and not math.isfinite(value):
            raise InputError(f"{option} has {shown(part)}; give finite numbers")
        if above is not None and not value > above:
            raise InputError(f"{option} has {shown(part)}; give numbers above {above:g}")
    return values


def _number(text: str) -> float:
    if text.endswith("deg"):
        return math.radians(float(text[:-3]))
    return float(text)


def turning(arm: Arm) -> list[bool]:
    """Which positions of the independent joints are angles."""
    return [arm.joints[i].revolute for i in arm.coupling.masters]


def seconds(option: str, value: float) -> float:
    """A length of time [s]."""
    wanted = f"seconds, above 0 and at most {LONGEST:g}"
    return real(option, value, wanted, lambda x: 0 < x <= LONGEST)


def refuse_given(belongs: str, given: Mapping[str, object]) -> None:
    """Refuse options that were given (are neither None nor False) but have no meaning; `belongs` says why."""
    for option, value in given.items():
        if value is not None and value is not False:
            raise InputError(f"{option} {belongs}")


def check_logs(logs: Sequence[str], channels: str | None, held: Sequence[str] = ()) -> None:
    """Refuse names of logs and declarations that name nothing."""
    wanted = f"the name of a log: {known_formats()}"
    for what, paths in (("LOGS", logs), ("--validate", held)):
        for path in paths:
            path_of(what, path, wanted)
    if channels is not None:
        path_of("--channels", channels, "the name of a TOML file, or leave it out")


def formulation_wishes(texts: Iterable[str]) -> dict[str, str]:
    """{quantity: name} from texts such as mass_matrix=composite_1."""
    wishes: dict[str, str] = {}
    for text in texts:
        quantity, sign, name = text.partition("=")
        if not (sign and quantity and name):
            raise InputError(
                f"--formulation is {shown(text)}; give quantity=name, for example mass_matrix=composite_1"
            )
        if wishes.get(quantity, name) != name:
            raise InputError(
                f"--formulation asks for {quantity}={wishes[quantity]} and for {quantity}={name}; leave one out"
            )
        wishes[quantity] = name
    return wishes


def words(option: str, text: str, known: Iterable[str]) -> tuple[str, ...]:
    """Words of a list with commas, each of them known."""
    chosen = tuple(dict.fromkeys(w.strip() for w in text.split(",") if w.strip()))
    known = list(known)
    if not chosen:
        raise InputError(f"{option} is {shown(text)}; give names such as {option} {known[0]}")
    for word in chosen:
        if word not in known:
            raise UnknownName(f"word in {option}", word, known)
    return chosen


def writable(path: Outside, what: str, suffixes: tuple[str, ...]) -> Path:
    """The path, after a look whether it can be written: before long work, not after."""
    wanted = f"the name of a file that ends in {' or '.join(suffixes)}"
    target = path_of(what, path, wanted)
    if target.suffix.lower() not in suffixes:
        raise InputError(f"{what} is '{target}'; end the name in {' or '.join(suffixes)}")
    folder = target.parent
    if not folder.is_dir():
        raise FileError(
            f"there is no folder {folder} for {target.name}; make it first, or name another"
        )
    if target.is_dir():
        raise FileError(f"{target} is a folder; name a file")
    if not os.access(folder, os.W_OK):
        raise FileError(f"no permission to write into {folder}; name another folder")
    return target


def writable_all(targets: Mapping[str, tuple[str | None, tuple[str, ...]]]) -> None:
    """Look at every file that was asked for. targets: {option: (path or None, endings)}; no two may be one file."""
    seen: dict[Path, str] = {}
    for option, (path, suffixes) in targets.items():
        if path is None:
            continue
        place = writable(path, option, suffixes).absolute()
        if place in seen:
            raise InputError(f"{seen[place]} and {option} both name {path}; give each its own file")
        seen[place] = option

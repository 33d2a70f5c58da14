"""export_c(model, folder): a model as C99 for controllers, with a header, a build file and a self-test."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from ..border.arguments import flag, items, path_of, shown
from ..border.folders import check_folder, write_folder
from ..border.kinds import Outside
from ..border.words import brief
from ..errors import InputError, KindError
from ..graph.graph import Graph, Port
from ..machine.emit import c
from ..machine.emit.c_files import comment, files
from ..machine.emit.c_names import check_prefix, identifier
from ..plan.sizes import packed_pattern, slopes_pattern
from ..robot.arm import Arm, Joint
from ..robot.sheet import link_name, rule
from .friction_state import FUNCTIONS as STATE_FUNCTIONS
from .friction_state import FrictionState
from .model import Model

DEFAULT = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "bias",
    "gravity",
    "coriolis_matrix",
    "mass_matrix_and_bias",
    "kinetic_energy",
    "potential_energy",
    "forward_kinematics",
    "jacobian",
)
WHOLE = ("mass_matrix_packed", "center_of_mass", "center_of_mass_jacobian", "momentum")
OF_TOOLS = ("forward_kinematics", "jacobian")
UNITS = {
    "q": "joint positions [rad or m]",
    "qd": "joint velocities [rad/s or m/s]",
    "qdd": "joint accelerations [rad/s^2 or m/s^2]",
    "tau": "joint forces [N m or N]",
    "wrench": "force [N] then torque [N m] on the tool, in its axes",
    "gravity": "gravitational acceleration in the base link [m/s^2]",
    "values": "minimal parameters",
    "friction_state": "what friction remembers: deflections of its elements, then joint positions [rad or m]",
}
REMEMBERING = (
    *STATE_FUNCTIONS,
    "inverse_dynamics:friction_state",
    "forward_dynamics:friction_state",
)


BASE_UNITS = {
    "q": "position [m] and unit quaternion x y z w of the base in the world, joint positions [rad or m]",
    "qd": "linear and angular velocity of the base in its own axes, joint velocities",
    "qdd": "their rates",
    "tau": "force and moment on the base in its own axes, joint forces",
    "gravity": "gravitational acceleration in the world [m/s^2]",
}
LINE = 100  # letters of a line of numbers


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export has written.

    `dynarm.export_c` and `dynarm.export_wasm` return it.

    Attributes
    ----------
    folder : Path
        The folder that was written.
    name : str
        What files and functions begin with.
    functions : tuple[str, ...]
        Names of the functions.
    stack : int
        Bytes of temporaries of the function that needs most.

    Examples
    --------
    >>> model = dynarm.compile(dynarm.load("two_link"))
    >>> made = dynarm.export_c(model, "c", quantities=["gravity"])
    >>> made.functions
    ('two_link_gravity',)
    """

    folder: Path
    name: str
    functions: tuple[str, ...]
    stack: int  # bytes of the largest function: of its temporaries, or, with bounded_stack, of its stack at most

    __repr__ = brief


@dataclass(frozen=True, slots=True)
class Written:
    """What an export makes C of: functions by name, and what is said about them."""

    name: str  # of the robot
    default: tuple[str, ...]  # functions that are written where none are asked for
    graph: Callable[[str], Graph]
    about: Callable[[int], str]  # bytes of stack -> the comment that the header begins with
    prototype: Callable[[str, Graph, c.Dialect], str]
    defines: Mapping[str, int]  # numbers that the header gives names
    types: Callable[[c.Dialect], str] = lambda dialect: ""  # what it declares before the functions


class Exportable(Protocol):
    """A robot that says itself what is to be written."""

    def written(self) -> Written: ...


def export_c(
    model: Model | Exportable,
    folder: str | os.PathLike[str],
    *,
    quantities: Sequence[str] = DEFAULT,
    name: str | None = None,
    single: bool = False,
    bounded_stack: bool = False,
    force: bool = False,
) -> Exported:
    """Write <name>.h, <name>.c, <name>_test.c and CMakeLists.txt into the folder, all or nothing.

    Parameters
    ----------
    model : Model | Exportable
        A compiled model, or a mobile manipulator.
    folder : path-like
        The folder to write into; made where it is missing.
    quantities : sequence of str, optional
        Names as in `model.functions`; 'inverse_dynamics:wrench' becomes
        <name>_inverse_dynamics_wrench.
    name : str, optional
        What files and functions begin with; default: the robot's name, made a C name that
        nothing else uses.
    single : bool, default False
        Write float instead of double.
    bounded_stack : bool, default False
        Temporaries share one array, which is slower, and the header says how many bytes of
        stack a function takes at most.
    force : bool, default False
        Write into a folder that is not empty, replacing the files of the same names and
        keeping their modes; links are refused.

    Returns
    -------
    Exported
        What was written: files, the functions' names, and more.

    Examples
    --------
    >>> files = dynarm.export_c(dynarm.compile(dynarm.load("two_link")), "c", quantities=["gravity"])
    >>> import os
    >>> sorted(os.listdir("c"))
    ['CMakeLists.txt', 'two_link.c', 'two_link.h', 'two_link_test.c']
    """
    bounded = flag("bounded_stack", bounded_stack)
    source = source_of(model, bounded)
    dialect = c.Dialect(prefix_of(source, name), flag("single", single), bounded)
    folder = check_folder(path_of("folder", folder, "a path"), flag("force", force))
    wanted = wanted_of(source, quantities)
    written, stack = texts(source, wanted, dialect)
    write_folder(folder, written)
    names = tuple(f"{dialect.prefix}_{q.replace(':', '_')}" for q in wanted)
    return Exported(folder, dialect.prefix, names, stack)


def texts(source: Written, names: Sequence[str], dialect: c.Dialect) -> tuple[dict[str, str], int]:
    """Name -> text of every file, and the bytes of stack of the largest function."""
    graphs = {name.replace(":", "_"): source.graph(name) for name in names}
    codes = {name: c.function(graph, name, dialect) for name, graph in graphs.items()}
    stack = max(code.stack for code in codes.values())
    prototypes = "\n".join(source.prototype(q, graph, dialect) for q, graph in graphs.items())
    header = _header(source, stack, prototypes, dialect)
    return files(header, graphs, codes, dialect), stack


def _header(source: Written, stack: int, prototypes: str, dialect: c.Dialect) -> str:
    """A header that C and C++ may include, once."""
    prefix = dialect.prefix.upper()
    guard = f"{prefix}_H"
    defines = "".join(f"\n#define {prefix}_{key} {n}\n" for key, n in source.defines.items())
    return f"""{source.about(stack)}#ifndef {guard}
#define {guard}
{defines}
#ifdef __cplusplus
#define restrict
extern "C" {{
#endif

{source.types(dialect)}{prototypes}
#ifdef __cplusplus
}}
#undef restrict
#endif

#endif
"""


def source_of(model: Model | Exportable, bounded: bool = False) -> Written:
    """What is written of a model, or of a robot that says so itself."""
    return _of_model(model, bounded) if isinstance(model, Model) else _of_robot(model)


def prefix_of(source: Written, name: str | None) -> str:
    """What files and functions begin with: the name given, or one made of the robot's."""
    if name is not None and not isinstance(name, str):
        raise KindError(f"name is {shown(name)}; give the word that names of files begin with")
    return identifier(source.name) if name is None else check_prefix(name)


def wanted_of(source: Written, quantities: Sequence[str]) -> Sequence[str]:
    """The names of the functions to write."""
    if quantities is DEFAULT:
        return source.default
    wanted = f"a list of names such as {source.default[:2]}"
    names = items("quantities", quantities, wanted)
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"quantities is {shown(quantities)}; give {wanted}")
    return names


def _of_robot(robot: Outside) -> Written:
    if not callable(getattr(robot, "written", None)) or isinstance(robot, type):
        raise KindError(f"model is {shown(robot)}; give dynarm.compile(arm)")
    written: Written = robot.written()
    return written


def _of_model(model: Model, bounded: bool) -> Written:
    arm, units = model.arm, _units(model.arm)

    def prototype(name: str, graph: Graph, dialect: c.Dialect) -> str:
        ports = _ports(graph.inputs, graph.outputs, units)
        ports += _patterns(name, arm)
        about = f"/* {comment(_summary(name))}\n{ports} */\n"
        return f"{about}{c.signature(name, graph.inputs, graph.outputs, dialect)};\n"

    about, defines = partial(_about, model, bounded), {"JOINTS": arm.n}
    default: tuple[str, ...] = DEFAULT
    if not _plain(arm):
        defines |= {"COORDINATES": arm.nq, "SPEEDS": arm.nv, "TOOLS": len(arm.all_tools)}
        default = tuple(q for q in (*DEFAULT, *WHOLE) if arm.all_tools or q not in OF_TOOLS)
    memory = model.friction_state.size
    if not memory:
        return Written(arm.name, default, model.graph, about, prototype, defines)
    defines["FRICTION_STATE"] = memory
    told = (*default, *REMEMBERING)
    return Written(arm.name, told, model.graph, about, prototype, defines, partial(_state, model))


def _state(model: Model, dialect: c.Dialect) -> str:
    """The struct that keeps a friction state, with a comment on what it holds."""
    prefix, names = dialect.prefix, ", ".join(comment(n) for n in model.friction_state.names)
    held = "\n".join(f" *   {line}" for line in textwrap.wrap(names, LINE))
    return f"""/* What friction remembers from one sample to the next: deflections (joint:stroke), then positions,
{held}
 * {prefix}_friction_state_start begins it at rest, {prefix}_friction_state_next takes it on to the next sample,
 * and ..._friction_state functions take its numbers. The functions without it do with a guess. */
typedef struct {{
    {dialect.real} numbers[{prefix.upper()}_FRICTION_STATE];
}} {prefix}_friction_state;

"""


def _plain(arm: Arm) -> bool:
    """Whether it is a chain with one tool, whose q and qd are its joints'."""
    return arm.serial and arm.coupling.free and arm.tools is None


def _units(arm: Arm) -> dict[str, str]:
    """What the entries of each input are."""
    units = UNITS | (BASE_UNITS if arm.floating else {})
    if arm.tools is not None:
        names = ", ".join(tool.name for tool in arm.tools)
        units["wrench"] = f"force [N] then torque [N m] on each tool, in its axes: {comment(names)}"
    return units


def _patterns(name: str, arm: Arm) -> str:
    """Where the entries of packed matrices belong, in lines of a comment."""
    told = []
    if name == "inverse_dynamics_derivatives_packed":
        told.append(("dtau_dq and dtau_dqd hold these entries", slopes_pattern(arm)))
    if name in ("mass_matrix_packed", "inverse_dynamics_derivatives_packed"):
        told.append(("M holds these entries of the lower triangle", packed_pattern(arm)))
    lines = []
    for words, pattern in told:
        places = " ".join(f"{row},{column}" for row, column in pattern)
        lines += textwrap.wrap(f"{words} (row,column): {places}", LINE)
    return "".join(f"\n *   {line}" for line in lines)


def _about(model: Model, bounded: bool, stack: int) -> str:
    arm = model.arm
    bound = (
        f"Stack of any function: at most {stack} bytes, without what the C library's functions take."
        if bounded
        else f"Temporaries of any function: {stack} bytes of stack if the compiler keeps them all."
    )
    if _plain(arm):
        joints = "Joints in this order:\n" + "\n".join(
            f" *   {i}  {_kind(j)}  {comment(str(j.name))}" for i, j in enumerate(arm.joints)
        )
    else:
        joints = _order(arm)
    where = "world" if arm.floating else "base link"
    extras = "armature and friction included" if model.friction else "rigid bodies only"
    return f"""/* Dynamics of the robot '{comment(arm.name)}', {arm.n} joints, {extras}. Generated by dynarm.
 *
 * SI units, radians. Arrays hold one sample; matrices are stored by rows. {joints}
 * Gravity in the {where}: {comment(str(tuple(arm.gravity)))} m/s^2.
 *
 * C99; no allocation, no global state, reentrant; outputs must not overlap inputs.
 * {bound}
 */
"""


def _kind(joint: Joint) -> str:
    return "rotational" if joint.revolute else "translational"


def _order(arm: Arm) -> str:
    """What the entries of q and qd of a whole robot are, in lines of a comment."""
    k = arm.nq - len(arm.joint_names)
    v = arm.nv - len(arm.joint_names)
    lines = [f"q has {arm.nq} entries, qd, qdd and tau have {arm.nv}:"]
    if arm.floating:
        lines.append(
            " *   q 0-2, 3-6    position and unit quaternion x y z w of the free base in the world"
        )
        lines.append(
            " *   qd 0-2, 3-5   its linear and angular velocity in its own axes; tau: force and moment"
        )
    for place, i in enumerate(arm.coupling.masters):
        told = f"{_kind(arm.joints[i])}  {comment(str(arm.joints[i].name))}{_hung(arm, i)}"
        lines.append(f" *   q {k + place}, qd {v + place}   {told}")
    for joint in arm.joints:
        if joint.mimic:
            lines.append(f" *   {comment(str(joint.name))} follows: {comment(rule(arm, joint))}")
    for place, tool in enumerate(arm.tools or ()):
        lines.append(
            f" *   tool {place}   {comment(tool.name)}, on {comment(link_name(arm, tool.joint))}"
        )
    return "\n".join(lines)


def _hung(arm: Arm, i: int) -> str:
    """On what a joint hangs, where the robot branches."""
    return f", on {comment(link_name(arm, arm.parents[i]))}" if arm.branched else ""


def _summary(quantity: str) -> str:
    if quantity in STATE_FUNCTIONS:
        method = getattr(FrictionState, quantity.removeprefix("friction_state_"))
    else:
        name = quantity.removesuffix("_friction_state").removesuffix("_wrench")
        method = getattr(Model, name, None)
    return (getattr(method, "__doc__", None) or quantity).split("\n")[0].replace("(..., ", "(")


def _ports(inputs: Sequence[Port], outputs: Sequence[Port], units: Mapping[str, str]) -> str:
    lines = [f" *   in   {p.name}[{p.size}]  {units.get(p.name, '')}" for p in inputs]
    lines += [
        f" *   out  {c.output_name(p, inputs)}[{p.size}]  {'x'.join(map(str, p.shape)) or 'scalar'}"
        for p in outputs
    ]
    return "\n".join(line.rstrip() for line in lines)

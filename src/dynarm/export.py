"""export_c(model, folder): a model as C99 for controllers, with a header, a build file and a self-test."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .arguments import flag, items, path_of, shown
from .border.words import brief
from .errors import FileError, InputError, KindError
from .graph import Graph, Port
from .machine import c
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
UNITS = {
    "q": "joint positions [rad or m]",
    "qd": "joint velocities [rad/s or m/s]",
    "qdd": "joint accelerations [rad/s^2 or m/s^2]",
    "tau": "joint forces [N m or N]",
    "wrench": "force [N] then torque [N m] on the tool, in its axes",
    "gravity": "gravitational acceleration in the base link [m/s^2]",
    "values": "minimal parameters",
}
CASES = 4


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    folder: Path
    name: str
    functions: tuple[str, ...]
    stack: int  # bytes of temporaries of the largest function

    __repr__ = brief


def export_c(
    model: Model,
    folder: str | os.PathLike[str],
    *,
    quantities: Sequence[str] = DEFAULT,
    name: str | None = None,
    single: bool = False,
    bounded_stack: bool = False,
    force: bool = False,
) -> Exported:
    """Write <name>.h, <name>.c, <name>_test.c and CMakeLists.txt into the folder, all or nothing.

    quantities: names as in `model.functions`; 'inverse_dynamics:wrench' becomes <name>_inverse_dynamics_wrench.
    single: float instead of double. bounded_stack: temporaries share one array whose size the header states. An
    existing folder that is not empty is refused unless force=True, which replaces the files of the same names.
    """
    if not isinstance(model, Model):
        raise KindError(f"model is {shown(model)}; give dynarm.compile(arm)")
    if name is not None and not isinstance(name, str):
        raise KindError(f"name is {shown(name)}; give the word that the C names begin with")
    prefix = c.identifier(model.arm.name) if name is None else c.check_prefix(name)
    dialect = c.Dialect(prefix, flag("single", single), flag("bounded_stack", bounded_stack))
    folder = _folder(folder, flag("force", force))
    graphs = {q.replace(":", "_"): model.graph(q) for q in _wanted(quantities)}
    codes = {q: c.function(graph, q, dialect) for q, graph in graphs.items()}
    stack = max(code.stack for code in codes.values())
    files = {
        f"{prefix}.h": _header(model, graphs, codes, dialect),
        f"{prefix}.c": _source(codes, dialect),
        f"{prefix}_test.c": _selftest(graphs, dialect),
        "CMakeLists.txt": _cmake(prefix),
    }
    _write(folder, files)
    return Exported(folder, prefix, tuple(f"{prefix}_{q}" for q in graphs), stack)


def _wanted(quantities: Any) -> list[str]:
    wanted = f"a list of names such as {DEFAULT[:2]}"
    names = items("quantities", quantities, wanted)
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"quantities is {shown(quantities)}; give {wanted}")
    return names


def _folder(path: Any, force: bool) -> Path:
    """The folder to write into: a new one, an empty one, or, with force, any."""
    folder = path_of("folder", path, "a path")
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{folder} is a file; name a folder")
    if folder.is_dir() and any(folder.iterdir()) and not force:
        raise FileError(
            f"folder {folder} is not empty; name a new one, or force=True (--force) to write into it"
        )
    return folder


def _write(folder: Path, files: dict[str, str]) -> None:
    """All files appear together: written beside the folder first, then renamed into place."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise FileError(
            f"cannot write to {folder.parent}: {error.strerror}; name another folder"
        ) from None
    try:
        draft.chmod(0o755)
        for name, text in files.items():
            (draft / name).write_text(text, encoding="utf-8")
        if folder.is_dir() and any(folder.iterdir()):
            for name in files:
                os.replace(draft / name, folder / name)
        else:
            os.replace(draft, folder)
    except OSError as error:
        raise FileError(
            f"cannot write to {folder}: {error.strerror}; nothing was left behind"
        ) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _header(
    model: Model, graphs: dict[str, Graph], codes: dict[str, c.Code], dialect: c.Dialect
) -> str:
    arm, prefix = model.arm, dialect.prefix
    guard = f"{prefix.upper()}_H"
    joints = "\n".join(
        f" *   {i}  {'rotational' if j.revolute else 'translational'}  {_comment(str(j.name))}"
        for i, j in enumerate(arm.joints)
    )
    stack = max(code.stack for code in codes.values())
    bound = (
        f"Temporaries of any function: at most {stack} bytes of stack, in one array."
        if dialect.bounded
        else f"Temporaries of any function: {stack} bytes of stack if the compiler keeps them all."
    )
    extras = "armature and friction included" if model.friction else "rigid bodies only"
    prototypes = "\n".join(
        f"/* {_comment(_summary(q))}\n{_ports(graph.inputs, graph.outputs)} */\n"
        f"{c.signature(q, graph.inputs, graph.outputs, dialect)};\n"
        for q, graph in graphs.items()
    )
    return f"""/* Dynamics of the robot '{_comment(arm.name)}', {arm.n} joints, {extras}. Generated by dynarm.
 *
 * SI units, radians. Arrays hold one sample; matrices are stored by rows. Joints in this order:
{joints}
 * Gravity in the base link: {_comment(str(tuple(arm.gravity)))} m/s^2.
 *
 * C99; no allocation, no global state, reentrant; outputs must not overlap inputs.
 * {bound}
 */
#ifndef {guard}
#define {guard}

#define {prefix.upper()}_JOINTS {arm.n}

#ifdef __cplusplus
#define restrict
extern "C" {{
#endif

{prototypes}
#ifdef __cplusplus
}}
#undef restrict
#endif

#endif
"""


def _summary(quantity: str) -> str:
    method = getattr(Model, quantity.removesuffix("_wrench"))
    return (method.__doc__ or quantity).split("\n")[0].replace("(..., ", "(")


def _ports(inputs: Sequence[Port], outputs: Sequence[Port]) -> str:
    lines = [f" *   in   {p.name}[{p.size}]  {UNITS.get(p.name, '')}" for p in inputs]
    lines += [
        f" *   out  {c.output_name(p, inputs)}[{p.size}]  {'x'.join(map(str, p.shape)) or 'scalar'}"
        for p in outputs
    ]
    return "\n".join(line.rstrip() for line in lines)


def _comment(text: str) -> str:
    """Text that cannot end a C comment or leave its line."""
    return (
        "".join(ch if ch.isprintable() else " " for ch in text)
        .replace("*/", "* /")
        .replace("/*", "/ *")
    )


def _source(codes: dict[str, c.Code], dialect: c.Dialect) -> str:
    pairs = f"{dialect.prefix}_sincos("
    helper = c.sincos(dialect) + "\n" if any(pairs in code.text for code in codes.values()) else ""
    bodies = "\n".join(code.text for code in codes.values())
    return f'#include "{dialect.prefix}.h"\n\n#include <math.h>\n\n{helper}{bodies}'


def _selftest(graphs: dict[str, Graph], dialect: c.Dialect) -> str:
    """A program that compares every function with stored cases and says PASS or FAIL."""
    rng = np.random.default_rng(1)
    cases = [_cases(quantity, graph, dialect, rng) for quantity, graph in graphs.items()]
    return f"""#include "{dialect.prefix}.h"

#include <math.h>
#include <stdio.h>

{chr(10).join(stored for stored, _ in cases)}

{_comparison(dialect)}
int main(void)
{{
    double worst = 0.0;
    int i;
{chr(10).join(calls for _, calls in cases)}
    printf("%s {len(graphs)} functions, {CASES} cases each, largest relative error %.1e\\n",
           worst < 1.0 ? "PASS" : "FAIL", worst);
    return worst < 1.0 ? 0 : 1;
}}
"""


def _cases(
    quantity: str, graph: Graph, dialect: c.Dialect, rng: np.random.Generator
) -> tuple[str, str]:
    """Stored inputs and outputs of one function, and the loop that compares them."""
    given = [rng.uniform(-1.5, 1.5, (CASES, *p.shape)) for p in graph.inputs]
    if dialect.single:
        given = [x.astype(np.float32).astype(float) for x in given]
    wanted = graph.evaluate(*given)
    names = [f"{quantity}_{k}" for k in range(len(given) + len(wanted))]
    blocks = []
    for label, values in zip(names, (*given, *wanted), strict=True):
        flat = values.reshape(CASES, -1)
        rows = ",\n".join(
            "    {" + ", ".join(_literal(x, dialect) for x in row) + "}" for row in flat
        )
        size = flat.shape[1]
        blocks.append(f"static const {dialect.real} {label}[{CASES}][{size}] = {{\n{rows}\n}};")
    made = [f"        {dialect.real} out{k}[{p.size}];" for k, p in enumerate(graph.outputs)]
    args = [f"{label}[i]" for label in names[: len(given)]]
    args += [f"out{k}" for k in range(len(wanted))]
    checks = [
        f'        worst = check("{quantity}", out{k}, {names[len(given) + k]}[i], {p.size}, worst);'
        for k, p in enumerate(graph.outputs)
    ]
    call = f"        {dialect.prefix}_{quantity}({', '.join(args)});"
    loop = "\n".join([f"    for (i = 0; i < {CASES}; i++) {{", *made, call, *checks, "    }"])
    return "\n".join(blocks), loop


def _comparison(dialect: c.Dialect) -> str:
    """The C function that compares an output with what is stored for it."""
    real = dialect.real
    tolerance = "2e-4" if dialect.single else "1e-11"
    return f"""static double check(const char *what, const {real} *got, const {real} *want, int n, double worst)
{{
    double scale = 1.0;
    int i;
    for (i = 0; i < n; i++) {{
        if (fabs((double)want[i]) > scale) {{
            scale = fabs((double)want[i]);
        }}
    }}
    for (i = 0; i < n; i++) {{
        const double error = fabs((double)got[i] - (double)want[i]) / scale;
        if (!(error <= {tolerance})) {{
            printf("FAIL %s[%d]: %.17g, stored %.17g\\n", what, i, (double)got[i], (double)want[i]);
            worst = 1.0;
        }} else if (error > worst) {{
            worst = error;
        }}
    }}
    return worst;
}}
"""


def _literal(value: Any, dialect: c.Dialect) -> str:
    return dialect.number(float(np.float32(value)) if dialect.single else float(value))


def _cmake(prefix: str) -> str:
    return f"""cmake_minimum_required(VERSION 3.10)
project({prefix} C)

set(CMAKE_C_STANDARD 99)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library({prefix} STATIC {prefix}.c)
target_include_directories({prefix} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
if(UNIX)
  target_link_libraries({prefix} m)
endif()

enable_testing()
add_executable({prefix}_test {prefix}_test.c)
target_link_libraries({prefix}_test {prefix})
add_test(NAME {prefix} COMMAND {prefix}_test)
"""

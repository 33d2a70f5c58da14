"""Exported C under options that let a compiler reorder arithmetic, on x87 and on aarch64: the same numbers."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

import dynarm
from dynarm.mobile import load as load_mobile
from dynarm.mobile.export import export_c as export_mobile

GCC = shutil.which("gcc")
CROSS, QEMU = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("qemu-aarch64")
WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
OPTIONS = {
    "O2": "-O2",
    "gnu": "-O2 -std=gnu17",
    "Ofast": "-Ofast",
    "fast-math": "-O2 -ffast-math",
    "unsafe": "-O2 -funsafe-math-optimizations",
    "associative": "-O2 -fassociative-math -fno-signed-zeros -fno-trapping-math",
}
X87 = {"x87": "-O2 -mfpmath=387", "x87 fast": "-Ofast -mfpmath=387"}
FINITE = {"Ofast", "fast-math", "x87 fast"}  # imply -ffinite-math-only
QUANTITIES = ("inverse_dynamics", "forward_dynamics", "gravity")
needs_gcc = pytest.mark.skipif(GCC is None, reason="gcc is not installed")
needs_qemu = pytest.mark.skipif(
    CROSS is None or QEMU is None, reason="gcc-aarch64-linux-gnu or qemu-user is not installed"
)


def x87_here() -> bool:
    """Whether gcc compiles for a processor that has an x87."""
    return GCC is not None and "x86" in subprocess.check_output([GCC, "-dumpmachine"], text=True)


ALL = OPTIONS | (X87 if x87_here() else {})


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    """(folder, name) by robot and precision."""
    folder = tmp_path_factory.mktemp("c")
    puma, rover = dynarm.compile(dynarm.load("puma560")), load_mobile("tanner2001")
    made = {}
    for single in (False, True):
        arm = dynarm.export_c(puma, folder / f"arm{single}", quantities=QUANTITIES, single=single)
        header, _ = export_mobile(rover, folder / f"rover{single}", ("derivative",), single)
        made["arm", single] = arm.folder, arm.name
        made["rover", single] = header.parent, header.stem
    return made


def built(compiler, options, sources, program):
    command = [compiler, *WARNINGS, *options, *map(str, sources), "-o", str(program), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return program


def passes(done):
    return done.returncode == 0 and done.stdout.startswith("PASS")


@needs_gcc
@pytest.mark.parametrize("single", [False, True], ids=["double", "single"])
@pytest.mark.parametrize("robot", ["arm", "rover"])
@pytest.mark.parametrize("options", ALL)
def test_selftest_passes_with(options, robot, single, exports, tmp_path):
    folder, name = exports[robot, single]
    sources = [folder / f"{name}.c", folder / f"{name}_test.c"]
    program = built(GCC, ALL[options].split(), sources, tmp_path / "t")
    done = subprocess.run([program], capture_output=True, text=True)
    assert passes(done), done.stdout


@needs_qemu
@pytest.mark.parametrize("single", [False, True], ids=["double", "single"])
@pytest.mark.parametrize("robot", ["arm", "rover"])
@pytest.mark.parametrize("options", ["-O2", "-Ofast"])
def test_selftest_passes_on_aarch64(options, robot, single, exports, tmp_path):
    folder, name = exports[robot, single]
    sources = [folder / f"{name}.c", folder / f"{name}_test.c"]
    program = built(CROSS, [options, "-static"], sources, tmp_path / "t")
    done = subprocess.run([QEMU, program], capture_output=True, text=True)
    assert passes(done), done.stdout


DRIVER = """#include "{name}.c"
#include <stdio.h>
int main(void)
{{
    {real} x[4096], s, c;
    size_t n = fread(x, sizeof x[0], 4096, stdin);
    for (size_t i = 0; i < n; i++) {{
        {name}_sincos(x[i], &s, &c);
        fwrite(&s, sizeof s, 1, stdout);
        fwrite(&c, sizeof c, 1, stdout);
    }}
    return 0;
}}
"""


def sincos(x, single, options, exports, tmp_path):
    """sin and cos as the exported function computes them."""
    folder, name = exports["arm", single]
    kind = np.float32 if single else np.float64
    source = tmp_path / "driver.c"
    source.write_text(DRIVER.format(name=name, real="float" if single else "double"))
    program = built(GCC, [f"-I{folder}", *ALL[options].split()], [source], tmp_path / "driver")
    done = subprocess.run([program], input=x.astype(kind).tobytes(), capture_output=True)
    return np.frombuffer(done.stdout, kind).reshape(-1, 2).T


def angles():
    rng = np.random.default_rng(3)
    quarters = np.arange(-63600, 63600, 127) * (np.pi / 2)
    turns = [rng.uniform(-size, size, 500) for size in (1e-8, 1.0, 100.0, 1e5, 1e9, 1e20)]
    return np.concatenate([quarters, *turns, [1e5, -1e5, np.nextafter(1e5, 0), 1e300]])


@needs_gcc
@pytest.mark.parametrize("single", [False, True], ids=["double", "single"])
@pytest.mark.parametrize("options", ALL)
def test_angles_of_every_size(options, single, exports, tmp_path):
    with np.errstate(over="ignore"):
        x = angles().astype(np.float32 if single else np.float64)
    x = x[np.isfinite(x)].astype(float)
    s, c = sincos(x, single, options, exports, tmp_path)
    bound = 1e-7 if single else 4e-16
    assert np.abs(s - np.sin(x)).max() < bound
    assert np.abs(c - np.cos(x)).max() < bound


@needs_gcc
@pytest.mark.parametrize("options", ALL)
def test_what_is_no_number_stays_so(options, exports, tmp_path):
    """Under -ffinite-math-only a compiler may do as it likes; gcc's arithmetic hands NaN on all the same."""
    x = np.array([np.nan, np.inf, -np.inf])
    assert np.isnan(sincos(x, False, options, exports, tmp_path)).all()


@needs_gcc
@pytest.mark.parametrize("options", sorted(FINITE & set(ALL)))
@pytest.mark.parametrize("wrong", ["NAN", "INFINITY", "1e-6"])
def test_selftest_sees_what_fast_math_ignores(options, wrong, exports, tmp_path):
    folder, name = exports["arm", False]
    shutil.copytree(folder, tmp_path / "c")
    source = tmp_path / "c" / f"{name}.c"
    text = source.read_text()
    change = f"g[3] = {wrong} + "
    source.write_text(text.replace("g[3] = ", change, 1))
    assert source.read_text() != text
    sources = [source, tmp_path / "c" / f"{name}_test.c"]
    program = built(GCC, ALL[options].split(), sources, tmp_path / "t")
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 1 and "FAIL gravity[3]" in done.stdout


@needs_gcc
def test_constants_in_single_precision_are_refused_by_the_compiler(exports):
    folder, name = exports["arm", False]
    command = [GCC, "-c", "-fsingle-precision-constant", f"{folder}/{name}.c", "-o", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and "double_constants" in done.stderr

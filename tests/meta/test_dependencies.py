"""What the main path runs without: a user who only computes pays for no plotting, tables or optimiser."""

from __future__ import annotations

import subprocess
import sys

import pytest

PARTS = ("casadi", "pandas", "pyarrow", "plotly", "jinja2", "clarabel", "viser", "rosbags", "jax")
MAIN_PATH = """
import sys
for name in {parts!r}:
    sys.modules[name] = None  # an import of it fails, as where it is not installed
import numpy as np
import dynarm

arm = dynarm.load("puma560")
model = dynarm.compile(arm)
q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 5, 6))
tau = model.inverse_dynamics(q, qd, qdd)
assert np.allclose(model.forward_dynamics(q, qd, tau), qdd, atol=1e-9)
assert dynarm.minimal_parameters(arm).count == 36
model.mass_matrix(q), model.bias(q, qd), model.jacobian(q)
dynarm.export_c(model, {folder!r})
run = dynarm.simulate(model, q[0], qd[0], 0.05)
assert run.t[-1] == 0.05
print("done")
"""


def test_the_main_path_needs_none_of_the_parts(tmp_path):
    program = MAIN_PATH.format(parts=PARTS, folder=str(tmp_path / "c"))
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={"DYNARM_CACHE_DIR": str(tmp_path / "cache"), "PATH": ""},
        timeout=300,
    )
    assert done.stdout.strip() == "done", done.stderr


@pytest.mark.parametrize(
    "module", ["dynarm.graph.trace", "dynarm.model.model", "dynarm.simulation"]
)
def test_these_modules_load_without_casadi(module):
    program = f"import sys; sys.modules['casadi'] = None; import {module}; print('done')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "done", done.stderr

"""What scripts rely on: the options of every command with their defaults and bounds, and energies in JSON."""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from program import dynarm

import dynarm as library
from dynarm.cli.app import COMMANDS

GOLDEN = Path(__file__).parents[2] / "golden" / "command_line.toml"


def interface() -> dict[str, dict[str, str]]:
    """For each command its options and arguments: names, default, and bounds where there are any."""
    return {name: dict(_options(name)) for name in COMMANDS}


def _options(command: str):
    function = getattr(importlib.import_module(f"dynarm.cli.{command}"), command)
    for name, parameter in inspect.signature(function).parameters.items():
        given = parameter.default
        if not hasattr(given, "param_decls"):
            continue  # the context
        bounds = "" if given.min is given.max is None else f" within {given.min} ... {given.max}"
        yield name, f"{' '.join(given.param_decls or ())} = {given.default!r}{bounds}".strip()


def written(found: dict[str, dict[str, str]]) -> str:
    lines = ["# Made by: PYTHONPATH=tests/unit/cli python tests/unit/cli/test_interface.py"]
    for command, options in found.items():
        lines += ["", f"[{command}]"]
        lines += [f"{name} = {json.dumps(words)}" for name, words in options.items()]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_options_defaults_and_bounds_are_those_that_scripts_know(command):
    """A change here is one for users: it belongs into the changelog, and then into the golden file."""
    golden = tomllib.loads(GOLDEN.read_text(encoding="utf-8"))
    assert interface()[command] == golden[command]


def test_energies_of_a_run_are_the_robot_s_at_its_ends():
    words = "simulate two_link --q0 0.3,-0.4 --qd0 1.5,0.2 --torque 3,-1 --time 0.4 --json"
    data = json.loads(dynarm(*words.split()).check().out)
    model = library.compile(library.load("two_link"))

    def energy(q, qd):
        return float(model.kinetic_energy(q, qd) + model.potential_energy(q))

    start, end = energy([0.3, -0.4], [1.5, 0.2]), energy(data["q_end"], data["qd_end"])
    assert abs(start - end) > 0.1
    np.testing.assert_allclose([data["energy_start"], data["energy_end"]], [start, end], rtol=1e-6)
    assert 0 <= data["unexplained_energy"] < 1e-6


def test_a_payload_is_carried_and_not_known_to_the_controller():
    words = ["simulate", "two_link", "--time", "0.2", "--json"]
    plain, loaded = (
        json.loads(dynarm(*words, "--payload", mass).check().out) for mass in ("0", "2.5")
    )
    arm = library.load("two_link").with_payload(2.5)
    run = library.simulate(library.compile(arm), [0, 0], [0, 0], 0.2)
    np.testing.assert_allclose(loaded["q_end"], run.q[-1], rtol=1e-6)
    assert np.abs(np.subtract(plain["q_end"], loaded["q_end"])).max() > 1e-3


if __name__ == "__main__":
    sys.stdout.write(written(interface()))

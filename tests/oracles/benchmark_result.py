"""A small made-up result in the form that `python -m benchmarks` writes."""

from __future__ import annotations

from typing import Any


def timing(seconds: float) -> dict[str, float]:
    return {"best": seconds, "median": seconds}


def benchmark_result() -> dict[str, Any]:
    """Every section once, with numbers that are easily recognised."""
    return {
        "robot": "panda",
        "machine": {"cpu": "some processor", "lanes": 8, "numpy": "2.0"},
        "measured": {"batch": {"date": "2026-11-16", "dynarm": "0.1.0"}},
        "batch": {
            "mass_matrix": {
                "mul": 11,
                "add": 12,
                "peer": "pin.crba",
                "filled": 0.6,
                "filled_by_all": 0.8,
                "differences": {"pin.crba": 1e-15, "other": 1e-3},
                "dynarm": timing(25e-9),
                "peers": {"pin.crba": timing(1e-6)},
                "ratios": {"pin.crba": 40.0},
            },
        },
        "single": {
            "mass_matrix": {
                "timings": {
                    "method": timing(9e-7),
                    "gufunc": timing(8e-7),
                    "pin.crba": timing(1e-6),
                },
                "ratios": {"pin.crba": [1.11, 1.25]},
            }
        },
        "sizes": {
            "limit": 1.9,
            "mass_matrix": {
                "64": {"1": timing(30e-9), "2": timing(31e-9), "gain": 0.97, "ratio": 33.0}
            },
        },
        "compiling": {"mass_matrix": {"cold": 0.25, "warm": 0.0125}},
        "length": {
            "samples": 1024,
            "15": {
                "bias": {"mul": 1, "add": 2, "first_use": 0.5, "dynarm": timing(3e-7), "joint": 1.0}
            },
            "30": {
                "bias": {
                    "mul": 21,
                    "add": 22,
                    "first_use": 1.5,
                    "dynarm": timing(3e-7),
                    "joint": 0.5,
                }
            },
            "derivatives": {"20": 4.0},
        },
        "c": {"exported C, gcc -O2 [ns a sample]": 88.25},
        "identify": {
            "samples": 1000,
            "ours": {"fit [s of one core]": 2.0, "unknowns": 69.0},
            "by_hand": {"fit [s of one core]": 8.0},
            "defaults": {"fit [s of one core]": 4.0},
        },
        "friction_choice": {
            "plain": {"arms": 50.0, "right family [%]": 98.0},
            "slip": {"arms": 50.0, "right family [%]": 94.0},
        },
        "positions": {
            "samples": 2500,
            "encoder's steps [mrad]": 0.111,
            "go2": {
                "dynarm": {"rollout error [mrad]": 0.4, "rollout error, part of sysid's": 0.5},
                "mujoco.sysid, the log's step": {"rollout error [mrad]": 0.8},
            },
        },
        "mobile": {"car": {"python": {"best": 7.5, "median": 8.5}, "operations": {"mul": 9}}},
        "trees": {
            "go2": {
                "inverse_dynamics": {
                    "mul": 670,
                    "add": 665,
                    "cold": 0.6,
                    "difference": 4e-16,
                    "peer": "pin.rneaInParallel(1)",
                    "dynarm": {"best": 54e-9},
                    "theirs": {"best": 1890e-9},
                    "ratio": 35.0,
                }
            }
        },
        "weight": {"plain install": 700.0, "extra [parquet]": {"pyarrow": 150.0}},
        "live": {"payload in C, gcc -O2 [microseconds a sample]": 0.625},
        "excitation": {
            "ur5": {
                "joints": 6,
                "condition": 5.5,
                "free": 5.0,
                "ratio": 1.1,
                "seconds": 20.0,
                "lowest": 0.0125,
                "nearest": 0.0075,
                "pairs": 20,
                "left out": ["'a' against 'b': their capsules overlap in 100% of all poses"],
                "status": "converged",
            },
            "hand": {"refused": "no pose"},
        },
    }

"""What was asked of dynarm on the 7-joint Panda, and what a run measured: met or short, never an error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .bench_live import MICROSECONDS
from .bench_trees import ASKED as WHOLE
from .bench_trees import COLD as WHOLE_COLD
from .bench_trees import PEERS as WHOLE_PEERS

Result = dict[str, Any]  # what `python -m benchmarks` writes
ROBOT = "panda"
RATIO = 1.3  # of condition numbers of exciting motions, with floor and links over without
COLD, COLD_DERIVATIVES, WARM = 0.5, 2.0, 0.05  # s until the first result of a quantity


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that was asked."""

    what: str
    relation: str  # "at least", "at most", "more than"
    asked: float
    than: str  # what follows the asked number only
    measured: Callable[[Result], float]  # KeyError where a section did not run
    digits: int = 1
    unit: str = ""

    def number(self, value: float) -> str:
        """What was measured, in words."""
        return f"{value * self._scale:.{self.digits}f}{self.unit}"

    @property
    def wanted(self) -> str:
        """What was asked, in words."""
        return f"{self.relation} {self.asked * self._scale:g}{self.unit}{self.than}"

    @property
    def _scale(self) -> int:
        return 100 if self.unit == " %" else 1

    def met(self, value: float) -> bool:
        if self.relation == "at least":
            return value >= self.asked
        return value > self.asked if self.relation == "more than" else value <= self.asked


@dataclass(frozen=True, slots=True)
class Verdict:
    """A target and what became of it; None: not measured."""

    target: Target
    measured: float | None

    @property
    def word(self) -> str:
        if self.measured is None:
            return "not measured"
        return "met" if self.target.met(self.measured) else "short"


def verdicts(result: Result) -> list[Verdict]:
    """Every target of the machine's lanes beside the result's figure; none for other robots."""
    if result.get("robot") != ROBOT:
        return []
    asked = targets_of(result.get("machine", {}).get("lanes", 0))
    return [Verdict(target, _measured(target, result)) for target in asked]


def _measured(target: Target, result: Result) -> float | None:
    try:
        return target.measured(result)
    except KeyError:
        return None


# ---- where a result holds its figures


RATIOS = {  # on batches of 4096: the peer, and how many times as fast by lanes of a vector
    "inverse_dynamics": ("pin.rneaInParallel(1)", {4: 28.0, 8: 60.0}),
    "forward_dynamics": ("pin.abaInParallel(1)", {4: 32.0, 8: 60.0}),
    "mass_matrix": ("pin.crba", {4: 28.0, 8: 40.0}),
    "regressor": ("pin.computeJointTorqueRegressor", {4: 25.0, 8: 25.0}),
    "inverse_dynamics_derivatives": ("pin.computeRNEADerivatives", {4: 26.0, 8: 40.0}),
}
FILLED = {4: 0.85, 8: 0.75}  # of the multiply-add slots
ONE_CALL = 4.0  # times as fast as pinocchio's one call, through the method


def _batch(quantity: str, peer: str, asked: float) -> Target:
    def measured(result: Result) -> float:
        return float(result["batch"][quantity]["ratios"][peer])

    name = f"{quantity.replace('_', ' ')}, batch of 4096"
    return Target(name, "at least", asked, f" x {peer}", measured)


def _one_call(quantity: str, peer: str, way: int, relation: str, asked: float) -> Target:
    def measured(result: Result) -> float:
        return float(result["single"][quantity]["ratios"][peer][way])

    through = ("the method", "`model.functions`")[way]
    name = f"one call of {quantity.replace('_', ' ')}, {through}"
    return Target(name, relation, asked, f" x {peer}", measured, 2)


def _exported(result: Result) -> float:
    return float(result["c"]["times faster than pin.rneaInParallel(1)"])


def _in_node(words: str) -> Callable[[Result], float]:
    """Nanoseconds a sample of exported WebAssembly."""

    def measured(result: Result) -> float:
        return float(result["wasm"][f"{words} [ns a sample]"])

    return measured


def _gain(result: Result) -> float:
    return float(result["sizes"]["inverse_dynamics"]["262144"]["gain"])


def _filled(result: Result) -> float:
    return float(result["batch"]["inverse_dynamics"]["filled"])


def _per_joint(result: Result) -> float:
    return float(result["length"]["60"]["inverse_dynamics"]["joint"])


def _first_use(temperature: str, derivatives: bool | None = None) -> Callable[[Result], float]:
    """The slowest quantity's first use; derivatives: True, only those, False, only others."""

    def measured(result: Result) -> float:
        rows = result["compiling"]
        times = [
            r[temperature] for q, r in rows.items() if derivatives in (None, "derivatives" in q)
        ]
        if not times:
            raise KeyError(temperature)
        return float(max(times))

    return measured


def _together(result: Result) -> float:
    return float(sum(row["first_use"] for row in result["length"]["60"].values()))


def _long_derivatives(result: Result) -> float:
    return float(result["length"]["derivatives"]["20"])


def _memory(result: Result) -> float:
    """MB by which a call of the largest batch takes more for itself than one of 4096."""
    rows = result["sizes"]["inverse_dynamics"]
    large, small = rows["262144"]["memory"], rows["4096"]["memory"]
    if large is None or small is None:  # not on Linux
        raise KeyError("memory")
    return float(large - small) / 1e6


def _whole(robot: str, quantity: str, asked: float) -> Target:
    def measured(result: Result) -> float:
        return float(result["trees"][robot][quantity]["ratio"])

    name = f"{robot}, {quantity.replace('_', ' ')}, batch of 1024"
    return Target(name, "at least", asked, f" x {WHOLE_PEERS[quantity]}", measured)


def _whole_cold(result: Result) -> float:
    return float(max(row["cold"] for robot in result["trees"].values() for row in robot.values()))


DRIVES = {"plain": 0.95, "slip": 0.9, "load": 0.9}  # of drawn arms, whose family is chosen right


def _chosen(drive: str, asked: float) -> Target:
    def measured(result: Result) -> float:
        return float(result["friction_choice"][drive]["right family [%]"]) / 100

    return Target(
        f"friction of {drive} drives chosen right", "at least", asked, "", measured, 0, " %"
    )


def _coverage(result: Result) -> list[float]:
    """Of each kind of drive, how often 95 % intervals hold the truth."""
    word = "95 % intervals that hold the truth [%]"
    return [float(row[word]) / 100 for row in result["friction_choice"].values()]


def _least_held(result: Result) -> float:
    return min(_coverage(result))


def _most_held(result: Result) -> float:
    return max(_coverage(result))


def _defaults(result: Result) -> float:
    return float(result["identify"]["defaults"]["fit [s of one core]"])


def _live(result: Result) -> float:
    return float(result["live"]["payload in C, gcc -O2 [microseconds a sample]"])


def _moved(key: str) -> Callable[[Result], float]:
    """A figure of the robot that it is worst of; those that were refused have none."""

    def measured(result: Result) -> float:
        robots = [row for row in result["excitation"].values() if "refused" not in row]
        values = [row[key] for row in robots if row.get(key) is not None]
        if not values:
            raise KeyError(key)
        return float(max(values) if key == "ratio" else min(values))

    return measured


ADMISSIBLE = 1000.0  # µs a state of `admissible` in 0.1.0 at best (1 to 4 ms were measured)


def _ground(figure: str) -> Callable[[Result], float]:
    """µs a state of what the ground carries under TIAGo."""

    def measured(result: Result) -> float:
        return float(result["mobile"]["tiago"][f"ground, {figure}"]["best"])

    return measured


def _since_first(result: Result) -> float:
    return ADMISSIBLE / _ground("batch of 4096, each")(result)


def _positions(robot: str) -> tuple[Target, Target]:
    def part(word: str) -> Callable[[Result], float]:
        return lambda result: float(
            result["positions"][robot]["dynarm"][f"{word}, part of sysid's"]
        )

    name, than = f"{robot}, drives by positions", " x mujoco.sysid"
    return (
        Target(f"{name}, rollout error", "at most", 1.0, than, part("rollout error"), 2),
        Target(f"{name}, time", "at most", 0.1, than, part("fit"), 2),
    )


def targets_of(lanes: int) -> list[Target]:
    """What is asked of a host with so many lanes; ratios and slots where that width has figures to be asked."""
    wide = [
        _batch(quantity, peer, asked[lanes])
        for quantity, (peer, asked) in RATIOS.items()
        if lanes in asked
    ]
    wide += [
        _whole(robot, quantity, asked)
        for quantity, robots in WHOLE.get(lanes, {}).items()
        for robot, asked in robots.items()
    ]
    if lanes in FILLED:
        what = "multiply-add slots filled, inverse dynamics"
        wide.append(Target(what, "at least", FILLED[lanes], "", _filled, 0, " %"))
    return [*wide, *ANYWHERE]


ANYWHERE = (
    *_positions("go2"),
    *_positions("puma560"),
    *(_chosen(drive, asked) for drive, asked in DRIVES.items()),
    Target("95 % intervals that hold the truth, least", "at least", 0.9, "", _least_held, 1, " %"),
    Target("95 % intervals that hold the truth, most", "at most", 0.99, "", _most_held, 1, " %"),
    Target("fit by defaults, 7 joints, 20 s, 1 kHz", "at most", 20, "", _defaults, 1, " s"),
    _one_call("inverse_dynamics", "pin.rnea", 0, "at least", ONE_CALL),
    _one_call("inverse_dynamics", "pin.rnea", 1, "at least", 1.4),
    _one_call("mass_matrix", "pin.crba", 0, "more than", 1),
    Target("exported C, gcc -O2", "at least", 4, " x pin.rneaInParallel(1)", _exported),
    Target("WebAssembly in Node, vectors", "at most", 200, "", _in_node("with vectors"), 0, " ns"),
    Target("WebAssembly in Node, plain", "at most", 450, "", _in_node("without vectors"), 0, " ns"),
    Target("two threads, batch of 262144", "at least", 1.6, " x one thread", _gain, 2),
    Target(
        "inverse dynamics per joint, 60 joints",
        "at most",
        1.5,
        " x that of 15 joints",
        _per_joint,
        2,
    ),
    Target(
        "ground under TIAGo, many states",
        "at most",
        1.0,
        " a state",
        _ground("batch of 4096, each"),
        3,
        " µs",
    ),
    Target(
        "ground under TIAGo, many states",
        "at least",
        500,
        " x `admissible` of 0.1.0",
        _since_first,
        0,
    ),
    Target("ground under TIAGo, exported C", "at most", 5.0, " a call", _ground("c"), 2, " µs"),
    Target("ground under TIAGo, Python", "at most", 20.0, " a call", _ground("python"), 1, " µs"),
    Target("first use, empty cache", "at most", COLD, "", _first_use("cold", False), 2, " s"),
    Target(
        "first use of derivatives, empty cache",
        "at most",
        COLD_DERIVATIVES,
        "",
        _first_use("cold", True),
        2,
        " s",
    ),
    Target(
        "first use of whole robots, empty cache", "at most", WHOLE_COLD, "", _whole_cold, 1, " s"
    ),
    Target("first use from the cache", "at most", WARM, "", _first_use("warm"), 3, " s"),
    Target("first use, 60 joints, four quantities together", "at most", 30, "", _together, 1, " s"),
    Target("first use of derivatives, 20 joints", "at most", 10, "", _long_derivatives, 1, " s"),
    Target(
        "memory beyond inputs and outputs, batch of 262144",
        "at most",
        0.1,  # as exactly as it is counted
        " more than of 4096",
        _memory,
        2,
        " MB",
    ),
    Target("live payload from C", "at most", MICROSECONDS, "", _live, 2, " microseconds"),
    Target(
        "condition of safe motions, worst robot",
        "at most",
        RATIO,
        " x without limits",
        _moved("ratio"),
        2,
    ),
    Target("lowest point of safe motions", "more than", 0, "", _moved("lowest"), 3, " m"),
    Target(
        "least distance of links in safe motions", "more than", 0, "", _moved("nearest"), 3, " m"
    ),
)

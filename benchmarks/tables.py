"""Results as tables of words: what the terminal prints and the site shows. Names of code stand in backticks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .targets import COLD, COLD_DERIVATIVES, WARM, Result, verdicts

Figures = dict[str, Any]
Rows = list[list[str]]
TIMES = "×"
SLOTS = (
    "Slots filled: arithmetic vector instructions over those that a loop of multiply-adds alone issues in the time; "
    "by all: with shuffles, blends and bit operations, counted in the assembly where the kernel has no loops"
)


@dataclass(frozen=True, slots=True)
class Table:
    """Heads and rows; the first `left` columns are words, the others numbers."""

    title: str
    heads: list[str]
    rows: Rows
    left: int = 1
    notes: list[str] = field(default_factory=list)

    def words(self, column: int) -> bool:
        """Whether a column holds words, which begin at the left."""
        return column < self.left or any(len(row[column]) > 30 for row in self.rows)


def tables(name: str, section: Figures) -> list[Table]:
    """The tables of one section's figures."""
    return MAKERS.get(name, lambda figures: [_plain(name, figures)])(section)


def targets(result: Result) -> list[Table]:
    """What was asked and measured: one table, or none where nothing was asked of the robot or measured of it."""
    asked = verdicts(result)
    measured = [v for v in asked if v.measured is not None]
    if not measured:
        return []
    rows = [
        [v.target.what, v.target.wanted, v.target.number(v.measured), v.word]
        for v in measured
        if v.measured is not None
    ]
    met = sum(v.word == "met" for v in measured)
    title = f"Asked and measured: {met} of {len(measured)} targets met"
    others = len(asked) - len(measured)
    notes = [f"{others} more targets were not measured in this run"] if others else []
    return [Table(title, ["what", "asked", "measured", "verdict"], rows, left=2, notes=notes)]


# ---- small words


def _nano(timing: Figures, digits: int = 1) -> str:
    return f"{timing['best'] * 1e9:.{digits}f}"


def _times(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.1f}"


def _number(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _quantities(section: Figures) -> Figures:
    """The quantities of a section, without what else it holds."""
    return {q: r for q, r in section.items() if isinstance(r, dict) and "ratios" in r}


def _left_out(section: Figures) -> list[str]:
    """Peers that were not timed, and why."""
    notes = [
        f"{name} does not take this robot: {why}"
        for name, why in section.get("refused", {}).items()
    ]
    for q, r in _quantities(section).items():
        notes += [
            f"`{name}` differs from dynarm in {q} by {d:.1e} and was not timed"
            for name, d in r.get("differences", {}).items()
            if name not in r["ratios"]
        ]
    return notes


# ---- sections


def _batch(section: Figures) -> list[Table]:
    rows, beside = [], []
    for q, r in _quantities(section).items():
        peer = r["peer"] if r.get("peer") in r["ratios"] else next(iter(r["ratios"]), "")
        filled = (f"{r[k]:.0%}" if r.get(k) else "" for k in ("filled", "filled_by_all"))
        times = f"{_times(r['ratios'][peer])} {TIMES} {peer}" if peer else ""
        rows.append([q, str(r["mul"]), str(r["add"]), _nano(r["dynarm"]), *filled, times])
        beside += [
            [q, f"`{name}`", _nano(r["peers"][name], 0), _times(ratio)]
            for name, ratio in r["ratios"].items()
        ]
    heads = ["quantity", "mul", "add", "ns a sample", "slots filled", "by all", "as fast as"]
    title = "Batches of 4096 samples, one thread"
    mine = Table(title, heads, rows, notes=[SLOTS])
    heads = ["quantity", "peer", "ns a sample", f"dynarm's batch, {TIMES} as fast"]
    return [mine, Table("All peers", heads, _grouped(beside), left=2, notes=_left_out(section))]


def _grouped(rows: Rows) -> Rows:
    """Rows whose first cell says only what is new."""
    return [
        ["" if k and rows[k - 1][0] == row[0] else row[0], *row[1:]] for k, row in enumerate(rows)
    ]


def _single(section: Figures) -> list[Table]:
    rows = []
    for q, r in section.items():
        own = [_nano(r["timings"][way], 0) for way in ("method", "gufunc")]
        peers = list(r["ratios"].items()) or [("", None)]
        for k, (name, ratios) in enumerate(peers):
            theirs = [f"`{name}`", _nano(r["timings"][name], 0), *map(_two, ratios)] if name else []
            rows.append([q, *(own if k == 0 else ["", ""]), *(theirs or [""] * 4)])
    heads = ["quantity", "method [ns]", "gufunc [ns]", "peer", "ns"]
    heads += [f"method, {TIMES} as fast", f"gufunc, {TIMES}"]
    title = "One call from Python on one state"
    return [Table(title, heads, _grouped(rows), notes=_left_out(section))]


def _two(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else _times(ratio)


def _sizes(section: Figures) -> list[Table]:
    section = dict(section)
    limit = section.pop("limit", None)
    notes = [f"Two threads of multiply-adds alone: {limit:.2f} {TIMES} one"] if limit else []
    counts = sorted({int(n) for row in section.values() for n in row})
    heads = ["quantity", *(str(n) for n in counts)]
    one, two = [], []
    for q, row in section.items():
        cells = [row.get(str(n)) for n in counts]
        one.append([q, *(_beside(c and c["1"], c and c.get("ratio")) for c in cells)])
        two.append([q, *(_beside(c and c["2"], c and c["gain"]) for c in cells)])
    return [
        Table(f"Batch sizes, one thread: ns a sample ({TIMES} as fast as pinocchio)", heads, one),
        Table(
            f"Batch sizes, two threads: ns a sample ({TIMES} as fast as one)",
            heads,
            two,
            notes=notes,
        ),
    ]


def _beside(timing: Figures | None, ratio: float | None) -> str:
    """Nanoseconds and how many times as fast."""
    if timing is None:
        return ""
    return _nano(timing) + (f" ({_two(ratio)} {TIMES})" if ratio else "")


def _compiling(section: Figures) -> list[Table]:
    rows = []
    for q, r in section.items():
        asked = COLD_DERIVATIVES if "derivatives" in q else COLD
        rows.append([q, f"{r['cold']:.3f}", f"{asked:g}", f"{r['warm']:.3f}", f"{WARM:g}"])
    heads = ["quantity", "empty cache [s]", "asked", "from the cache [s]", "asked"]
    title = "First use in a fresh process, imports apart, best of three"
    return [Table(title, heads, rows)]


def _length(section: Figures) -> list[Table]:
    chains = {n: row for n, row in section.items() if n.isdigit()}
    rows = [
        [
            n,
            q,
            str(r["mul"]),
            str(r["add"]),
            f"{r['first_use']:.2f}",
            _nano(r["dynarm"], 0),
            f"{r['dynarm']['best'] / int(n) * 1e9:.1f}",
            f"{r['joint']:.2f}",
            _times(r["ratio"]) if "ratio" in r else "",
        ]
        for n, row in chains.items()
        for q, r in row.items()
    ]
    heads = ["joints", "quantity", "mul", "add", "first use [s]", "ns a sample", "ns a joint"]
    heads += [f"a joint, {TIMES} 15 joints", f"{TIMES} as fast as pinocchio"]
    notes = [
        f"first use of inverse_dynamics_derivatives, {n} joints: {seconds:.2f} s"
        for n, seconds in section.get("derivatives", {}).items()
    ]
    title = f"Generic arms, batches of {section.get('samples', 1024)}, cache empty at first"
    return [Table(title, heads, rows, left=2, notes=notes)]


def _identify(section: Figures) -> list[Table]:
    ours, theirs = section["ours"], section["by_hand"]
    rows = [
        [
            key,
            _number(value),
            _number(theirs[key]) if key in theirs else "",
            _times(theirs[key] / value) if key in theirs else "",
        ]
        for key, value in ours.items()
    ]
    heads = ["figure", "dynarm", "pinocchio and SciPy", f"{TIMES} as fast"]
    made = [Table(f"Identification, {section['samples']} samples of the Panda", heads, rows)]
    if "defaults" in section:
        made.append(_plain("Identification by defaults, 20 s of the Panda", section["defaults"]))
    return made


def _mobile(section: Figures) -> list[Table]:
    machines = list(section)
    flats = [dict(_flat(section[machine])) for machine in machines]
    names = list(dict.fromkeys(name for flat in flats for name in flat))
    rows = [[name, *(flat.get(name, "") for flat in flats)] for name in names]
    title = "Control of mobile manipulators [µs]: best (median)"
    return [Table(title, ["figure", *machines], rows)]


def _plain(name: str, section: Figures) -> Table:
    return Table(name, ["figure", "value"], [list(row) for row in _flat(section)])


def _flat(figures: Figures) -> list[tuple[str, str]]:
    """Names and values; what stands inside is named after what it stands in."""
    found: list[tuple[str, str]] = []
    for name, value in figures.items():
        if isinstance(value, dict) and "median" in value:
            found.append((name, f"{_number(value['best'])} ({_number(value['median'])})"))
        elif isinstance(value, dict):
            found += [(f"{name}: {inner}", text) for inner, text in _flat(value)]
        else:
            found.append((name, _number(value)))
    return found


def _trees(section: Figures) -> list[Table]:
    rows = []
    for robot, quantities in section.items():
        for quantity, row in quantities.items():
            times = [f"{1e9 * row[who]['best']:.0f}" for who in ("dynarm", "theirs")]
            counts = [f"{row['mul']} + {row['add']}", f"{row['cold']:.1f}"]
            names = [robot, f"`{quantity}`", f"`{row['peer']}`"]
            rows.append([*names, *times, f"{row['ratio']:.1f}", *counts])
    heads = ["robot", "quantity", "peer", "dynarm [ns]", "peer [ns]", "ratio", "mul + add"]
    title = "Whole robots on a free base, batches of 1024, one thread"
    return [Table(title, [*heads, "first use, empty cache [s]"], rows, left=3)]


def _friction_choice(section: Figures) -> list[Table]:
    words = list(next(iter(section.values())))
    rows = [[word, *(f"{section[drive][word]:.4g}" for drive in section)] for word in words]
    return [Table("Friction chosen on drawn arms, by their drives", ["figure", *section], rows)]


def _excitation(section: Figures) -> list[Table]:
    """What floor and links cost in the condition number, and how near bodies come by coal."""
    rows, notes = [], []
    for name, r in section.items():
        if "refused" in r:
            notes.append(f"{name}: {r['refused']}")
            continue
        low = "no floor" if r["lowest"] is None else f"{1e3 * r['lowest']:.0f}"
        numbers = [f"{r['condition']:.1f}", f"{r['free']:.1f}", f"{r['ratio']:.2f}", low]
        near = f"{1e3 * r['nearest']:.0f}" if r["pairs"] else "no pair"
        rows.append([name, str(r["joints"]), *numbers, near, f"{r['seconds']:.0f}"])
        notes += [f"{name}: {line}" for line in r["left out"]]
    heads = ["robot", "joints", "condition", "without limits", "ratio", "lowest [mm]"]
    heads += ["nearest [mm]", "seconds of one core"]
    title = "Exciting motions within floor and links, looked at with coal"
    return [Table(title, heads, rows, notes=notes)]


def _positions(section: Figures) -> list[Table]:
    robots = {name: rows for name, rows in section.items() if isinstance(rows, dict)}
    floor, made = section.get("encoder's steps [mrad]"), []
    least = "" if floor is None else f", encoder's steps {floor:.3g} mrad"
    for robot, ways in robots.items():
        words = list(dict.fromkeys(word for figures in ways.values() for word in figures))
        rows = [[w, *(f"{v[w]:.3g}" if w in v else "" for v in ways.values())] for w in words]
        title = f"Drives of {robot} from {section['samples']} samples of positions{least}"
        made.append(Table(title, ["figure", *ways], rows))
    return made


MAKERS: dict[str, Callable[[Figures], list[Table]]] = {
    "batch": _batch,
    "single": _single,
    "sizes": _sizes,
    "compiling": _compiling,
    "length": _length,
    "c": lambda section: [_plain("Exported C", section)],
    "wasm": lambda section: [_plain("Exported WebAssembly in Node", section)],
    "simulation": lambda section: [_plain("Simulation beside MuJoCo, 7-joint Panda", section)],
    "identify": _identify,
    "friction_choice": _friction_choice,
    "positions": _positions,
    "scale": lambda section: [_plain("Ten million rows in Parquet", section)],
    "fleet": lambda section: [_plain("Fleets of 50 drawn robots, two of them defective", section)],
    "mobile": _mobile,
    "trees": _trees,
    "weight": lambda section: [_plain("Installed sizes [MB]", section)],
    "live": lambda section: [_plain("Estimates that run along", section)],
    "excitation": _excitation,
}

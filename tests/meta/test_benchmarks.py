"""What `python -m benchmarks` makes of its figures: verdicts, tables, the picture, and what it counts."""

from __future__ import annotations

import json
import math
import platform
import re
import zipfile
from functools import partial
from xml.etree import ElementTree

import numpy as np
import pytest
from benchmarks import bench_trees, contenders, emitted, results
from benchmarks.contenders import Call, States, agreeing, difference, states
from benchmarks.machine import processor
from benchmarks.memory import beyond
from benchmarks.picture import picture
from benchmarks.robots import Robot, robot
from benchmarks.sections import NAMES
from benchmarks.simulated_arms import DRIVES
from benchmarks.tables import MAKERS, tables, targets
from benchmarks.targets import targets_of, verdicts

from dynarm import compile
from dynarm.machine.host import host, on
from dynarm.robot.frames.generic import generic_arm
from oracles.benchmark_result import benchmark_result, timing
from oracles.processors import VECTORS

QUANTITIES = tuple(contenders.INPUTS)


@pytest.fixture(scope="module")
def arm():
    return Robot(generic_arm(3))


def whole_result(ratio=100.0, seconds=1e-3, lanes=8):
    """A result with every figure that a target asks for."""
    batch = {
        q: {
            "mul": 1,
            "add": 1,
            "peer": peer,
            "filled": 0.9,
            "dynarm": timing(1e-8),
            "peers": {peer: timing(1e-6)},
            "ratios": {peer: ratio},
        }
        for q, peer in contenders.PEER.items()
    }
    row = {"mul": 1, "add": 1, "first_use": seconds, "peer": timing(1e-6), "joint": 1.0}
    chains = {
        str(n): {
            q: {**row, "dynarm": timing(1e-9 * n)}
            for q in ("inverse_dynamics", "bias", "mass_matrix", "forward_dynamics")
        }
        for n in (3, 15, 60)
    }
    size = {"gain": ratio, "memory": 0.0}
    tree = {q: {"ratio": ratio, "cold": seconds} for q in bench_trees.PEERS}
    ways = ("batch of 4096, each", "c", "python")
    return {
        "mobile": {"tiago": {f"ground, {way}": {"best": seconds} for way in ways}},
        "trees": {name: tree for name in bench_trees.ROBOTS},
        "robot": "panda",
        "machine": {"cpu": "some processor", "lanes": lanes},
        "batch": batch,
        "single": {
            "inverse_dynamics": {"ratios": {"pin.rnea": [ratio, ratio]}},
            "mass_matrix": {"ratios": {"pin.crba": [ratio, ratio]}},
        },
        "sizes": {"inverse_dynamics": {"4096": size, "262144": size}},
        "compiling": {q: {"cold": seconds, "warm": seconds} for q in QUANTITIES},
        "length": {**chains, "samples": 8, "derivatives": {"20": seconds}},
        "c": {"times faster than pin.rneaInParallel(1)": ratio},
        "friction_choice": dict.fromkeys(DRIVES, drives_result(ratio)),
        "positions": {name: {"dynarm": parts_result(seconds)} for name in ("go2", "puma560")},
        "identify": {"defaults": {"fit [s of one core]": seconds}},
        "live": {"payload in C, gcc -O2 [microseconds a sample]": seconds},
        "excitation": {
            "one": {"ratio": 100 / ratio, "lowest": ratio - 1, "nearest": ratio - 1},
            "other": {"ratio": 1.0, "lowest": None, "nearest": ratio - 1},
            "third": {"refused": "no pose"},
        },
        "wasm": {
            f"{word} vectors [ns a sample]": 1e9 * seconds / 1e4 for word in ("with", "without")
        },
    }


def parts_result(seconds):
    """What drives by positions take of another's error and time."""
    return {f"{word}, part of sysid's": seconds for word in ("rollout error", "fit")}


def drives_result(ratio):
    """Right in as many of 100 arms, and intervals that hold the truth in 95 of them; in none, and in all."""
    held = 95.0 if ratio > 1 else 100.0
    return {"right family [%]": min(ratio, 100.0), "95 % intervals that hold the truth [%]": held}


# ---- asked and measured


@pytest.mark.parametrize("lanes", [4, 8])
def test_every_target_finds_its_figure(lanes):
    assert [v.word for v in verdicts(whole_result(lanes=lanes))] == ["met"] * len(targets_of(lanes))


@pytest.mark.parametrize(
    ("lanes", "asked"),
    [(4, [28, 32, 28, 25, 26, 0.85]), (8, [60, 60, 40, 25, 40, 0.75]), (2, []), (0, [])],
)
def test_targets_are_stated_by_lanes(lanes, asked):
    wide = [
        v.target for v in verdicts(whole_result(lanes=lanes)) if "one call" not in v.target.what
    ]
    wide = [t.asked for t in wide if "4096" in t.what.split(",")[-1] or "slots" in t.what]
    assert wide == asked


def test_one_call_is_asked_of_every_host():
    (one,) = [t for t in targets_of(2) if "inverse dynamics, the method" in t.what]
    assert one.asked == 4


def test_targets_fall_short_by_their_figures():
    """All but the parts of a whole that this result leaves as they are."""
    found = {v.target.what: v.word for v in verdicts(whole_result(ratio=0.5, seconds=100.0))}
    met = [what for what, word in found.items() if word == "met"]
    assert [what.split(",")[0] for what in met] == [
        "multiply-add slots filled",
        "95 % intervals that hold the truth",
        "inverse dynamics per joint",
        "memory beyond inputs and outputs",
    ]


def test_a_target_is_met_at_its_very_number():
    result = whole_result()
    result["batch"]["mass_matrix"]["ratios"]["pin.crba"] = 40.0
    result["single"]["mass_matrix"]["ratios"]["pin.crba"] = [1.0, 1.0]  # faster was asked for
    found = {v.target.what: v.word for v in verdicts(result)}
    assert found["mass matrix, batch of 4096"] == "met"
    assert found["one call of mass matrix, the method"] == "short"


def test_the_slowest_quantity_counts():
    result = whole_result()
    result["compiling"]["regressor"]["cold"] = 0.75
    (late,) = [v for v in verdicts(result) if v.word == "short"]
    assert late.measured == 0.75 and late.target.number(late.measured) == "0.75 s"


def test_what_was_not_measured_is_said():
    found = {v.word for v in verdicts({"robot": "panda"})}
    assert found == {"not measured"}


def test_nothing_was_asked_of_other_robots():
    assert not targets(whole_result() | {"robot": "ur10"})


# ---- a figure belongs to a machine


HERE = {"cpu": "Some(R) Processor 9 @ 2 GHz", "lanes": 4, "dynarm": "0.2.0"}


def test_results_of_machines_are_kept_apart():
    path = results.path_of("models/panda.urdf", HERE)
    assert path.name == "panda-some-processor-9-2-ghz-4-lanes.json"
    assert results.path_of("panda", HERE | {"lanes": 8}) != results.path_of("panda", HERE)
    known = results.path_of("panda", HERE | {"family": 26, "model": 2})
    assert known.name == "panda-some-processor-9-2-ghz-26-2-4-lanes.json"


CPUINFO = """processor\t: 0
vendor_id\t: Some
cpu family\t: 26
model\t\t: 2
model name\t: Some: 9
bugs\t\t:

processor\t: 1
cpu family\t: 6
model\t\t: 7
"""


def test_a_processor_is_known_by_its_numbers_where_it_has_them():
    assert processor(CPUINFO) == {"cpu": "Some: 9", "family": 26, "model": 2}
    assert processor("processor\t: 0\nCPU part\t: 0xd4f\n") == {"cpu": platform.machine()}
    assert processor("") == {"cpu": platform.machine()}


def test_sections_of_one_machine_are_gathered_with_their_days(tmp_path):
    path = tmp_path / "a.json"
    old = {"robot": "panda", "machine": HERE, "batch": 1, "single": 2}
    old["measured"] = {k: {"date": "2026-01-02", "dynarm": "0.1.0"} for k in ("batch", "single")}
    path.write_text(json.dumps(old))
    result = results.begin(path, "panda", HERE, anew=False)
    result = results.put(path, result, "batch", 3)
    assert json.loads(path.read_text()) == result
    assert result["batch"] == 3 and result["single"] == 2
    assert result["measured"]["single"]["date"] == "2026-01-02"
    assert result["measured"]["batch"]["dynarm"] == "0.2.0"
    assert result["measured"]["batch"]["date"] > "2026-01-02"
    assert results.begin(path, "panda", HERE, anew=True).keys() == {"robot", "machine", "measured"}
    results.put(path, result, "scale_100_million", 4)
    again = results.begin(path, "panda", HERE, anew=True)  # an hour's run is not thrown away
    assert again["scale_100_million"] == 4 and list(again["measured"]) == ["scale_100_million"]


@pytest.mark.parametrize(
    "other", [{"lanes": 8}, {"cpu": "Another"}, {"family": 25, "model": 1}, {"model": 2}]
)
def test_figures_of_two_machines_never_share_a_file(tmp_path, other):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"robot": "panda", "machine": HERE | other, "batch": 1}))
    with pytest.raises(results.OtherMachine, match="--json"):
        results.begin(path, "panda", HERE, anew=False)


def test_verdicts_of_a_partial_run_are_its_own():
    stored = whole_result()
    now = results.this_run(stored, ["batch"])
    words = {v.target.what: v.word for v in verdicts(now)}
    assert words["mass matrix, batch of 4096"] == "met"
    assert words["exported C, gcc -O2"] == "not measured"
    (table,) = targets(now)
    assert len(table.rows) == 6 and "6 of 6" in table.title and "45 more" in table.notes[0]
    assert not targets(results.this_run(stored, ["weight"]))


def test_stored_results_say_where_when_and_by_which_version():
    for path in results.FOLDER.glob("*.json"):
        stored = json.loads(path.read_text())
        assert path == results.path_of(stored["robot"], stored["machine"])
        sections = stored.keys() - {"robot", "machine", "measured"}
        assert stored["measured"].keys() == sections
        assert stored["machine"]["dynarm"] and stored["machine"]["lanes"] in (1, 2, 4, 8)


# ---- tables


@pytest.mark.parametrize("name", list(benchmark_result())[3:])
def test_tables_are_rectangular_and_hold_plain_words(name):
    for table in tables(name, benchmark_result()[name]):
        assert table.rows
        for row in table.rows:
            assert len(row) == len(table.heads)
            assert not re.search(r"[{}]|nan|None", " ".join(row)), row


def test_every_section_has_its_tables():
    assert list(MAKERS) == NAMES


def test_nested_figures_are_flat_rows():
    (table,) = tables("mobile", benchmark_result()["mobile"])
    assert table.rows == [["python", "7.5 (8.5)"], ["operations: mul", "9"]]


def test_a_peer_that_differs_is_named():
    notes = [n for t in tables("batch", benchmark_result()["batch"]) for n in t.notes]
    assert "`other` differs from dynarm in mass_matrix by 1.0e-03 and was not timed" in notes


# ---- the picture


def drawn(result):
    return ElementTree.fromstring(picture(result))


def words(tree):
    return ["".join(e.itertext()) for e in tree.iter("{http://www.w3.org/2000/svg}text")]


def test_picture_names_every_quantity_its_peer_and_ratio():
    result = whole_result()
    for k, (quantity, row) in enumerate(result["batch"].items()):
        row["ratios"][row["peer"]] = 20.0 + k
        assert quantity in QUANTITIES
    found = words(drawn(result))
    for k, (quantity, peer) in enumerate(contenders.PEER.items()):
        assert f"{quantity.replace('_', ' ')}{peer}" in found
        assert str(20 + k) in found


def test_bars_are_as_long_as_their_ratios():
    result = whole_result()
    wanted = [10.0 * (k + 1) for k in range(len(QUANTITIES))]
    for ratio, row in zip(wanted, result["batch"].values(), strict=True):
        row["ratios"][row["peer"]] = ratio
    bars = drawn(result).iter("{http://www.w3.org/2000/svg}rect")
    long = [float(bar.get("width")) for bar in bars]
    np.testing.assert_allclose(np.array(long) / long[0], np.array(wanted) / wanted[0], rtol=0.01)


def test_a_number_never_stands_on_the_mark_of_what_was_asked():
    """40 is asked of the mass matrix: just short of it, the number goes behind the mark."""
    places = []
    for ratio in (20.0, 38.0, 41.0):
        result = whole_result()
        result["batch"]["mass_matrix"]["ratios"]["pin.crba"] = ratio
        texts = drawn(result).iter("{http://www.w3.org/2000/svg}text")
        (number,) = [float(e.get("x")) for e in texts if e.text == f"{ratio:.0f}"]
        places.append(number)
    assert places[0] < places[1] < places[2] and places[2] - places[1] < 0.1 * (
        places[1] - places[0]
    )


def test_curves_have_a_point_for_every_length_and_names_apart():
    tree = drawn(whole_result())
    circles = list(tree.iter("{http://www.w3.org/2000/svg}circle"))
    assert len(circles) == 3 * (4 + 4)  # lengths, quantities of dynarm and of pinocchio
    x = sorted({float(c.get("cx")) for c in circles})
    steps = np.diff(x) / math.log(60 / 3)
    np.testing.assert_allclose(steps / sum(steps), np.log([5, 4]) / math.log(20), rtol=0.01)
    names = [
        e for e in tree.iter("{http://www.w3.org/2000/svg}text") if e.get("class", "")[:1] == "c"
    ]
    heights = sorted(float(e.get("y")) for e in names)
    assert len(heights) == 8 and min(np.diff(heights)) > 13


@pytest.mark.parametrize("missing", [("batch",), ("length",), ("batch", "length")])
def test_picture_of_a_partial_result_is_well_formed(missing):
    result = {k: v for k, v in whole_result().items() if k not in missing}
    found = words(drawn(result))
    assert ("joints" in found) == ("length" not in missing)
    assert ("Times as fast as pinocchio" in found) == ("batch" not in missing)


# ---- contenders


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_peers_compute_what_dynarm_computes(arm, quantity):
    from benchmarks.peers import Peers

    peers = Peers(arm, ["pinocchio", "casadi"])
    s = states(3, 16)
    for make, some in ((peers.single, s.each(2)), (peers.batch, [s])):
        calls, worst = agreeing(arm, quantity, partial(make, quantity), some)
        assert calls.keys() == worst.keys() and worst, worst
    assert contenders.PEER[quantity] in {**peers.single(quantity, s), **peers.batch(quantity, s)}


def test_a_wrong_peer_is_not_compared(arm):
    s = states(3, 4)
    right = arm.model.bias(s.q, s.qd)

    def make(_: States):
        return {
            "right": Call(lambda: right, lambda x: x, 4),
            "wrong": Call(lambda: right * (1 + 1e-6), lambda x: x, 4),
        }

    calls, worst = agreeing(arm, "bias", make, [s])
    assert list(calls) == ["right"] and worst["wrong"] > 1e-7


def test_regressors_of_all_parameters_are_compared_in_minimal_ones(arm):
    s = states(3, 4)
    full = arm.model.regressor(s.q, s.qd, s.x) @ arm.model.minimal.matrix
    assert difference(arm, "regressor", s, Call(lambda: full, lambda x: x, 4)) < 1e-12
    full[0, 2, 7] += 1e-3
    assert difference(arm, "regressor", s, Call(lambda: full, lambda x: x, 4)) > 1e-5


def test_urdf_for_peers_has_no_friction():
    panda = robot("panda")
    assert any(joint.friction for joint in panda.arm.joints)
    assert "<dynamics" not in panda.urdf


# ---- what is counted


@pytest.mark.skipif(not host().triple.startswith("x86_64"), reason="counts x86 assembly")
@pytest.mark.parametrize("kind", VECTORS)
def test_emitted_instructions_are_the_arithmetic_and_more(kind):
    """The graph's own count is of arithmetic; rearranging samples and reducing angles come on top."""
    model = compile(robot("panda").arm)
    with on(VECTORS[kind]):
        noted = model.kernel("inverse_dynamics").notes["instructions"]
        assert noted < emitted.instructions(model.graph("inverse_dynamics")) < 2 * noted
        assert emitted.instructions(model.graph("regressor")) is None  # its outputs go in loops


@pytest.mark.parametrize(
    ("line", "counted"),
    [
        ("vfmadd213pd\t(%rdi), %zmm1, %zmm2", True),
        ("vpermt2pd\t%zmm1, %zmm2, %zmm3", True),
        ("vaddpd\t%zmm1, %zmm2, %zmm3 # zmm3 = (a)", True),
        ("vbroadcastsd\t%xmm1, %zmm3", True),
        ("vbroadcastsd\t.LCPI0_0(%rip), %zmm3", False),
        ("vmovapd\t%zmm1, (%rdi)", False),
        ("vextractf64x4\t$1, %zmm0, (%rdi)", False),
        ("movq\t%rax, %rdi", False),
        ("vzeroupper", False),
    ],
)
def test_lines_of_assembly_that_count(line, counted):
    assert emitted.counts(line) is counted


def test_memory_of_a_call_is_seen():
    """100 MB: of memory that other tests have freed, the allocator keeps up to 64 MB for whoever asks next."""
    taken = beyond(lambda: np.ones(12_500_000))
    assert taken is None or 80e6 < taken < 130e6


def test_what_a_wheel_packs_is_told_by_rooms(tmp_path):
    from benchmarks.bench_weight import packed

    root = tmp_path / "pack"
    texts = {
        "a.py": "x = 1\n" * 90,
        "room/b.py": "y = 2\n" * 70,
        "room/deep/c.toml": "z",
        "d.pyc": "no",
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    with zipfile.ZipFile(tmp_path / "whole.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("a.py", "room/b.py", "room/deep/c.toml"):
            archive.write(root / name, f"pack/{name}")
    sizes = packed(root)
    assert list(sizes) == ["room", "modules"]
    assert round(1e6 * sum(sizes.values())) == (tmp_path / "whole.whl").stat().st_size - 22

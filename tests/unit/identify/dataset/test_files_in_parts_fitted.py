"""Datasets of files that are read in parts: the fit of the whole log, whatever the format and the size of a part."""

import re
import struct

import numpy as np
import pytest
import scipy.io
from test_datasets import quiet, same

import dynarm
from dynarm.cli.app import run
from dynarm.errors import DynarmError, InputError
from dynarm.identify.dataset import parts
from dynarm.identify.dataset.files import Dataset, dataset_of
from dynarm.identify.dataset.streamed import Streamed
from dynarm.identify.dataset.survey import survey
from dynarm.identify.logs import readers
from oracles.bag_files import db3, joint_state, mcap
from oracles.simulated_log import multi_sine

ROWS = 130_000  # more than two segments
SMALL = "320MB"
NAMES = ["joint1", "joint2"]


@pytest.fixture(scope="module")
def motion():
    """t, q, tau of a noisy recording with a gap and a spike."""
    arm = dynarm.load("two_link")
    t, q, qd, qdd = (x[:ROWS] for x in multi_sine(2, duration=ROWS / 500.0, rate=500.0))
    rng = np.random.default_rng(5)
    tau = dynarm.compile(arm).inverse_dynamics(q, qd, qdd) + 0.2 * np.tanh(qd / 0.05)
    tau = tau + rng.normal(size=tau.shape) / 50
    q = q + 1e-5 * rng.normal(size=q.shape)
    t = np.round(t + np.where(np.arange(ROWS) > 100_000, 0.5, 0.0) + 10, 4)
    tau[59_995, 0] = 1e4
    return t, q, tau


def written(kind, folder, t, q, tau):
    """The recording as a file of a kind."""
    path = folder / f"log.{kind.split()[-1]}"
    if kind == "npz":
        np.savez(path, t=t, q=q, tau=np.asfortranarray(tau))
    elif kind == "packed npz":
        np.savez_compressed(path, t=t, q=np.asfortranarray(q), tau=tau)
    elif kind == "wide csv":
        table = np.column_stack([t, q, tau])
        lines = [",".join(map(repr, row)) for row in table.tolist()]
        path.write_text("t,q1,q2,tau1,tau2\n" + "\n".join(lines), encoding="utf-16")
    return path


@pytest.fixture(scope="module")
def messages(motion):
    """The recording as joint states; joints in another order now and then."""
    t, q, tau = motion
    names, made = list(dynarm.load("two_link").joint_names), []
    for k in range(len(t)):
        order = slice(None, None, -1) if k % 40_000 == 9 else slice(None)
        data = joint_state(t[k], names[order], q[k, order], [], tau[k, order])
        made.append((round(t[k] * 1e9), data))
    return made


@pytest.mark.parametrize("kind", ["npz", "packed npz", "db3", "mcap", "wide csv"])
def test_every_format_gives_the_fit_of_the_whole(tmp_path, monkeypatch, motion, messages, kind):
    if kind == "db3":
        path = db3(tmp_path / "log.db3", messages)
    elif kind == "mcap":
        pytest.importorskip("rosbags", reason="extra [bags] is not installed")
        path = next(mcap(tmp_path / "bag", messages).glob("*.mcap"))
    else:
        path = written(kind, tmp_path, *motion)
    identifier = dynarm.Identifier(dynarm.load("two_link"), cutoff=8.0, friction=("viscous",))
    log = dynarm.Log.read(path)
    monkeypatch.setattr(readers, "LARGE", 0)
    monkeypatch.setattr("dynarm.identify.logs.channels.read_table", None)  # nothing is read whole
    data = Dataset([path], memory=SMALL)
    for rows in (60_000, 17_001):
        monkeypatch.setattr(parts, "ROWS", rows)
        read = list(parts.parts(path, data.how, identifier.arm))
        assert len(read) == len(parts.edges(ROWS)) - 1
        for name in ("t", "q", "tau"):
            column = np.concatenate([getattr(part, name) for part in read])
            np.testing.assert_array_equal(column, getattr(log, name))
    fit = quiet(identifier, data)
    assert isinstance(fit.record.recording, Streamed)
    same(fit, quiet(identifier, log))


def test_channels_of_an_array_file_in_parts(tmp_path, monkeypatch, motion):
    """A gain that is a number of the file, times in ns, units and missing rows: the log of the whole."""
    t, q, tau = (x[:9000] for x in motion)
    raw = tau / 0.5
    raw[4000:4003] = np.nan
    stamps = 1_750_000_000_000_000_000 + np.round(t * 1e9).astype(np.int64)
    np.savez_compressed(tmp_path / "a.npz", stamp=stamps, angle=np.rad2deg(q), amps=raw, gain=0.5)
    channels = {"time": {"column": "stamp", "unit": "ns"}, "missing": "drop"}
    channels |= {"q": {"columns": "angle", "unit": "deg"}}
    channels |= {"tau": {"columns": "amps", "unit": "A", "scale": "gain"}}
    whole = dynarm.Log.read(tmp_path / "a.npz", channels)
    monkeypatch.setattr(readers, "LARGE", 0)
    monkeypatch.setattr(parts, "ROWS", 700)
    data = Dataset([tmp_path / "a.npz"], channels, memory=SMALL)
    read = list(parts.parts(tmp_path / "a.npz", data.how, dynarm.load("two_link")))
    assert len(read) == 13 and len(whole) == 8997
    for name in ("t", "q", "tau"):
        column = np.concatenate([getattr(part, name) for part in read])
        np.testing.assert_allclose(column, getattr(whole, name), rtol=0, atol=1e-12)


# ---- what cannot be


def test_a_damaged_file_among_many_is_named_or_left_out(tmp_path, monkeypatch, motion, messages):
    monkeypatch.setattr(readers, "LARGE", 0)
    arm = dynarm.load("two_link")
    for k in range(3):
        rows = slice(3000 * k, 3000 * (k + 1))
        t, q, tau = (x[rows] for x in motion)
        np.savez_compressed(tmp_path / f"run{k}.npz", t=t, q=q, tau=tau)
        db3(tmp_path / f"run{k + 3}.db3", [messages[i + 9000] for i in range(*rows.indices(ROWS))])
    data = bytearray((tmp_path / "run1.npz").read_bytes())
    at = data.index(b"PK\1\2") + 16
    data[at : at + 4] = struct.pack("<I", 1)
    (tmp_path / "run1.npz").write_bytes(data)
    bag = tmp_path / "run5.db3"
    bag.write_bytes(bag.read_bytes()[:40_000])
    with pytest.raises(DynarmError, match=r"run1\.npz: .*Bad CRC.*skip_bad"):
        survey(Dataset(tmp_path, memory=SMALL), arm)
    seen = survey(Dataset(tmp_path, memory=SMALL, skip_bad=True), arm)
    assert seen.rows == 4 * 3000
    assert [any(name in line for line in seen.bad) for name in ("run1.npz", "run5.db3")] == [
        True
    ] * 2


@pytest.mark.parametrize("kind", ["db3", "npz"])
def test_stamps_that_go_back_are_refused(tmp_path, monkeypatch, motion, messages, kind):
    """In the middle of a part, and where two meet."""
    monkeypatch.setattr(readers, "LARGE", 0)
    monkeypatch.setattr(parts, "ROWS", 1000)
    for row in (1500, 2000):
        t, q, tau = (np.array(x[:5000]) for x in motion)
        t[row:] -= 1.0
        if kind == "db3":
            made = [(k, joint_state(t[k], list("ab"), q[k], [], tau[k])) for k in range(5000)]
            path = db3(tmp_path / f"{row}.db3", made)
            channels = {"time": "time", "q": ["a_position", "b_position"]}
            channels |= {"tau": ["a_effort", "b_effort"]}
        else:
            np.savez(path := tmp_path / f"{row}.npz", t=t, q=q, tau=tau)
            channels = None
        with pytest.raises(InputError, match=rf"{path.name}: time goes backwards in row"):
            survey(Dataset([path], channels, memory=SMALL), dynarm.load("two_link"))


def test_torques_that_end_within_a_file_are_refused(tmp_path, monkeypatch, motion):
    monkeypatch.setattr(readers, "LARGE", 0)
    monkeypatch.setattr(parts, "ROWS", 1000)
    t, q, tau = (np.array(x[:5000]) for x in motion)
    path = tmp_path / "a.npz"
    where = {"time": "t", "q": "q", "tau": "tau"}
    tau[3000:, 1] = np.nan
    np.savez(path, t=t, q=q, tau=tau)
    missing = r"a\.npz: tau column 2, row 2 is missing .*\(counted from row 3000 on\)"
    with pytest.raises(DynarmError, match=missing):
        survey(Dataset([path], where, memory=SMALL), dynarm.load("two_link"))
    np.savez(path, t=t, q=q, tau=tau[::-1])
    with pytest.raises(InputError, match=r"a\.npz: tau column 2 is missing .* from row 2001 on"):
        data = Dataset([path], where | {"missing": "drop"}, memory=SMALL)
        survey(data, dynarm.load("two_link"))


def test_a_file_that_is_read_whole_and_does_not_fit_says_how_much_it_needs(tmp_path, motion):
    t, q, tau = (np.tile(x, (8, *[1] * (x.ndim - 1)))[:600_000] for x in motion)
    t = np.arange(600_000) * 0.002
    size = t.nbytes + q.nbytes + tau.nbytes
    for packed in (False, True):
        path = tmp_path / f"{packed}.mat"
        scipy.io.savemat(path, {"t": t, "q": q, "tau": tau}, do_compression=packed)
        assert readers.weight(path) == pytest.approx(size, rel=0.01)
        arm = dynarm.load("two_link")
        with pytest.raises(InputError) as refusal:
            survey(Dataset([path], memory=SMALL), arm)
        told = re.search(
            rf"{path.name}: it is read whole, which needs about (\d+MB), memory is 320MB; give memory='\1', or save "
            "the log as one Parquet or CSV file",
            str(refusal.value),
        )
        assert told
        assert survey(Dataset([path], memory=told[1]), arm).rows == 600_000


def test_channels_in_several_large_files_need_the_room_of_all(tmp_path, motion):
    t, q, tau = motion
    np.savez(tmp_path / "a.npz", t=t, q=np.tile(q, 4)[:, :2])
    np.savez(tmp_path / "b.npz", tau=tau, more=np.zeros(2_000_000))
    channels = {"time": "t", "q": "q", "tau": {"columns": "tau", "file": "b.npz"}}
    arm = dynarm.load("two_link")
    with pytest.raises(InputError, match=r"a\.npz: it and the files that its channels name are"):
        survey(Dataset([tmp_path / "a.npz"], channels, memory=SMALL), arm)
    assert survey(Dataset([tmp_path / "a.npz"], channels), arm).rows == ROWS


def test_the_command_line_says_how_much_memory_is_needed(tmp_path, motion, capsys):
    t, q, tau = (np.tile(x, (3, *[1] * (x.ndim - 1))) for x in motion)
    scipy.io.savemat(tmp_path / "a.mat", {"t": np.arange(len(t)) * 0.002, "q": q, "tau": tau})
    folder = tmp_path / "out"
    line = ["identify", "two_link", str(tmp_path), "--memory", "320MB", "--out", str(folder)]
    assert run(line) == 2
    assert "give --memory " in capsys.readouterr().err
    assert not folder.exists()


def test_a_large_file_is_a_dataset_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr("dynarm.identify.dataset.files._LARGE", 1000)
    for name in ("a.npz", "a.db3", "a.mcap", "a.csv", "a.mat", "a.txt"):
        (tmp_path / name).write_bytes(bytes(2000))
    large = [p.name for p in sorted(tmp_path.iterdir()) if isinstance(dataset_of(p), Dataset)]
    assert large == ["a.csv", "a.db3", "a.mcap", "a.npz", "a.txt"]
    (tmp_path / "metadata.yaml").write_text("")
    assert isinstance(dataset_of(tmp_path), Dataset)

"""Command lines that are wrong in one way each: exit code 2 and one line, in the command line's own words."""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from program import dynarm

import dynarm as library

LONG = "x" * 5000
PYTHON = re.compile(r"\b[a-z_]+=(?:True|False|None|'|\")|PosixPath|\bt_end\b|\[Errno|<class ")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder with good files, and with files and folders where others are expected."""
    place = tmp_path_factory.mktemp("made")
    library.load("scara").save(place / "scara.urdf")
    for line in (
        "excite two_link -d 5 --harmonics 3 --starts 1 --log log.csv --out motion.csv",
        "simulate two_link --time 0.1 --save run.npz",
    ):
        dynarm(*line.split(), folder=place).check()
    for name in ("empty.urdf", "empty.toml", "empty.csv", "empty.npz", "empty.mat"):
        (place / name).write_text("")
    (place / "short.csv").write_text("t,q1,q2,tau1,tau2\n0,0,0,0,0\n")
    (place / "notes.txt").write_text("hello")
    (place / "broken.toml").write_text("a = [")
    (place / "bytes.toml").write_bytes(b"\xff\xfe\x00\x01")
    (place / "bytes.urdf").write_bytes(b"\xff\xfe\x00\x01")
    (place / "half.npz").write_bytes((place / "run.npz").read_bytes()[:400])
    with closing(sqlite3.connect(place / "arms.db3")) as bag:
        kind = "sensor_msgs/msg/JointState"
        bag.execute("create table topics(id, name, type)")
        bag.execute("create table messages(id, topic_id, timestamp, data)")
        both = [(1, "/left", kind), (2, "/right", kind)]
        bag.executemany("insert into topics values (?, ?, ?)", both)
        bag.commit()
    for name in ("folder", "folder.urdf", "folder.toml", "folder.csv", "folder.npz", "folder.html"):
        (place / name).mkdir()
    (place / "full").mkdir()
    (place / "full" / "mine.txt").write_text("keep")
    return place


@pytest.fixture
def place(made, tmp_path) -> Path:
    shutil.copytree(made, tmp_path / "place")
    return tmp_path / "place"


# Each line with words that its refusal must hold. A value that the shell would quote stands as {empty}, {long} ...
LINES = """
info {empty}                                        | robot is ''
info {blank}                                        | give a built-in name
info .                                              | neither a built-in robot nor a file
info folder.urdf                                    | folder.urdf
info folder.toml                                    | folder.toml
info empty.urdf                                     | empty.urdf
info empty.toml                                     | empty.toml
info bytes.urdf                                     | bytes.urdf
info bytes.toml                                     | UTF-8
info {long}                                         | ...
info {long}.urdf                                    | too long
info {robot}                                        | stanford
info two_link --tip x                               | --base and --tip choose
info two_link --base {empty}                        | leave them out
info scara.urdf --tip nosuch                        | for --tip 'nosuch'; one of: base_link
info scara.urdf --base nosuch                       | for --base 'nosuch'; one of: base_link
info scara.urdf --tip {empty}                       | for --tip ''
info two_link --convention {empty}                  | lin1995
info two_link --html {empty}                        | --html is ''
info two_link --html folder.html                    | is a folder
info two_link --html {long}.html                    | too long
info two_link --html notes.txt/x.html               | no folder notes.txt
info two_link --tip                                 | --tip
count {empty}                                       | robot is ''
count two_link --n 3                                | give a robot, or --n
count --n {empty}                                   | 3..8
count --n 3..                                       | 3..8
count --n ..3                                       | 3..8
count --n -1                                        | 3..8
count --n 0                                         | between 1 and 60
count --n {wide}                                    | 3..8
count --n 1..999999999                              | between 1 and 60
count --n 3 --tip x                                 | --tip is for a robot's file
count --n 3 --type 1.5                              | --type
count two_link --type 2                             | --type is for generic arms
count two_link --principal                          | --principal is for generic arms
count two_link -q {empty}                           | unknown quantity ''
compile two_link -q {empty}                         | --quantity is ''
compile two_link -q ,                               | --quantity is ','
compile two_link -f bias                            | quantity=name
compile two_link -f =lagrange                       | quantity=name
compile two_link -f nosuch=newton_euler             | nosuch
compile two_link -f bias=lagrange -f bias=newton_euler | leave one out
compile two_link -f {long}={long}                   | ...
export two_link {empty}                             | FOLDER is ''
export two_link {blank}                             | FOLDER is ' '
export two_link {long}                              | too long
export two_link full                                | or --force
export two_link notes.txt/x                         | notes.txt
export two_link --name {empty}                      | --name is ''
export two_link --name a/b                          | a_b
export two_link --name int                          | int
export two_link -q ,                                | --quantity is ','
excite two_link -d nan                              | --duration is nan
excite two_link -d inf                              | --duration is inf
excite two_link -d -1                               | --duration is -1
excite two_link -d 1e300                            | --duration is 1e+300
excite two_link -d 5 --harmonics 0                  | --harmonics is 0
excite two_link -d 5 --harmonics 99999999999999     | --harmonics is 99999999999999
excite two_link -d 5 --rate 0                       | --rate is 0
excite two_link -d 5 --rate nan                     | --rate is nan
excite two_link -d 5 --rate 1e12                    | --rate is 1000000000000
excite two_link -d 5 --rate 1e-9                    | --rate 2 or more
excite two_link -d 5 --velocity nan                 | --velocity has 'nan'
excite two_link -d 5 --velocity -1                  | above 0
excite two_link -d 5 --velocity 0                   | above 0
excite two_link -d 5 --velocity 5kg                 | --velocity 0.1,0.1
excite two_link -d 5 --velocity {wide}              | --velocity 0.1,0.1
excite two_link -d 5 --velocity 1_0                 | --velocity 0.1,0.1
excite two_link -d 5 --velocity {empty}             | --velocity is ''
excite two_link -d 5 --acceleration 0               | --acceleration has '0'
excite two_link -d 5 --torque -5                    | --torque has '-5'
excite two_link -d 5 --torque 5deg                  | no angle
excite two_link -d 5 --box 1,1,1,0,0,0              | xmin,ymin,zmin
excite two_link -d 5 --box nan                      | --box has 'nan'
excite two_link -d 5 --box 0deg,0,0,1,1,1           | no angle
excite two_link -d 5 --starts 0                     | --starts
excite two_link -d 5 --starts 99999999999999        | --starts is 99999999999999
excite two_link -d 5 --seed -1                      | --seed is -1
excite two_link -d 5 --noise inf --log x.csv        | --noise is inf
excite two_link -d 5 --noise 1e308 --log x.csv      | --noise is 1e+308
excite two_link -d 5 --out {empty}                  | --out is ''
excite two_link -d 5 --out folder.csv               | is a folder
excite two_link -d 5 --out x.csv --log x.csv        | --out and --log both name x.csv
excite two_link -d 5 --log {empty}                  | --log is ''
excite two_link -d 5 --criterion {empty}            | --criterion is ''
identify two_link {empty}                           | LOGS is ''
identify two_link folder.csv                        | folder.csv
identify two_link empty.npz                         | empty.npz
identify two_link empty.mat                         | empty.mat
identify two_link {long}.csv                        | ...
identify two_link motion.csv                        | tau
identify scara log.csv                              | 2 joints
identify two_link log.csv --channels {empty}        | --channels is ''
identify two_link log.csv --channels folder         | folder
identify two_link log.csv --channels broken.toml    | broken.toml
identify two_link log.csv --hold-out nan            | --hold-out
identify two_link log.csv --hold-out 1              | --hold-out
identify two_link log.csv --hold-out 1e-300         | --hold-out is 1e-300
identify two_link log.csv --cutoff nan              | --cutoff is nan
identify two_link log.csv --cutoff 0                | --cutoff is 0
identify two_link log.csv --limit nan               | --limit
identify two_link log.csv --limit -1                | --limit
identify two_link log.csv --shape sine              | --shape is 'sine'
identify two_link log.csv --friction {empty}        | --friction is ''
identify two_link log.csv --friction none,viscous   | viscous
identify two_link log.csv --friction none --asymmetric | --asymmetric is about friction
identify two_link log.csv --estimator {empty}       | wls
identify two_link log.csv --validate {empty}        | --validate is ''
identify two_link log.csv --validate nosuch.csv     | nosuch.csv
identify two_link log.csv --validate short.csv      | short.csv
identify two_link log.csv --out {empty}             | --out is ''
identify two_link log.csv --out {blank}             | --out is ' '
identify two_link log.csv --out .                   | --force
identify two_link log.csv --out {long}              | too long
validate two_link {empty}                           | LOGS is ''
validate two_link short.csv                         | short.csv
validate two_link log.csv --cutoff -3               | --cutoff is -3
validate two_link log.csv --limit -1                | --limit
validate two_link log.csv --html {empty}            | --html is ''
validate two_link log.csv --channels {empty}        | --channels is ''
validate two_link log.csv --topic /left             | --topic is '/left'; log.csv is CSV
validate two_link arms.db3                          | /left, /right; choose one, such as --topic /left
validate two_link arms.db3 --topic /middle          | no JointState topic '/middle'; the bag holds /left, /right
validate two_link arms.db3 --topic right            | the joint state topic holds no messages
identify two_link log.csv --columns terms.py        | --columns is 'terms.py': columns of your own are code
identify two_link log.csv --columns {empty}         | in the channels file (--channels)
identify two_link arms.db3 --topic {empty}          | --topic is ''; give the name of a bag's topic
identify two_link arms.db3 --topic /right           | the joint state topic holds no messages
identify two_link log.csv -v arms.db3 --kd 1        | such as --topic /left
simulate two_link --time 0                          | --time is 0
simulate two_link --time nan                        | --time is nan
simulate two_link --time inf                        | --time is inf
simulate two_link --time -1 --method rk4            | --time is -1
simulate two_link --time 1e12 --method rk4          | --time is 1000000000000
simulate two_link --time 1 --method rk4 --dt 0      | --dt is 0
simulate two_link --time 1 --method rk4 --dt nan    | --dt is nan
simulate two_link --time 1 --method rk4 --dt inf    | --dt is inf
simulate two_link --time 1 --method rk4 --dt 1e-300 | --dt is 1e-300
simulate two_link --time 1 --method rk4 --dt 1e-320 | --dt is 1e-320
simulate two_link --time 1 --dt 0                   | --dt is for --method rk4
simulate two_link --time 1 --dt 0.1                 | leave it out
simulate two_link --q0 nan                          | --q0 has 'nan'
simulate two_link --q0 1e999                        | --q0 has '1e999'
simulate two_link --q0 {empty}                      | --q0 is ''
simulate two_link --q0 {wide}                       | --q0 0.1,0.1
simulate two_link --q0 5furlong                     | --q0 0.1,0.1
simulate scara --q0 30deg                           | --q0 has 30deg for
simulate two_link --qd0 inf                         | --qd0 has 'inf'
simulate two_link --torque nan                      | --torque has 'nan'
simulate two_link --torque {empty}                  | --torque is ''
simulate two_link --torque 1,2,3                    | shoulder, elbow
simulate two_link --control {empty}                 | gravity_pd
simulate two_link --target 1                        | --target is for a controller
simulate two_link --kp 100                          | --kp is for a controller
simulate two_link --control-rate 100                | --control-rate is for a controller
simulate two_link --control gravity_pd --kp nan     | --kp has 'nan'
simulate two_link --control gravity_pd --kd x       | --kd is 'x'
simulate two_link --control gravity_pd --control-rate 0 | --control-rate is 0
simulate two_link --control gravity_pd --control-rate 1e12 | --control-rate is 1000000000000
simulate two_link --payload inf                     | --payload is inf
simulate two_link --payload -1                      | --payload
simulate two_link --limits maybe                    | --limits is 'maybe'
simulate two_link --save {empty}                    | --save is ''
simulate two_link --save folder.npz                 | is a folder
simulate two_link --save {long}.npz                 | too long
mobile {empty}                                      | robot is ''
mobile folder.toml                                  | folder.toml
mobile empty.toml                                   | empty.toml
mobile broken.toml                                  | broken.toml
mobile scara.urdf                                   | no link of it is a wheel by name, axis and shape
mobile tanner2001 --contact soft                    | contact is 'soft'; choose one of elastic, best, worst
mobile tanner2001 --payload 2 --time 1              | leave --time out
mobile tanner2001 --payload 2 --case 3              | --payload does not go with --case
mobile tanner2001 --payload 2 --torque 0            | are about a held arm
mobile tanner2001 --pose 0.1 --q0 0                 | --q0 and --pose both say where the arm is
mobile tanner2001 --slope 90deg                     | give angles below 90deg
mobile tanner2001 --load 1,2                        | --load
mobile tanner2001 --stop-from 1                     | needs --adhesion
mobile tanner2001 --tip hand                        | choose parts of a URDF
mobile tanner2001 --case 0                          | one of: 3, 4, 5
mobile tanner2001 --case 3 --time 2                 | --time does not go with --case
mobile tanner2001 --case 3 --q0 1                   | --q0 does not go with --case
mobile tanner2001 --case 3 --adhesion 0             | --adhesion does not go with --case
mobile tanner2001 --case 3 --html {empty}           | --html is ''
mobile tanner2001 --q0 nan                          | --q0 has 'nan'
mobile tanner2001 --q0 30deg                        | --q0 has 30deg for x
mobile tanner2001 --z0 nan                          | --z0 has 'nan'
mobile tanner2001 --z0 1,2                          | v, phid
mobile tanner2001 --torque inf                      | --torque has 'inf'
mobile tanner2001 --time inf                        | --time is inf
mobile tanner2001 --time -1                         | --time
mobile tanner2001 --adhesion inf                    | --adhesion is inf
mobile tanner2001 --stop                            | --stop is about a motion
mobile tanner2001 --html {empty}                    | --html is ''
view {empty}                                        | robot is ''
view folder.urdf                                    | folder.urdf
view two_link --port 0                              | --port is 0
view two_link --port 99999999999999999999           | between 1 and 65535
view two_link --port x                              | --port
view two_link --play {empty}                        | --play is ''
view two_link --play folder.npz                     | folder.npz
view two_link --play empty.npz                      | empty.npz
view two_link --play half.npz                       | half.npz
view two_link --play empty.csv                      | empty.csv
view scara --play run.npz                           | 2 joints
view two_link --channels broken.toml                | give --play too
view two_link --topic /left                         | give --play too
view two_link --play arms.db3 --topic /left         | the joint state topic holds no messages
view tanner2001 --play run.npz                      | --play is for arms
view tanner2001 --tip x                             | --tip is for arms
view tanner2001 --case 9                            | one of: 3, 4, 5
demo --out {empty}                                  | --out is ''
demo --out full                                     | --force
demo --out {long}                                   | too long
demo extra                                          | dynarm demo --help
robots panda                                        | dynarm robots --help
robots --licence                                    | dynarm robots --help
{empty}                                             | No such command
--bogus                                             | dynarm --help
"""
VALUES = {
    "{empty}": "",
    "{blank}": " ",
    "{long}": LONG,
    "{wide}": "３",  # a full-width three
    "{robot}": "🤖",
}
CASES = [tuple(part.strip() for part in line.split("|")) for line in LINES.strip().splitlines()]


def words_of(line: str) -> list[str]:
    found = []
    for word in line.split():
        for name, value in VALUES.items():
            word = word.replace(name, value)
        found.append(word)
    return found


@pytest.mark.parametrize(("line", "hint"), CASES, ids=[line for line, _ in CASES])
def test_one_line_in_the_command_line_s_own_words(line, hint, place):
    before = sorted(p.relative_to(place) for p in place.rglob("*"))
    told = dynarm(*words_of(line), folder=place).refusal()
    assert hint in told
    assert not PYTHON.search(told), told
    assert len(told) < 600, "a value fills the screen"
    assert sorted(p.relative_to(place) for p in place.rglob("*")) == before


def test_every_command_has_such_lines():
    from dynarm.cli.app import COMMANDS

    assert {words_of(line)[0] for line, _ in CASES} >= set(COMMANDS)
    assert len(set(CASES)) == len(CASES) >= 60

"""A page that computes its robot: sliders, energy, simulation and files agree with Python, also without vectors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from chrome import BROWSER, DRIVER, MISSING, Chrome

import dynarm
from dynarm.report.html import write_page
from dynarm.report.live import live_section

pytestmark = pytest.mark.skipif(not (BROWSER and DRIVER), reason=MISSING)


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    with Chrome("--host-resolver-rules=MAP * ~NOTFOUND") as started:
        started.size(1200, 900)
        yield started


def with_friction() -> dynarm.Arm:
    """The Stanford arm with friction, a limit a joint, and a name that would like to be markup."""
    arm = dynarm.load("stanford")
    joints = tuple(
        replace(j, friction=dynarm.Friction(viscous=0.4, coulomb=0.3), effort_limit=20.0 + k)
        for k, j in enumerate(arm.joints)
    )
    return replace(arm, joints=joints, name="a</script><script>window.hacked=1</script>")


ROBOTS = {"panda": lambda: dynarm.load("panda"), "stanford": with_friction}


@pytest.fixture(params=ROBOTS)
def opened(request, browser, tmp_path):
    """A robot and its page, open and ready."""
    arm = ROBOTS[request.param]()
    show(browser, arm, tmp_path)
    return arm, browser


def show(browser: Chrome, arm: dynarm.Arm, folder) -> None:
    write_page(folder / "live.html", arm.name, [live_section(arm)])
    browser.open(folder / "live.html")
    browser.until("return Boolean(document.querySelector('.live').robot)")


SLIDE = """
const [mode, values] = arguments, root = document.querySelector('.live'), list = root.querySelector('select');
list.value = mode;
list.dispatchEvent(new Event('change'));
root.querySelectorAll('.live-joint input').forEach((range, j) => {
  range.value = values[j];
  range.dispatchEvent(new Event('input'));
});
return root.robot.state[mode];
"""
TOLD = """
const root = document.querySelector('.live'), values = (kind) =>
  Array.from(root.querySelectorAll(`.live-joint:not(.live-head) .${kind}`)).map(s => s.dataset.value);
root.querySelector('details').open = true;
return {
  force: values('force').map(Number), gravity: values('gravity').map(Number),
  text: Array.from(root.querySelectorAll('.live-joint:not(.live-head) .force')).map(s => s.textContent),
  kinetic: Number(root.querySelector('.live-energy').dataset.kinetic),
  potential: Number(root.querySelector('.live-energy').dataset.potential),
  link: Array.from(root.querySelectorAll('.live-sketch .link')).map(l => l.getAttribute('points')).join(),
};
"""
MATRIX = """
return Array.from(document.querySelectorAll('.live tbody tr')).map(
  r => Array.from(r.querySelectorAll('.number')).map(c => Number(c.dataset.value)));
"""


def close(made, wanted) -> None:
    """To 1e-12 of the largest entry."""
    wanted = np.asarray(wanted, float)
    assert np.shape(made) == wanted.shape
    assert np.abs(np.asarray(made, float) - wanted).max() <= 1e-12 * max(1.0, np.abs(wanted).max())


def test_sliders_move_the_robot_and_forces_agree_with_python(opened):
    arm, page = opened
    model = dynarm.compile(arm, friction=True)
    before = page.run(TOLD)
    rng = np.random.default_rng(4)
    state = {}
    for mode, size in (("q", 0.3), ("qd", 0.8), ("qdd", 2.0)):
        wanted = rng.uniform(-size, size, arm.n)
        state[mode] = np.array(page.run(SLIDE, mode, wanted.tolist()))
        inside = [
            low <= w <= high
            for w, j in zip(wanted, arm.joints)
            for low, high in [j.position_limits or (-9, 9)]
        ]
        if mode != "q" or all(inside):
            np.testing.assert_allclose(state[mode], wanted, rtol=1e-12)
    after = page.run(TOLD)
    close(after["force"], model.inverse_dynamics(state["q"], state["qd"], state["qdd"]))
    close(after["gravity"], model.gravity(state["q"]))
    close(after["kinetic"], model.kinetic_energy(state["q"], state["qd"]))
    close(after["potential"], model.potential_energy(state["q"]))
    page.until("return document.querySelectorAll('.live tbody tr').length > 0")
    close(page.run(MATRIX), model.mass_matrix(state["q"]))
    assert after["link"] != before["link"] and after["text"] != before["text"]
    assert page.complaints() == [] and page.requests() == []
    assert page.run("return window.hacked") is None


def test_the_simulation_keeps_energy_and_ends_where_python_does(opened):
    arm, page = opened
    joints = tuple(replace(j, friction=None) for j in arm.joints)
    bare = dynarm.compile(replace(arm, joints=joints), friction=True)  # armatures stay
    made = page.run("""
    const robot = document.querySelector('.live').robot, sim = robot.simulation(false);
    const start = robot.state.q.slice(), end = sim.advance(1);
    return { start, end, energy: sim.run.energy };
    """)
    energy = np.array(made["energy"])
    assert np.ptp(energy[:, 2]) < 1e-6 * energy[:, 0].max() and energy[:, 0].max() > 1
    run = dynarm.simulate(
        bare, made["start"], np.zeros(arm.n), made["end"]["t"], rtol=1e-10, atol=1e-10
    )
    np.testing.assert_allclose(made["end"]["q"], run.q[-1], atol=1e-4)
    assert made["end"]["t"] == pytest.approx(1.0)
    close(energy[-1, 0], bare.kinetic_energy(made["end"]["q"], made["end"]["qd"]))


def test_friction_takes_energy_out(browser, tmp_path):
    show(browser, with_friction(), tmp_path)
    energy = browser.run("""
    const sim = document.querySelector('.live').robot.simulation(true);
    sim.advance(1);
    return sim.run.energy.map(e => e[2]);
    """)
    assert energy[-1] < energy[0] - 0.1 and max(np.diff(energy)) < 1e-9


def test_let_go_plays_and_draws_when_it_is_stopped(browser, tmp_path):
    show(browser, dynarm.load("two_link"), tmp_path)
    press = "document.querySelector('.live button').click()"
    before = browser.run(TOLD)["link"]
    browser.run(press)
    browser.until("return Math.abs(document.querySelector('.live').robot.state.qd[0]) > 0.5")
    browser.run(press)
    assert browser.run(TOLD)["link"] != before
    assert browser.run("return document.querySelectorAll('.live-plots path.line').length") >= 5
    assert "energy stays within" in browser.run(
        "return document.querySelector('.live-note').textContent"
    )
    assert browser.complaints() == []


DROP = """
const [name, text] = arguments, root = document.querySelector('.live'), data = new DataTransfer();
root.querySelector('.live-note').textContent = '';
data.items.add(new File([text], name, { type: 'text/csv' }));
root.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
"""
NOTE = "return document.querySelector('.live-note').textContent"


def dropped(page: Chrome, text: str) -> str:
    """What the page says of a file."""
    page.run(DROP, "motion.csv", text)
    return page.until(NOTE)


def motion(arm: dynarm.Arm, count: int):
    """A smooth motion with its derivatives, beginning at a clock's time."""
    t = np.linspace(0, 2, count)
    w = 1 + 0.3 * np.arange(arm.n)
    q, qd, qdd = (0.4 * np.array(f).T for f in zip(*[
        (np.sin(k * t), k * np.cos(k * t), -k * k * np.sin(k * t)) for k in w
    ]))  # fmt: skip
    return t, q, qd, qdd


@pytest.mark.parametrize("vectors", [True, False])
def test_a_motion_dropped_in_is_computed_and_drawn_with_limits(browser, tmp_path, vectors):
    arm = with_friction()
    fallback = None
    if not vectors:
        script = "WebAssembly.validate = () => false;"
        fallback = browser.devtools("Page.addScriptToEvaluateOnNewDocument", source=script)
    try:
        show(browser, arm, tmp_path)
        t, q, qd, qdd = motion(arm, 301)
        rows = np.column_stack([1.75e9 + t, q, qd, qdd])
        text = "\n".join(",".join(repr(float(v)) for v in row) for row in rows)
        said = dropped(browser, text)
        made = browser.run("return document.querySelector('.live').robot.last")
        assert browser.run("return document.querySelector('.live').robot.batch.simd") is vectors
    finally:
        if fallback:
            browser.devtools("Page.removeScriptToEvaluateOnNewDocument", **fallback)
    tau = dynarm.compile(arm, friction=True).inverse_dynamics(q, qd, qdd)
    close(made["tau"], tau)
    assert said.startswith("motion.csv: 301 samples, 2 s.") and "differences" not in said
    over = [j.name for k, j in enumerate(arm.joints) if np.abs(tau[:, k]).max() > j.effort_limit]
    assert over and all(f"{name}:" in said for name in over)
    drawn = browser.run("""
    const figure = document.querySelector('.live-plots figure');
    const given = JSON.parse(figure.querySelector('script').textContent);
    return { levels: given.data.filter(t => t.name.startsWith('limit')).map(t => t.y[0]),
             lines: Array.from(figure.querySelectorAll('path.line')).map(p => p.getAttribute('d').length) };
    """)
    turning = [j.effort_limit for j in arm.joints if j.revolute]
    assert sorted(drawn["levels"]) == sorted([*turning, *(-x for x in turning)])
    assert len(drawn["lines"]) == 3 * len(turning) and min(drawn["lines"]) > 10
    assert browser.complaints() == []


def test_positions_alone_are_differentiated_and_named_columns_found(browser, tmp_path):
    arm = dynarm.load("two_link")
    show(browser, arm, tmp_path)
    t, q, qd, qdd = motion(arm, 401)
    rows = "\n".join(f"{b!r};{a!r};{c!r}" for a, b, c in zip(t, q[:, 1], q[:, 0]))
    said = dropped(browser, "q2;time;q1\n" + rows.replace("np.float64(", "").replace(")", ""))
    assert "speeds and accelerations by differences" in said
    made = browser.run("return document.querySelector('.live').robot.last.tau")
    wanted = dynarm.compile(arm).inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(made[2:-2], wanted[2:-2], atol=2e-3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("t,q1,q2\n0,1\n", "line 2 does not hold 3 finite numbers"),
        ("0,1,2\n1,nan,2\n2,1,2\n", "line 2 does not hold 3 finite numbers: 1,nan,2"),
        ("0,1\n1,1\n2,1\n", "the file has 2 columns; give time and 2 positions"),
        ("0,1,2\n1,1,2\n1,1,2\n", "time does not grow at sample 3"),
        ("0,1,2\n1,1,2\n", "2 samples came; a motion has at least 3"),
    ],
)
def test_a_file_that_is_no_motion_is_refused_in_words(browser, tmp_path, text, words):
    show(browser, dynarm.load("two_link"), tmp_path)
    assert words in dropped(browser, text)
    assert browser.run("return document.querySelectorAll('.live-plots figure').length") == 0


@pytest.mark.parametrize(
    ("head", "sign", "comma", "factor"),
    [
        ("time [s];q1 [deg];q2 [deg]", ";", True, 180 / np.pi),
        ("Timestamp\tq_1_deg\tq_2_deg", "\t", False, 180 / np.pi),
        ("t [ms],q1 (rad),q2 (rad)", ",", False, 1.0),
        ("t_s,q_shoulder,q_elbow,spare", ",", False, 1.0),
    ],
)
def test_files_of_spreadsheets_and_degrees_are_taken(browser, tmp_path, head, sign, comma, factor):
    arm = dynarm.load("two_link")
    show(browser, arm, tmp_path)
    t, q, *_ = motion(arm, 60)
    wanted = dropped(browser, "\n".join(",".join(map(str, row)) for row in np.column_stack([t, q])))
    torques = browser.run("return document.querySelector('.live').robot.last.tau")
    times = 1e3 * t if "ms" in head else t
    spare = [np.zeros(len(t))] * ("spare" in head)
    rows = np.column_stack([times, factor * q, *spare])
    text = "\n".join(sign.join(map(str, row)) for row in rows.tolist())
    said = dropped(browser, "\ufeff" + head + "\n" + (text.replace(".", ",") if comma else text))
    assert said == wanted, "the same motion, told otherwise"
    made = browser.run("return document.querySelector('.live').robot.last.tau")
    np.testing.assert_allclose(made, torques, rtol=1e-9, atol=1e-9)


def test_positions_that_look_like_degrees_are_doubted(browser, tmp_path):
    show(browser, dynarm.load("two_link"), tmp_path)
    text = "\n".join(f"{0.1 * k},{90 * np.sin(0.1 * k)},{3 * k}" for k in range(30))
    assert "if these are degrees, name the columns q1 [deg]" in dropped(browser, text)
    plain = "\n".join(f"{0.1 * k},{1.5 * np.sin(0.1 * k)},{0.3 * k}" for k in range(30))
    assert "degrees" not in dropped(browser, plain)


def test_long_motions_say_that_they_are_thinned_and_too_large_files_are_refused(browser, tmp_path):
    show(browser, dynarm.load("two_link"), tmp_path)
    text = "\n".join(f"{k},{np.sin(0.01 * k)},0" for k in range(5000))
    assert "5000 samples" in dropped(browser, text)
    said = browser.run("return document.querySelector('.live-plots figcaption').textContent")
    assert "Of 5000 samples the lowest and highest" in said
    browser.run("""
    const root = document.querySelector('.live'), data = new DataTransfer(), file = new File(['t'], 'big.csv');
    data.items.add(file);
    const event = new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true });
    Object.defineProperty(event, 'dataTransfer', { value: { files: [{ name: 'big.csv', size: 3e8 }] } });
    root.dispatchEvent(event);
    """)
    browser.until("return document.querySelector('.live-note').textContent.includes('300 MB')")


@pytest.mark.parametrize("width", [390, 1280])
def test_the_robot_stays_in_its_picture_above_its_floor(browser, tmp_path, width):
    """In whatever pose: nothing is cut off, the floor is below the lowest point, no number lies upon another."""
    browser.size(width, 900)
    try:
        arm = dynarm.load("ur5")
        show(browser, arm, tmp_path)
        for shoulder in (-1.6, 0.5, 1.6, 3.0):
            browser.run(SLIDE, "q", [0.4, shoulder, 0.3, 0.2, -0.3, 0.1])
            low, high, view = browser.run("""
            const svg = document.querySelector('.live-sketch'), robot = document.querySelector('.live').robot;
            const points = Array.from(svg.querySelectorAll('.link')).flatMap(
              l => l.getAttribute('points').split(' ').map(p => p.split(',').map(Number)));
            const across = points.map(p => p[0]), down = points.map(p => p[1]);
            return [[Math.min(...across), Math.min(...down)], [Math.max(...across), Math.max(...down)], robot.view];
            """)
            assert min(low) >= 0 and high[0] <= 640 and high[1] <= 400
            assert view["floor"] <= view["low"] + 1e-12 and view["floor"] <= 0
        cells = browser.run("""
        return Array.from(document.querySelectorAll('.live-joint:not(.live-head)')).map(row =>
          Array.from(row.querySelectorAll('span')).map(s => {
            const range = document.createRange();
            range.selectNodeContents(s);
            const box = range.getBoundingClientRect();
            return [box.left, box.right, s.textContent];
          }).filter(b => b[1] > b[0] && b[2]));
        """)
        for row in cells:
            spans = sorted(row[1:])  # names may be cut short, with their whole as a title
            assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans)), spans
            assert not any("e" in text for *_, text in spans)
    finally:
        browser.size(1200, 900)


def test_a_robot_of_many_joints_computes_too(browser, tmp_path):
    """Without mass matrix and energy, with forces, gravity and files."""
    joint = dynarm.Joint(alpha=1.2, a=0.1, mass=1.0, com=(0.05, 0.01, 0.02), effort_limit=90.0)
    arm = dynarm.Arm((joint,) * 24, name="snake")
    show(browser, arm, tmp_path)
    q = np.array(browser.run(SLIDE, "q", np.linspace(-1, 1, 24).tolist()))
    told, wanted = browser.run(TOLD), dynarm.compile(arm).gravity(q)
    close(told["force"], wanted)
    close(told["gravity"], wanted)
    t, q, *_ = motion(arm, 50)
    assert "50 samples" in dropped(
        browser, "\n".join(" ".join(map(str, row)) for row in np.column_stack([t, q]))
    )
    assert browser.complaints() == []
    assert browser.run("return document.documentElement.scrollWidth") <= 1200


def test_whole_robots_turn_with_a_base_that_is_held(browser, tmp_path):
    """A tree on a free base: forces of the joints with the base upright, no simulation offered."""
    legs = tuple(
        dynarm.Joint(alpha=1.5, a=0.2, mass=1.0, com=(0.1, 0, 0.05), parent=p, gamma=0.3 * k, b=0.1,
                     inertia=np.diag([0.01, 0.02, 0.03]))
        for k, p in enumerate((-1, 0, -1, 2))
    )  # fmt: skip
    arm = dynarm.Arm(legs, name="legs", floating=dynarm.Body(mass=5.0, inertia=np.eye(3)))
    show(browser, arm, tmp_path)
    q = np.array(browser.run(SLIDE, "q", [0.3, -0.4, 0.5, 0.6]))
    wanted = dynarm.compile(arm).gravity(np.array([0, 0, 0, 0, 0, 0, 1, *q]))
    close(browser.run(TOLD)["force"], wanted[6:])
    buttons = browser.run(
        "return Array.from(document.querySelectorAll('.live button')).map(b => b.textContent)"
    )
    assert "Let go" not in buttons

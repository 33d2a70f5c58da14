"""The page itself: a server on this machine only, sliders, switches, live numbers, a player."""

from __future__ import annotations

import contextlib
import io
import math
import socket
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..border.extras import extra
from ..border.kinds import Foreign
from ..errors import DynarmError, InputError
from ..model.model import compile as compile_arm
from ..robot.frames.placed import coordinates
from .arm import ArmDrawing, reach, travel
from .gate import gated, is_gated
from .recording import ShownRecording
from .tables import listed, plain, table, torques

if TYPE_CHECKING:
    from ..mobile.robot import MobileManipulator
    from ..mobile.run import MobileRun as Run
    from ..robot.arm import Arm, Joint
    from .meshes import Visual

HOST = "127.0.0.1"
PORT = 8080
FRAME = 1 / 30  # seconds between two pictures of a playback


class ViewError(DynarmError, RuntimeError):
    """The 3D page cannot be shown."""


def start_server(port: int | None, label: str) -> Foreign:
    """A viser server on this machine's own address; port None: the first free one from 8080 on."""
    try:
        import viser
    except ImportError:
        raise ViewError(f"the 3D page needs viser; install it with: {extra('view')}") from None
    chosen = _free_port(port)
    with _quiet(), gated():
        server = viser.ViserServer(host=HOST, port=chosen, label=label, verbose=False)
    # another viser than we know may not ask us: no page rather than an open one
    if not is_gated(HOST, server.get_port()):
        with _quiet():
            server.stop()
        raise ViewError(
            f"viser {viser.__version__} cannot be kept from foreign sites; install viser 1.1 for the 3D page"
        )
    server.gui.configure_theme(show_logo=False, show_share_button=False)
    if hasattr(server.gui, "main_panel"):  # newer than the oldest viser that we take
        server.gui.main_panel.dock_right()
    server.scene.set_up_direction("+z")
    _add_ground(server)
    return server


def _add_ground(server: Foreign, height: float = 0.0) -> None:
    """The grid on the ground, in place of one that there was."""
    server.scene.add_grid(
        "/ground",
        width=6.0,
        height=6.0,
        cell_size=0.25,
        section_size=1.0,
        position=(0.0, 0.0, height),
    )


def _quiet() -> contextlib.AbstractContextManager[Foreign]:
    """Keeps viser's own words off the terminal."""
    return contextlib.redirect_stdout(io.StringIO())


def _free_port(wanted: int | None) -> int:
    tried = [wanted] if wanted is not None else range(PORT, PORT + 50)
    for port in tried:
        if not 0 < port < 65536:
            raise InputError(f"port is {port}; give a number between 1 and 65535")
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except PermissionError:
                raise ViewError(
                    f"port {port} is reserved; choose one above 1023, for example --port 8081"
                ) from None
            except OSError:
                continue
        return port
    if wanted is not None:
        raise ViewError(
            f"port {wanted} is in use; choose another, for example --port {min(wanted + 1, 65535)}"
        )
    raise ViewError(f"the ports {PORT} to {PORT + 49} are all in use; choose one with --port")


class Viewer:
    """What both kinds of page share: the server, the player, waiting."""

    def __init__(self, server: Foreign):
        self.server = server
        self.time = 0.0
        self.playing = False
        self._stop = threading.Event()
        self._lock = threading.RLock()

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.server.get_port()}"

    def wait(self, ready: Callable[[], None] = lambda: None) -> None:
        """Serve until interrupted. `ready` is called first: whatever it tells, an interrupt after it ends in order."""
        try:
            ready()
            while not self._stop.wait(0.2):
                pass
        except KeyboardInterrupt:  # how a person ends it
            pass
        finally:
            self.close()

    def close(self) -> None:
        """End the page."""
        self._stop.set()
        with _quiet():
            self.server.stop()

    # ---- the player

    def add_player(self, duration: float, show: Callable[[float], None]) -> None:
        """A play button, a time slider and a speed; `show` is called with the time since the start [s]."""
        gui = self.server.gui
        with gui.add_folder("Playback"):
            self.button = gui.add_button("Play")
            step = max(duration / 1000, 1e-4)
            self.clock = gui.add_slider("time [s]", 0.0, float(duration), step, 0.0)
            self.pace = gui.add_slider("speed", 0.1, 4.0, 0.1, 1.0)

        def pressed(_: Foreign) -> None:
            if self.time >= duration:
                self.clock.value = 0.0
            self.playing = not self.playing
            self.button.label = "Pause" if self.playing else "Play"

        def moved(_: Foreign) -> None:
            with self._lock:
                self.time = float(self.clock.value)
                show(self.time)

        def run() -> None:
            while not self._stop.wait(FRAME):
                if not self.playing:
                    continue
                then = self.time + FRAME * float(self.pace.value)
                if then >= duration:
                    then, self.playing = duration, False
                    self.button.label = "Play"
                self.clock.value = min(then, duration)

        self.button.on_click(pressed)
        self.clock.on_update(moved)
        threading.Thread(target=run, daemon=True).start()


class ArmViewer(Viewer):
    """An arm with a slider for every joint, gravity torques as it stands, and a recording to play."""

    def __init__(
        self,
        arm: Arm,
        port: int | None = None,
        recording: ShownRecording | None = None,
        visuals: list[Visual] | None = None,
        notes: Sequence[str] = (),
    ):
        super().__init__(start_server(port, arm.name))
        self.arm = arm
        self.gravity = compile_arm(arm).gravity
        self.recording = recording
        self.drawing = ArmDrawing(self.server.scene, arm, visuals=visuals)
        self.server.initial_camera.position = _camera(arm)
        self.server.initial_camera.look_at = tuple(arm.base_pose[:3, 3].tolist())
        self.joints = [arm.joints[i] for i in arm.coupling.masters]
        self._switches(visuals)
        with self.server.gui.add_folder("Joints"):
            self.sliders = [self._slider(joint) for joint in self.joints]
        self.floor = 0.0
        self.numbers = self.server.gui.add_html("")
        if notes:
            self.server.gui.add_html(listed(notes))
        if recording is not None:
            self.add_player(recording.duration, self._play)
            self._play(0.0)
        else:
            self._moved()

    def _switches(self, visuals: list[Visual] | None) -> None:
        gui, drawing = self.server.gui, self.drawing
        groups = {
            "skeleton": (drawing.skeleton, True),
            "centres of mass": (drawing.masses, False),
            "inertia ellipsoids": (drawing.ellipsoids, False),
            "names": (drawing.labels, False),
        }
        if visuals:
            groups["meshes"] = (drawing.meshes, True)
            groups["skeleton"] = (drawing.skeleton, False)
        with gui.add_folder("Show"):
            for name, (handles, visible) in groups.items():
                _switch(gui.add_checkbox(name, visible), handles)
            frames = gui.add_checkbox("frames", False)

        def show_frames(_: Foreign) -> None:
            for frame in drawing.frames:
                frame.show_axes = frames.value

        frames.on_update(show_frames)

    def _slider(self, joint: Joint) -> Foreign:
        slider = _joint_slider(self.server.gui, self.arm, joint)
        slider.on_update(lambda _: self._moved())
        return slider

    def _stand(self) -> None:
        """Put the ground below what is drawn lower than ever; a free base stands on it from the start."""
        low = min(self.drawing.lowest(), np.inf if self.arm.floating else 0.0)
        if low < self.floor - 1e-3:
            self.floor = low
            _add_ground(self.server, low)

    @property
    def q(self) -> np.ndarray:
        """(nq,) the pose that the sliders say; a free base stands upright at the origin."""
        scale = [np.pi / 180 if j.revolute else 1.0 for j in self.joints]
        return coordinates(self.arm, np.array([s.value for s in self.sliders]) * scale)

    def _moved(self) -> None:
        with self._lock:
            q = self.q
            self.drawing.show(q)
            self._stand()
            self.numbers.content = torques(self.arm, {"gravity": self.gravity(q)})

    def _play(self, at: float) -> None:
        assert self.recording is not None
        k = self.recording.at(at)
        q = self.recording.q[k]
        self.drawing.show(q)
        self._stand()
        columns = {"gravity": self.gravity(q)}
        if self.recording.tau is not None:
            columns["torque"] = self.recording.tau[k]
        self.numbers.content = torques(self.arm, columns)


class MobileViewer(Viewer):
    """A mobile manipulator along a run: ground forces, support polygon, tip-over margin."""

    def __init__(self, robot: MobileManipulator, run: Run, port: int | None = None):
        from .mobile import MobileDrawing

        super().__init__(start_server(port, robot.name))
        self.robot, self.run = robot, run
        self.drawing = MobileDrawing(self.server.scene, robot)
        path = run.q[:, :2]
        step = max(1, len(path) // 400)
        points = np.column_stack([path[::step], np.full(len(path[::step]), 0.003)])
        if len(points) > 1 and np.ptp(points[:, :2]) > 1e-6:
            segments = np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)
            self.server.scene.add_line_segments(
                "/path", segments, colors=(11, 110, 131), thickness=2.0, thickness_units="screen"
            )
        middle = points.mean(axis=0)
        size = max(float(np.ptp(points[:, :2], axis=0).max()), 2.0)
        self.server.initial_camera.position = tuple(middle + size * np.array([0.7, -0.9, 0.8]))
        self.server.initial_camera.look_at = tuple(middle)
        self.numbers = self.server.gui.add_html("")
        self.add_player(float(run.t[-1]), self._play)
        with self.server.gui.add_folder("Standing still"):
            self.sliders = self._sliders()
        self._play(0.0)

    def _sliders(self) -> list[Foreign]:
        """One for the steering where there is one, and one a joint: the robot at rest in that pose."""
        gui, joints = self.server.gui, self.robot.arm.joints
        steering = self.robot.coordinate_names[3 : len(self.robot.coordinate_names) - len(joints)]
        made = [gui.add_slider(f"{name} [°]", -90.0, 90.0, 0.1, 0.0) for name in steering]
        made += [_joint_slider(gui, self.robot.arm, joint) for joint in joints]
        self.scale = [np.pi / 180] * len(steering)
        self.scale += [np.pi / 180 if joint.revolute else 1.0 for joint in joints]
        for slider in made:
            slider.on_update(lambda _: self._moved())
        return made

    def _moved(self) -> None:
        """Stand where the run is at this time, at rest, in the pose that the sliders say."""
        with self._lock:
            self.playing, self.button.label = False, "Play"
            q = np.array(self.run.q[self._index(self.time)], float)
            q[3:] = np.array([slider.value for slider in self.sliders]) * self.scale
            rest = np.zeros(len(self.robot.speed_names))
            ground, held = self.robot.ground(q, rest, rest), self.robot.hold(q)
            self._show(q, ground.forces, ground.friction, float(ground.measure))
            arm = self.robot.arm
            self.numbers.content += torques(arm, {"holds": held[len(held) - arm.n :]})

    def _index(self, at: float) -> int:
        return int(np.clip(np.searchsorted(self.run.t, at), 0, len(self.run.t) - 1))

    def _play(self, at: float) -> None:
        run, k = self.run, self._index(at)
        self._show(run.q[k], run.wheel_forces[k], run.friction_needed[k], float(run.measure[k]))

    def _show(
        self, q: np.ndarray, forces: np.ndarray, friction: np.ndarray, measure: float
    ) -> None:
        """The robot in one state, with what its wheels carry."""
        self.drawing.show(q, forces)
        rows = [
            [
                name,
                f"{plain(float(force[2]), 1)} N",
                plain(float(mu)) if np.isfinite(mu) else "lifted",
            ]
            for name, force, mu in zip(self.robot.wheel_names, forces, friction, strict=True)
        ]
        word = "about to tip" if measure < 0 else "stands"
        head = f"<p><b>{word}</b>: tip-over margin {measure:.1f} N rad</p>"
        self.numbers.content = head + table(("wheel", "load", "friction needed"), rows)


def _joint_slider(gui: Foreign, arm: Arm, joint: Joint) -> Foreign:
    """A slider over a joint's range, at zero or the limit next to it."""
    factor, unit, step = (180 / np.pi, "°", 0.1) if joint.revolute else (1.0, "m", 0.001)
    turn = joint.position_limits or (-np.pi, np.pi)
    low, high = turn if joint.revolute else travel(arm, joint)
    low, high = math.ceil(low * factor / step) * step, math.floor(high * factor / step) * step
    start = float(np.clip(0.0, low, high))
    name = f"{joint.name} [{unit}]"
    return gui.add_slider(name, round(low, 3), round(high, 3), step, round(start, 3))


def _switch(box: Foreign, handles: Sequence[Foreign]) -> None:
    """A checkbox that shows or hides; everything starts as it says."""

    def apply(_: Foreign = None) -> None:
        for handle in handles:
            handle.visible = box.value

    box.on_update(apply)
    apply()


def _camera(arm: Arm) -> tuple[float, float, float]:
    far = 1.3 * reach(arm)
    return (far, -far, 0.9 * far)

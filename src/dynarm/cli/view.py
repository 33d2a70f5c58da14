"""dynarm view: a robot in the browser, in three dimensions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import InputError
from .console import busy, print_json, say
from .options import (
    CHANNELS,
    JSON,
    PORTION,
    TOPIC,
    Portion,
    frozen,
    load_arm,
    mobile_robots,
    refuse_given,
    robots,
    with_portion,
)

if TYPE_CHECKING:
    from webbrowser import BaseBrowser

    from ..view.viewer import Viewer

EXAMPLES = ("dynarm view two_link", "dynarm view tanner2001 --case 5")
CASE = 5


def _names(incomplete: str) -> list[str]:
    return robots(incomplete) + mobile_robots(incomplete)


ROBOT = typer.Argument(
    help="A built-in arm or mobile manipulator, or a path to a .urdf, .xacro or .toml file.",
    autocompletion=_names,
    show_default=False,
)
CASE_OPTION = typer.Option(
    None, "--case", help="tanner2001: the motion of the paper's Fig. 3, 4 or 5."
)
MESHES = typer.Option(
    True, "--meshes/--no-meshes", help="Draw the meshes of a URDF that are there."
)
PORT = typer.Option(None, "--port", help="Of the page; default: the first free one from 8080 on.")


@with_portion
def view(
    robot: str = ROBOT,
    play: str = typer.Option(None, "--play", metavar="FILE", help="A run's .npz or a log to play."),
    channels: str = CHANNELS,
    topic: str = TOPIC,
    case: int = CASE_OPTION,
    meshes: bool = MESHES,
    port: int = PORT,
    open_browser: bool = typer.Option(False, "--open", help="Open the page in a browser."),
    portion: Portion = PORTION,
    as_json: bool = JSON,
) -> None:
    """Look at a robot in 3D, in a browser.

    Sliders move the joints and show the torques that hold the arm against gravity; --play shows a recording with its
    torques; a mobile manipulator moves with its ground forces and support polygon. The page is served to this machine
    only, until Ctrl-C. Needs viser (the extra `view`).
    """
    browser = _browser() if open_browser else None
    with busy("drawing"):
        viewer = _viewer(robot, play, (channels, topic), case, meshes, port, portion)

    def ready() -> None:
        if as_json:
            print_json({"robot": robot, "address": viewer.address})
        else:
            say(f"{robot}: {viewer.address} (Ctrl-C ends it)", "bold")
        if browser is not None:
            browser.open(viewer.address)

    viewer.wait(ready)


def _browser() -> BaseBrowser:
    import webbrowser

    try:
        return webbrowser.get()
    except webbrowser.Error:
        raise InputError(
            "no browser was found to open; leave --open out and open the address yourself"
        ) from None


def _is_mobile(robot: str) -> bool:
    """Whether a name or file describes a mobile manipulator."""
    import tomllib

    from ..mobile.files import catalogue

    if robot in catalogue():
        return True
    path = Path(robot)
    if path.suffix.lower() != ".toml" or not path.is_file():
        return False
    try:
        return "platform" in tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return False


def _viewer(
    robot: str,
    play: str | None,
    how: tuple[str | None, str | None],
    case: int | None,
    meshes: bool,
    port: int | None,
    portion: Portion,
) -> Viewer:
    """The page of an arm or a mobile manipulator. how: the channels' file, the bag's topic."""
    of_logs = dict(zip(("--channels", "--topic"), how, strict=True))
    if _is_mobile(robot):
        of_arms = {"--play": play, **of_logs, **portion.given}
        refuse_given(f"is for arms; '{robot}' is a mobile manipulator, leave it out", of_arms)
        return _mobile_viewer(robot, case, port)
    from ..view.recording import read
    from ..view.viewer import ArmViewer

    if case is not None:
        raise InputError("--case belongs to tanner2001; give --play with a recording instead")
    if play is None:
        refuse_given("says what a log's columns are; give --play too", of_logs)
    macros = Path(robot).suffix.lower() == ".xacro"
    arm = load_arm(robot, portion if macros else portion._replace(packages=[]))
    recording = None if play is None else read(play, arm, *how)
    drawn, notes = None, list[str]()
    if meshes and (macros or Path(robot).suffix.lower() == ".urdf"):
        from ..robot.files import expand_xacro
        from ..view.meshes import visuals

        folders, given = portion.package_folders, portion.xacro_arguments
        text = expand_xacro(Path(robot), robot, given, folders) if macros else None
        drawn, lost = visuals(Path(robot), arm, frozen(portion.freeze) or True, text, folders)
        if lost:
            notes = [f"{len(lost)} visuals are not drawn; the first: {lost[0]}"]
    return ArmViewer(arm, port, recording, drawn, notes)


def _mobile_viewer(robot: str, case: int | None, port: int | None) -> Viewer:
    """The paper's machine in one of its cases; any other rolling straight at walking pace for a while, its arm held."""
    import numpy as np

    from ..mobile.files import load
    from ..reproductions.tanner2001_cases import run as run_case
    from ..view.viewer import MobileViewer

    if robot == "tanner2001":
        played = run_case(CASE if case is None else case)
        return MobileViewer(played.robot, played.run, port)
    if case is not None:
        raise InputError("--case belongs to tanner2001; leave it out")
    machine = load(robot)
    q0, z0 = np.zeros(len(machine.coordinate_names)), np.zeros(len(machine.speed_names))
    z0[0] = 0.5
    rest = np.zeros(len(z0))

    def held(t: float, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        return machine.inverse_dynamics(q, z, rest)

    return MobileViewer(machine, machine.simulate(q0, z0, 2.0, held), port)

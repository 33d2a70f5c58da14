"""Make the pictures of README and site: python docs/pictures.py [NAME ...], all of them without a name.

What ends in .svg is drawn from numbers: counts and hysteresis here, moving in moving.py, the others in drawings.py.
What ends in .png are photographs of pages that `dynarm` itself writes, taken by Chromium without a window (Debian: apt
install chromium).
"""

from __future__ import annotations

import html
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent / "pictures"
ROBOT, QUANTITY = "puma560", "mass_matrix"
RECORDINGS = Path(__file__).parent / "tutorials" / "recordings"
PAGES = {  # picture -> command, page that it writes, width and height [pixels]
    "report": (["demo", "--out", "demo"], "demo/report.html", (1180, 820)),
    "verdict": (
        ["demo", "--out", "demo"],
        "demo/report.html#identified",
        (1180, 900),
    ),
    "mobile": (["mobile", "tanner2001", "--case", "5"], "tanner2001_case5.html", (1180, 1220)),
    "live": (["info", "panda", "--html", "panda.html"], "panda.html#move-it", (1180, 760)),
    "excite": (
        ["excite", "panda", "--duration", "8", "--html", "x.html"],
        "x.html#the-motion",
        (1180, 860),
    ),
    "sheet": (["info", "go2", "--html", "go2.html"], "go2.html", (1180, 760)),
    "recording_report": (
        [
            "identify",
            "ur5e",
            str(RECORDINGS / "cell_1.csv"),
            "--validate",
            str(RECORDINGS / "cell_2.csv"),
            "--channels",
            "cell.toml",
        ],
        "identified/report.html",
        (1180, 900),
    ),
    "phone": (["demo", "--out", "demo"], "demo/report.html#parameters", (400, 820)),
}
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--hide-scrollbars",
]


def counts() -> str:
    """An SVG: multiplications and additions of a robot's mass matrix by formulation."""
    import dynarm

    arm = dynarm.load(ROBOT)
    costs = {name: dynarm.count(arm, QUANTITY, name) for name in dynarm.formulations(QUANTITY)}
    order = sorted(costs, key=lambda name: (costs[name].total, name))
    left, width, step = 170, 470, 19
    scale = width / costs[order[-2]].total
    lines = []
    for k, name in enumerate(order):
        y, cost = 34 + step * k, costs[name]
        mul, add = cost.mul * scale, cost.add * scale
        cut = min(1.0, width / (mul + add))
        mul, add = mul * cut, add * cut
        note = "" if cut > 0.99 else " (bar cut off)"
        lines += [
            f'<text x="{left - 8}" y="{y + 11}" text-anchor="end">{html.escape(name)}</text>',
            f'<rect x="{left}" y="{y}" width="{mul:.1f}" height="13" fill="#00796b"/>',
            f'<rect x="{left + mul:.1f}" y="{y}" width="{add:.1f}" height="13" fill="#80cbc4"/>',
            f'<text x="{left + mul + add + 6:.1f}" y="{y + 11}">{cost.mul} + {cost.add}{note}</text>',
        ]
    height = 34 + step * len(order) + 6
    title = f"Mass matrix of {ROBOT}: multiplications (dark) and additions (light) by formulation"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 150} {height}" '
        f'font-family="sans-serif" font-size="12" fill="#37474f" role="img">\n'
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n<text x="8" y="18" font-weight="bold">{title}</text>\n'
        + "\n".join(lines)
        + "\n</svg>\n"
    )


def hysteresis() -> str:
    """An SVG: loops of presliding over three strokes, and friction over velocity under three loads."""
    import numpy as np

    from dynarm import Friction
    from dynarm.dynamics.friction_curves import load_map, presliding_loop

    friction = Friction(
        viscous=1.2,
        curve=((0.03, -0.25),),
        presliding=((0.001, 0.5), (0.004, 0.6), (0.012, 0.4)),
        load_curve=((0.05, 0.04),),
    )
    shades = ("#80cbc4", "#26a69a", "#00695c")
    left = [presliding_loop(friction, reach, 240) for reach in (0.003, 0.009, 0.022)]
    speeds = np.concatenate([-np.geomspace(1, 2e-4, 90), np.geomspace(2e-4, 1, 90)])
    right = [(speeds, row) for row in load_map(friction, speeds, np.array([0.0, 10.0, 20.0]))]
    panels = [
        (60, "to and fro by 0.003, 0.009 and 0.022 rad", "position [rad]", 0.025, 2.0, left),
        (430, "steady speed, load 0, 10 and 20 N m", "velocity [rad/s]", 1.1, 4.0, right),
    ]
    lines = []
    for x0, title, across, width, height, curves in panels:
        lines += _panel(x0, title, across, width, height)
        for (x, y), shade in zip(curves, shades, strict=True):
            at = zip(x0 + 150 * (1 + x / width), 40 + 110 * (1 - y / height), strict=True)
            path = " ".join(f"{a:.1f},{b:.1f}" for a, b in at)
            lines.append(
                f'<polyline points="{path}" fill="none" stroke="{shade}" stroke-width="1.8"/>'
            )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 750 310" '
        'font-family="sans-serif" font-size="12" fill="#37474f" role="img">\n'
        '<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(lines) + "\n</svg>\n"
    )


def _panel(x0: int, title: str, across: str, width: float, height: float) -> list[str]:
    """Frame, axes and words of one of two plots, 300 by 220, at x0."""
    grey = 'stroke="#b0bec5" stroke-width="1"'
    return [
        f'<text x="{x0 + 150}" y="28" text-anchor="middle" font-weight="bold">{title}</text>',
        f'<rect x="{x0}" y="40" width="300" height="220" fill="none" {grey}/>',
        f'<path d="M{x0} 150h300M{x0 + 150} 40v220" fill="none" {grey}/>',
        f'<text x="{x0}" y="276" text-anchor="middle">{-width:g}</text>',
        f'<text x="{x0 + 300}" y="276" text-anchor="middle">{width:g}</text>',
        f'<text x="{x0 + 150}" y="296" text-anchor="middle">{across}</text>',
        f'<text x="{x0 - 6}" y="48" text-anchor="end">{height:g}</text>',
        f'<text x="{x0 - 6}" y="154" text-anchor="end">0</text>',
        f'<text x="{x0 - 6}" y="262" text-anchor="end">{-height:g}</text>',
        f'<text x="{x0 - 36}" y="150" text-anchor="middle" '
        f'transform="rotate(-90 {x0 - 36} 150)">friction [N m]</text>',
    ]


sys.path.append(str(Path(__file__).parent))  # last: docs/ has a benchmarks.py of its own
from drawings import DRAWINGS  # noqa: E402  beside this file
from moving import moving  # noqa: E402

DRAWN = {"counts": counts, "hysteresis": hysteresis, "moving": moving, **DRAWINGS}


def driven(page: Path, part: str, width: int, height: int) -> bytes:
    """A PNG of a page from one of its parts on, once its robot runs, by chromedriver (apt install chromium-driver)."""
    sys.path.insert(0, str(FOLDER.parents[1] / "tests" / "browser"))
    from chrome import Chrome

    with Chrome("--force-prefers-reduced-motion") as browser:
        browser.size(width, height)
        browser.open(page)
        browser.until(
            "const live = document.querySelector('.live'); return !live || Boolean(live.robot)"
        )
        browser.run(f"document.getElementById('{part}').scrollIntoView()")
        shot = page.with_suffix(".png")
        browser.picture(shot)
        return shot.read_bytes()


def photograph(name: str) -> bytes:
    """A PNG of the top of a page that a command writes."""
    browser = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    if browser is None:
        sys.exit("no Chromium found; install it (Debian: apt install chromium)")
    command, page, (width, height) = PAGES[name]
    with tempfile.TemporaryDirectory() as folder:
        channels = (RECORDINGS / "cell.toml").read_text(encoding="utf-8")
        (Path(folder) / "cell.toml").write_text(channels, encoding="utf-8")
        program = str(Path(sys.executable).parent / "dynarm")
        subprocess.run([program, *command], cwd=folder, check=True)
        shot = Path(folder) / "shot.png"
        size = [f"--window-size={width},{height}", "--virtual-time-budget=5000"]
        where = [f"--user-data-dir={folder}/profile", f"--screenshot={shot}"]
        name, _, part = page.partition("#")
        if part:
            return driven(Path(folder) / name, part, width, height)
        address = (Path(folder) / name).as_uri()
        subprocess.run([browser, *FLAGS, *size, *where, address], check=True, capture_output=True)
        return shot.read_bytes()


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for wanted in sys.argv[1:] or [*DRAWN, *PAGES]:
        if wanted in DRAWN:
            (FOLDER / f"{wanted}.svg").write_text(DRAWN[wanted](), encoding="utf-8")
        else:
            (FOLDER / f"{wanted}.png").write_bytes(photograph(wanted))
        print("made", wanted)

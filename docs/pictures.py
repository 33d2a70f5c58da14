"""Make the pictures of README and site: python docs/pictures.py [counts] [report] [mobile]

counts.svg is drawn from `dynarm.count`. The others are photographs of pages that `dynarm` itself writes, taken by
Chromium without a window (Debian: apt install chromium).
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
PAGES = {  # picture -> command, page that it writes, width and height [pixels]
    "report": (["demo", "--out", "demo"], "demo/report.html", (1180, 820)),
    "mobile": (["mobile", "tanner2001", "--case", "5"], "tanner2001_case5.html", (1180, 1220)),
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
        program = str(Path(sys.executable).parent / "dynarm")
        subprocess.run([program, *command], cwd=folder, check=True)
        shot = Path(folder) / "shot.png"
        size = [f"--window-size={width},{height}", "--virtual-time-budget=5000"]
        where = [f"--user-data-dir={folder}/profile", f"--screenshot={shot}"]
        address = (Path(folder) / page).as_uri()
        subprocess.run([browser, *FLAGS, *size, *where, address], check=True, capture_output=True)
        return shot.read_bytes()


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for wanted in sys.argv[1:] or ["counts", *PAGES]:
        if wanted == "counts":
            (FOLDER / "counts.svg").write_text(counts(), encoding="utf-8")
        else:
            (FOLDER / f"{wanted}.png").write_bytes(photograph(wanted))
        print("made", wanted)

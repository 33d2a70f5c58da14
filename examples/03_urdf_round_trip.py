"""Write a robot as URDF and TOML, read it back, choose a part of its chain."""

from pathlib import Path

import numpy as np

import dynarm

folder = Path()  # here
arm = dynarm.load("puma560").with_payload(2.0, com=(0, 0, 0.1))
arm.save(folder / "loaded.urdf")
arm.save(folder / "loaded.toml")

again = dynarm.load(folder / "loaded.urdf")
same = dynarm.load(folder / "loaded.toml")
q = np.linspace(-1, 1, arm.n)
difference = dynarm.compile(arm).mass_matrix(q) - dynarm.compile(again).mass_matrix(q)
print("joints:", again.joint_names)
print("TOML comes back bit by bit:", same == arm)
print("URDF comes back within", f"{np.abs(difference).max():.0e} kg m^2")

links = [
    line.split('"')[1]
    for line in (folder / "loaded.urdf").read_text().splitlines()
    if "<link" in line
]
half = dynarm.load(folder / "loaded.urdf", tip=links[3])
print(
    "up to link",
    links[3],
    "there are",
    half.n,
    "joints, which carry",
    f"{half.parameters[:, 0].sum():.1f} kg",
)

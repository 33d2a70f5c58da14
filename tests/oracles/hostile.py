"""Names that try to be more than names, for everything that writes pages and code."""

from __future__ import annotations

from dataclasses import replace

import dynarm

SCRIPT = "<script>window.hacked=1</script>"
IMAGE = "\"><img src=x onerror='window.hacked=1'>"
TEMPLATE = "{{7*7}}{%raw%} </script><!-- ${1+1}"
NAMES = (SCRIPT, IMAGE, TEMPLATE)


def hostile_arm() -> dynarm.Arm:
    """The SCARA with such names."""
    arm = dynarm.load("scara")
    joints = [replace(j, name=f"{NAMES[k % 3]}{k}") for k, j in enumerate(arm.joints)]
    return replace(arm, name=SCRIPT, joints=tuple(joints))

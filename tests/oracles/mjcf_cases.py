"""Small MJCF models, one for every feature that a robot may have."""

from __future__ import annotations

BALL = '<geom size=".1" pos="{}"/>'
LINK = '<inertial pos=".1 .02 .03" mass="{}" diaginertia=".02 .03 .04" quat=".5 .1 .2 .7"/>'
ARM = f"""<body name="upper" pos="0 .1 .5" euler="20 30 40">{LINK.format(2)}
<joint name="a" axis="0 1 1" range="-90 80" damping=".3" armature=".01" frictionloss=".2"/>
<body name="lower" pos=".4 0 0" quat=".7 .1 0 .7">{LINK.format(1)}<joint name="b" type="slide" axis="1 0 0" ref=".2"/>
<site name="tcp" pos="0 0 .2"/></body>{{}}</body>"""
FINGERS = """<body name="left" pos="0 .1 0"><joint name="l" axis="1 0 0" ref="20"/>
<geom size=".05" pos="0 0 .1"/></body>
<body name="right" pos="0 -.1 0"><joint name="r" axis="1 0 0" ref="10"/><geom size=".04" pos="0 0 .1"/></body>"""
CASES = {
    "chain": f"<worldbody>{ARM.format('')}</worldbody>",
    "tree": f"<worldbody>{ARM.format(FINGERS)}</worldbody>",
    "coupled": f"<worldbody>{ARM.format(FINGERS)}</worldbody><equality>"
    '<joint joint1="r" joint2="l" polycoef=".1 -2 0 0 0"/></equality>',
    "inactive": f"<worldbody>{ARM.format(FINGERS)}</worldbody><equality>"
    '<joint joint1="r" joint2="l" polycoef="0 1 3 0 0" active="false"/></equality>',
    "row": f"<worldbody>{ARM.format(FINGERS)}</worldbody><equality>"
    '<joint joint1="r" joint2="l" polycoef=".1 2 0 0 0"/><joint joint1="l" joint2="a"/></equality>',
    "universal": '<worldbody><body name="u" pos="0 0 1"><joint name="x" axis="1 0 0" pos=".1 .2 .3" ref="30"/>'
    '<joint name="y" axis="0 1 0" pos="-.1 0 .1"/><joint name="s" type="slide" axis="0 1 1"/><geom size=".1 .3" '
    'type="capsule" pos=".1 0 0"/></body></worldbody>',
    "free": '<option gravity="1 2 -9"/><worldbody><geom type="plane" size="1 1 1"/><body name="torso" pos="1 2 3" '
    f'euler="10 20 30"><freejoint/>{LINK.format(5)}{ARM.format(FINGERS)}</body></worldbody>',
    "drone": f'<worldbody><body name="x" pos="0 0 1" euler="10 20 30"><freejoint/>{LINK.format(5)}<site name="imu" '
    f'pos="0 0 .1"/><body name="rotor" pos=".1 .2 .3">{LINK.format(1)}</body></body></worldbody>',
    "simple": '<worldbody><body name="x"><joint name="a" type="slide" armature=".04"/>'
    '<geom size=".1"/></body></worldbody>',
    "weightless": f'<option><flag gravity="disable"/></option><worldbody>{ARM.format("")}</worldbody>',
    "two arms": f"<worldbody>{ARM.format('')}{FINGERS}</worldbody>",
    "defaults": '<compiler angle="radian"/><default><joint damping="2" armature=".3"/><geom density="300"/><default '
    'class="s"><joint type="slide"/></default></default><worldbody><frame pos="0 1 0" euler=".1 .2 .3"><body name="f">'
    f'<joint name="a" class="s" axis="0 1 .5"/>{BALL.format(".3 0 0")}</body></frame></worldbody>',
    "replicated": '<worldbody><replicate count="3" euler="0 0 90" offset="1 0 0"><body name="leg"><joint name="hip" '
    f'axis="0 1 0"/>{BALL.format("0 .2 .1")}</body></replicate></worldbody>',
    "tiny": '<worldbody><body name="wing"><freejoint/><geom size=".0004" density="900"/><body name="tip" '
    'pos=".001 0 0"><joint name="t" axis="0 1 0"/><geom size=".0002 .0005" type="capsule" pos=".0004 0 .0001"/>'
    "</body></body></worldbody>",
}

"""MJCF features of robots that people share, each in a small model: what the file says, and what is noted of it."""

from __future__ import annotations

from typing import NamedTuple

from oracles.mjcf_cases import ARM, FINGERS, LINK

SPHERE = '<geom size=".1" pos=".1 0 .02"/>'
HAND = f"<worldbody>{ARM.format(FINGERS)}</worldbody>"
PLAIN = f"<worldbody>{ARM.format('')}</worldbody>"
TORSO = f'<body name="torso" pos="1 2 3"><freejoint/>{LINK.format(5)}{ARM.format(FINGERS)}</body>'
DAMPED = TORSO.replace("<freejoint/>", '<joint type="free" name="root" damping="1"/>')
CUBE = '<body name="cube" pos="1 0 0"><freejoint/><geom type="box" size=".1 .1 .1"/></body>'
TENDON = '<tendon><fixed name="t" {}><joint joint="l" coef=".5"/><joint joint="r" coef=".5"/></fixed></tendon>'
LOOP = "the loop that it closes stays open, its forces are in no torque"


class Feature(NamedTuple):
    """A model, the speeds that it has, and its notes: one pattern each, in their order."""

    text: str
    speeds: int
    notes: tuple[str, ...] = ()


def hinged(attributes: str, compiler: str = "", inside: str = SPHERE) -> str:
    return (
        f"{compiler}<worldbody><body name='x' {attributes.partition('|')[2]}>"
        f"<joint name='j' axis='0 1 0' {attributes.partition('|')[0]}/>{inside}</body></worldbody>"
    )


FEATURES = {
    "connect of bodies": Feature(
        HAND + '<equality><connect body1="left" body2="right" anchor="0 0 .1"/></equality>',
        4,
        (rf"equality \(connect\): {LOOP}",),
    ),
    "connect of sites": Feature(
        HAND.replace("</worldbody>", '<site name="on"/></worldbody>')
        + '<equality><connect name="c" site1="tcp" site2="on"/></equality>',
        4,
        (rf"equality 'c' \(connect\): {LOOP}",),
    ),
    "weld": Feature(
        HAND + '<equality><weld body1="left" body2="right"/></equality>',
        4,
        (rf"equality \(weld\): {LOOP}",),
    ),
    "weld to a mocap body": Feature(
        f'<worldbody>{ARM.format("")}<body name="target" mocap="true" pos="1 1 1"><geom size=".1"/></body></worldbody>'
        '<equality><weld body1="target" body2="lower"/></equality>',
        2,
        (r"\(weld\)",),
    ),
    "curve": Feature(
        HAND
        + '<equality><joint name="knee" joint1="r" joint2="l" polycoef="0 .5 .2 .1 .05"/></equality>',
        4,
        (
            r"equality 'knee' \(joint\): joint 'r' follows 'l' on a curve "
            r"\(polycoef 0 0.5 0.2 0.1 0.05\) and is not tied",
        ),
    ),
    "line on a curve": Feature(
        HAND
        + '<equality><joint joint1="r" joint2="l" polycoef="0 0 1 0 0"/><joint joint1="b" joint2="r" '
        'polycoef="0 .1 0 0 0"/></equality>',
        3,
        ("on a curve",),
    ),
    "fixed tendon": Feature(
        HAND
        + TENDON.format(
            'stiffness="3" damping=".1" springlength=".1" range="0 1" frictionloss=".1"'
        )
        + '<equality><tendon tendon1="t"/></equality><actuator><position tendon="t" kp="3" '
        'forcerange="-5 5"/></actuator>',
        4,
        (
            r"equality \(tendon\): its forces are in no torque",
            r"tendon 't' \(stiffness, damping, frictionloss, limits\)",
        ),
    ),
    "spatial tendon and muscle": Feature(
        HAND.replace(
            "</worldbody>",
            '<site name="on"/><geom name="w" type="cylinder" size=".05 .1"/></worldbody>',
        )
        + '<tendon><spatial name="s"><site site="tcp"/><geom geom="w"/><site site="on"/></spatial></tendon>'
        '<actuator><muscle tendon="s" lengthrange=".1 1"/></actuator>',
        4,
    ),
    "actuators": Feature(
        '<compiler><lengthrange mode="none"/></compiler>'
        + HAND
        + '<actuator><adhesion body="left" ctrlrange="0 1" gain="3"/><motor joint="a" gear="100"/><velocity joint="b" '
        'kv="3"/><intvelocity joint="l" actrange="-1 1" kp="2"/><damper joint="r" ctrlrange="0 1" kv="3"/><cylinder '
        'joint="a" timeconst="1"/><position joint="a" kp="3" dampratio="1" inheritrange="1"/><motor site="tcp" '
        'gear="0 0 1 0 0 0"/><general jointinparent="a" gear="2" dyntype="filterexact" dynprm=".1"/></actuator>',
        4,
    ),
    "springs": Feature(
        hinged('stiffness="3" springref="20" actuatorfrcrange="-5 5" springdamper=".1 1"'),
        1,
        ("springs of joints 'j'",),
    ),
    "gravity compensation": Feature(
        hinged('actuatorgravcomp="true"|gravcomp="1"'), 1, ("gravity compensation of bodies 'x'",)
    ),
    "limits by hand": Feature(
        hinged('limited="true" range="-1 1"', '<compiler autolimits="false"/>'), 1
    ),
    "inertia of some groups": Feature(
        hinged("", '<compiler inertiagrouprange="0 1"/>', SPHERE + '<geom size=".3" group="2"/>'), 1
    ),
    "bounds": Feature(
        '<compiler boundmass=".1" boundinertia=".01" balanceinertia="true"/><worldbody><body name="x"><freejoint '
        f'align="true"/>{SPHERE}<body name="tiny" pos="0 0 1"><joint name="t"/><inertial pos="0 0 0" mass="1e-5" '
        'diaginertia="1e-8 1e-8 1e-6"/></body></body></worldbody>',
        7,
    ),
    "world around": Feature(
        '<option integrator="implicitfast" cone="elliptic" wind="1 2 3" density="1.2"><flag '
        'eulerdamp="disable"/></option><size memory="10M"/><visual><global offwidth="3000"/></visual><statistic '
        'center="0 0 1"/><asset><texture '
        'type="skybox" builtin="gradient" width="64" height="384"/><texture type="2d" name="g" builtin="checker" '
        'width="30" height="30"/><material name="m" texture="g" texrepeat="5 5"/></asset>'
        + HAND.replace(
            "</worldbody>",
            '<light/><camera name="c"/><geom type="plane" size="1 1 1"/></worldbody>',
        )
        + '<contact><exclude body1="upper" body2="left"/></contact><sensor><jointpos joint="a"/></sensor><keyframe>'
        '<key name="home" qpos="0 0 0 0"/></keyframe><custom><numeric name="n" data="1 2"/></custom>',
        4,
        ("forces of the fluid around it",),
    ),
    "child classes": Feature(
        '<default><default class="robot"><joint axis="0 1 0" armature=".1"/><default class="knee"><joint range="-1 2"/>'
        '</default></default></default><worldbody><body name="x" childclass="robot"><joint name="j" class="knee"/>'
        f'{SPHERE}<frame euler="0 0 30" childclass="knee"><body name="y" pos="0 0 1"><joint name="t"/>{SPHERE}</body>'
        "</frame></body></worldbody>",
        2,
    ),
    "base of three joints": Feature(
        '<worldbody><body name="base"><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" '
        f'axis="0 1 0"/><joint name="turn" axis="0 0 1"/>{LINK.format(9)}{ARM.format(FINGERS)}</body></worldbody>',
        7,
    ),
    "arm and cubes": Feature(
        f"<worldbody>{ARM.format('')}{CUBE}{CUBE.replace('cube', 'cube2')}</worldbody>",
        2,
        ("free bodies beside the robot: 'cube', 'cube2'",),
    ),
    "legs and a cube": Feature(
        f"<worldbody>{TORSO}{CUBE}</worldbody>", 10, ("free bodies beside the robot: 'cube'",)
    ),
    "free joint with drives": Feature(
        f"<worldbody>{DAMPED}</worldbody>",
        10,
        ("armature, damping and friction of the free joints 'root'",),
    ),
    "rollers": Feature(
        f'<worldbody><body name="torso" pos="1 2 3"><freejoint/>{LINK.format(5)}<replicate count="20" euler="0 0 18">'
        '<body name="roller" pos=".3 0 0"><joint name="turn" axis="0 1 0"/><geom type="ellipsoid" size=".02 .03 .02"/>'
        "</body></replicate></body></worldbody>",
        26,
    ),
    "plugin": Feature(
        '<extension><plugin plugin="mujoco.pid"><instance name="p"><config key="kp" value="3"/></instance></plugin>'
        f'</extension>{HAND}<actuator><plugin joint="a" plugin="mujoco.pid" instance="p"/></actuator>',
        4,
    ),
}
# what the meshes, pictures and skins of these are is in files that are not there
MISSING = {
    "height field": (
        '<asset><hfield name="h" file="h.png" size="1 1 1 .1"/></asset>'
        + PLAIN.replace("</worldbody>", '<geom type="hfield" hfield="h"/></worldbody>')
    ),
    "skin": PLAIN + '<deformable><skin name="s" file="s.skn"/></deformable>',
    "meshes": '<compiler meshdir="assets" texturedir="assets"/><asset><mesh file="base_0.obj" scale=".001 .001 .001"/>'
    '<mesh class="v" file="b.stl"/><texture name="t" type="2d" file="t.png"/><material name="m" texture="t"/></asset>'
    '<default><default class="v"><mesh scale=".00001 -.00001 .00001" maxhullvert="20"/><geom type="mesh" contype="0" '
    'conaffinity="0" group="2" material="m"/></default></default>'
    + PLAIN.replace(
        '<site name="tcp"',
        '<geom class="v" mesh="base_0"/><geom class="v" mesh="b"/><geom type="capsule" mesh="b"/><site name="tcp"',
    ),
}

"""Small xacro files, one for every kind of macro that robots use."""

from __future__ import annotations

_HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
_LINK = (
    '<link name="{}"><inertial><origin xyz="${{1 / 4}} 0 0"/><mass value="${{2 * m}}"/>'
    '<inertia ixx="${{m * 0.1}}" iyy="${{m * 0.1}}" izz="${{m * 0.1}}"/></inertial></link>'
)
_JOINT = (
    '<joint name="{0}_joint" type="revolute"><parent link="{1}"/><child link="{0}"/><axis xyz="0 0 1"/>'
    '<origin xyz="${{L}} 0 0" rpy="${{pi / 2}} 0 ${{radians(30)}}"/><limit lower="${{-pi}}" upper="3" effort="9" '
    'velocity="1"/></joint>'
)
_PLAIN = (
    '<xacro:property name="m" value="1.5"/><xacro:property name="L" value="${m / 3}"/><link name="base"/>'
    + _LINK.format("arm")
    + _JOINT.format("arm", "base")
)
_MACRO = (
    '<xacro:arg name="prefix" default=""/><xacro:arg name="n" default="1"/><xacro:property name="L" value="0.4"/>'
    '<xacro:macro name="limb" params="name parent m:=1 *block">'
    + _LINK.format("${name}")
    + _JOINT.format("${name}", "${parent}")
    + '<xacro:insert_block name="block"/></xacro:macro><link name="base"/><xacro:limb name="$(arg prefix)a" '
    'parent="base" m="$(arg n)"><link name="tool"/></xacro:limb><joint name="t" type="fixed"><parent '
    'link="$(arg prefix)a"/><child link="tool"/></joint>'
)
_LOOP = (
    '<xacro:property name="m" value="1"/><xacro:property name="L" value="0.2"/><link name="l0"/>'
    '<xacro:macro name="row" params="k"><xacro:if value="${k &lt; 4}">'
    + _LINK.format("l${k}")
    + _JOINT.format("l${k}", "l${k - 1}")
    + '<xacro:row k="${k + 1}"/></xacro:if></xacro:macro><xacro:row k="1"/>'
)
_CHOICE = (
    '<xacro:arg name="hand" default="true"/><xacro:property name="m" value="$(eval 1 + 1)"/><xacro:property '
    'name="sizes" value="${dict(a=0.1, b=[0.2, 0.3])}"/><xacro:property name="L" '
    "value=\"${sizes['b'][1] if m == 2 else 0}\"/>"
    '<link name="base"/>'
    + _LINK.format("arm")
    + _JOINT.format("arm", "base")
    + '<xacro:if value="$(arg hand)">'
    + _LINK.format("hand")
    + _JOINT.format("hand", "arm")
    + '</xacro:if><xacro:unless value="$(arg hand)"><link name="flange"/><joint name="f" type="fixed"><parent '
    'link="arm"/><child link="flange"/></joint></xacro:unless>'
)
XACROS = tuple(f"{_HEAD}{body}</robot>" for body in (_PLAIN, _MACRO, _LOOP, _CHOICE))

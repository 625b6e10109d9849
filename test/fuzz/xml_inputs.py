"""Damaged and invented XML: worlds, robots, MuJoCo models, sensors, and files of other simulators."""

from __future__ import annotations

import copy
import random

from lxml import etree

from raisim_ros.description.resources import resource_dir
from raisim_ros.description.world.schema import ELEMENTS
from raisim_ros.description.world.schema_types import Kind

NUMBERS = ["0", "1", "-1", "0.5", "1e-3", "3", "1e30", "1e51", "-1e308", "1e-320", "nan", "inf", "-inf", "", "x", "1_0", "0x10", "٣"]
WORDS = [
    *NUMBERS, "1 2", "0 0 1", "1 0 0 0", "0 0 0 0", "1,2,3", "@@x", "@@i", "{1/0}", "{", "{0.5*2}", "[THIS_DIR]", "[THIS_DIR]/../..",
    "true", "false", "maybe", "default", "collision[1|2]", "collision[-1]", "collision[99]", "mesh.obj", "/dev/null", "/dev/zero",
    "/proc/self/mem", "../" * 40 + "etc/passwd", "package://a/b", "model://m/n", "file:///", "é漢🤖", "&lt;", "x" * 3000,
    "99999999999999999999", "fixed", "floating", "revolute", "spherical", "prismatic", "continuous", "world", "base", "trapezoid",
]  # fmt: skip

MJCF = """<mujoco model="m"><compiler angle="degree" autolimits="true"/>
<option timestep="0.002" gravity="0 0 -9.81"/>
<default><geom friction="0.8 0.1 0.1" density="500"/><default class="leg"><joint damping="1" armature="0.01"/></default></default>
<asset><mesh name="ball" file="unit_sphere.obj" scale="0.1 0.1 0.1"/><hfield name="h" nrow="3" ncol="3" size="1 1 1 0.1"/></asset>
<worldbody><geom type="plane" size="1 1 1"/><light pos="0 0 1"/>
<body name="torso" pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.1 0.1"/><site name="s"/>
<body name="leg" pos="0.2 0 0" childclass="leg"><joint name="hip" type="hinge" axis="0 1 0" range="-90 90"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03"/><inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
<body name="foot" pos="0 0 -0.3"><joint name="knee" type="slide" axis="0 0 1"/><geom type="sphere" size="0.05"/>
<geom type="cylinder" size="0.02 0.1"/></body></body></body></worldbody>
<contact><exclude body1="torso" body2="foot"/></contact>
<equality><connect body1="foot" body2="torso" anchor="0 0 0"/><joint joint1="hip" joint2="knee" polycoef="0 1 0 0 0"/></equality>
<actuator><motor joint="hip" gear="10"/><position joint="knee" kp="5"/></actuator><keyframe><key qpos="0 0 1 1 0 0 0 0 0"/></keyframe>
</mujoco>"""
SDF = """<sdf version="1.9"><world name="w"><physics type="ode"><max_step_size>0.001</max_step_size></physics>
<model name="m"><pose>0 0 1 0 0 0</pose><link name="l"><inertial><mass>1</mass></inertial><collision name="c"><geometry><box>
<size>1 1 1</size></box></geometry></collision></link></model><include><uri>model://sun</uri></include></world></sdf>"""


def _bases(folder: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((resource_dir() / folder).iterdir()) if path.suffix in (".xml", ".urdf")]


class XmlInputs:
    """Documents made from good ones, and from the tables of the world file."""

    def __init__(self, kind: str) -> None:
        folders = {"world": ["worlds"], "robot": ["robots"], "sensor": ["sensors"], "mujoco": [], "junk": ["worlds", "robots"]}
        texts = [text for folder in folders[kind] for text in _bases(folder)]
        texts += {"mujoco": [MJCF.encode()], "junk": [SDF.encode(), MJCF.encode()]}.get(kind, [])
        self._kind = kind
        self._roots = [etree.fromstring(text, etree.XMLParser(remove_comments=True)) for text in texts if b"<!DOCTYPE" not in text]

    def make(self, rng: random.Random) -> bytes:
        if self._kind == "world" and rng.random() < 0.4:
            root = invented_world(rng)
        else:
            root = copy.deepcopy(rng.choice(self._roots))
            if self._kind == "junk" and rng.random() < 0.5:
                root.tag = rng.choice(("raisim", "robot", "mujoco", "sensor_set", "sdf", "x"))
        for _ in range(rng.choice((0, 1, 1, 2, 3, 6))):
            rng.choice(_MUTATIONS)(root, rng)
        text = etree.tostring(root, encoding=rng.choice(("utf-8", "utf-8", "utf-8", "utf-16", "iso-8859-1", "us-ascii")), xml_declaration=True)
        return damaged_bytes(text, rng) if rng.random() < 0.2 else text


def damaged_bytes(text: bytes, rng: random.Random) -> bytes:
    """Bits turned, parts cut out, repeated or put in from elsewhere."""
    data = bytearray(text)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        if not data:
            break
        at, length = rng.randrange(len(data)), rng.choice((1, 2, 4, 8, 50, 300))
        way = rng.randrange(5)
        if way == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif way == 1:
            del data[at : at + length]
        elif way == 2:
            data[at:at] = data[at : at + length]
        elif way == 3:
            data[at : at + 4] = rng.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\0\0\0\x80", b"\xff\xff\xff\x7f", b"1e99", b" nan"))
        else:
            other = rng.randrange(len(data))
            data[at : at + length] = data[other : other + length]
    return bytes(data)


# ---- changes of a tree ----


def _elements(root: etree._Element) -> list[etree._Element]:
    return [element for element in root.iter() if isinstance(element.tag, str)]


def _change_attribute(root: etree._Element, rng: random.Random) -> None:
    element = rng.choice([one for one in _elements(root) if one.attrib] or [root])
    if element.attrib:
        others = [value for one in _elements(root) for value in one.attrib.values()]
        element.set(rng.choice(list(element.attrib)), rng.choice(WORDS) if rng.random() < 0.7 else rng.choice(others))


def _change_number(root: etree._Element, rng: random.Random) -> None:
    """One number of a list becomes another."""
    element = rng.choice([one for one in _elements(root) if one.attrib] or [root])
    if element.attrib:
        name = rng.choice(list(element.attrib))
        words = element.get(name, "").split()
        if words:
            words[rng.randrange(len(words))] = rng.choice(NUMBERS)
            element.set(name, " ".join(words))


def _drop_attribute(root: etree._Element, rng: random.Random) -> None:
    element = rng.choice(_elements(root))
    if element.attrib:
        del element.attrib[rng.choice(list(element.attrib))]


def _drop(root: etree._Element, rng: random.Random) -> None:
    element = rng.choice(_elements(root))
    if element.getparent() is not None:
        element.getparent().remove(element)


def _repeat(root: etree._Element, rng: random.Random) -> None:
    element = rng.choice(_elements(root))
    if element.getparent() is not None:
        element.addnext(copy.deepcopy(element))


def _move(root: etree._Element, rng: random.Random) -> None:
    element, target = rng.choice(_elements(root)), rng.choice(_elements(root))
    if element.getparent() is not None and element not in (target, *target.iterancestors()):
        target.append(element)


def _rename(root: etree._Element, rng: random.Random) -> None:
    element = rng.choice(_elements(root))
    element.tag = rng.choice(_elements(root)).tag if rng.random() < 0.7 else rng.choice(("array", "include", "params", "x", "material"))


def _loop(root: etree._Element, rng: random.Random) -> None:
    element = rng.choice(_elements(root))
    loop = etree.Element("array", idx="@@i", start=rng.choice(NUMBERS), end=rng.choice(("3", "0", "-1", "1e9", "x", "@@n")))
    if element.getparent() is not None:
        element.addprevious(loop)
        loop.append(element)


def _text(root: etree._Element, rng: random.Random) -> None:
    rng.choice(_elements(root)).text = rng.choice(WORDS)


_MUTATIONS = [_change_attribute, _change_attribute, _change_attribute, _change_number, _change_number, _drop_attribute, _drop, _repeat,
              _move, _rename, _loop, _text]  # fmt: skip


# ---- worlds from the table of elements ----

_VALUES = {
    Kind.NUMBER: ["0", "1.5", "-2"],
    Kind.POSITIVE: ["0.5", "2", "10"],
    Kind.RATE: ["10", "100"],
    Kind.COUNT: ["0", "1", "3"],
    Kind.VEC3: ["0 0 1", "1 2 3", "-1 0.5 2"],
    Kind.QUATERNION: ["1 0 0 0", "0.7 0.7 0 0"],
    Kind.NUMBERS: ["0 0 0 0", "1", "1 2 3 4 5 6 7 8 9"],
    Kind.INDICES: ["0", "0 1 2", "0 1", "1 0 2 3"],
    Kind.TEXT: ["a", "b", "ball", "steel"],
    Kind.SWITCH: ["true", "false"],
    Kind.SCALE: ["1", "1 2 1"],
    Kind.COLOR: ["1 0 0"],
}


def invented_world(rng: random.Random) -> etree._Element:
    """Elements and attributes from the tables that the reader itself uses."""
    root = etree.Element("raisim")
    _fill(root, "raisim", rng, 0)
    return root


def _fill(element: etree._Element, name: str, rng: random.Random, depth: int) -> None:
    described = ELEMENTS[name]
    for attribute in described.attributes:
        if rng.random() < 0.6:
            values = _VALUES.get(attribute.kind)
            element.set(rng.choice(attribute.names), rng.choice(values) if values and rng.random() < 0.9 else rng.choice(WORDS))
    children = list(described.children)
    if children and depth < 5:
        for _ in range(rng.choice((1, 2, 3, 5))):
            child = rng.choice(children)
            _fill(etree.SubElement(element, rng.choice(ELEMENTS[child].names)), child, rng, depth + 1)

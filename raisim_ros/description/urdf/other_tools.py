"""What a URDF file tells Gazebo and ros2_control, as far as there is an equal here; the rest is listed."""

from __future__ import annotations

import math

from lxml import etree

from raisim_ros.description.robot.model import Joint, RobotModel

# Names of contact materials that stand for a friction of Gazebo's.
GAZEBO_MATERIAL = "gazebo_"
# Files write anything up to 1e14 for "does not slip"; no dry surface grips better than this.
MOST_FRICTION = 2.0
# Of a link or joint: looks, and how Gazebo solves; nothing that a simulation without Gazebo lacks.
_QUIET = frozenset({
    "material", "visual", "kp", "kd", "minDepth", "min_depth", "maxVel", "max_vel", "maxContacts",
    "max_contacts", "fdir1", "slip1", "slip2", "dampingFactor", "laserRetro", "selfCollide", "self_collide",
    "static", "turnGravityOff", "gravity", "preserveFixedJoint", "disableFixedJointLumping",
    "implicitSpringDamper", "provideFeedback", "stopCfm", "stopErp", "fudgeFactor", "cfmDamping",
    "springStiffness", "springReference",
})


def read_other_tools(root: etree._Element, model: RobotModel) -> list[str]:
    """Take over friction of ``<gazebo>``, interfaces and limits of ``<ros2_control>``. Returns what was left out."""
    left_out: list[str] = []
    for gazebo in root.findall("gazebo"):
        _read_gazebo(gazebo, model, left_out)
    for control in root.findall("ros2_control"):
        _read_control(control, model, left_out)
    return left_out


def listed(left_out: list[str]) -> str:
    """What was left out in one line: the same of several links or joints is named once."""
    groups: dict[str, list[str]] = {}
    for text in left_out:
        what, of, _ = text.partition(" of '")
        groups.setdefault(what if of and text.endswith("'") else text, []).append(text)
    return "; ".join(
        texts[0] + (f" and {len(texts) - 1} more" if len(texts) > 1 else "") for texts in groups.values()
    )


def friction_of_material(name: str) -> float | None:
    """The friction that the name of a contact material stands for; None for other names."""
    try:
        return float(name.removeprefix(GAZEBO_MATERIAL)) if name.startswith(GAZEBO_MATERIAL) else None
    except ValueError:
        return None


def _number(element: etree._Element | None) -> float | None:
    """The number in an element; None where there is none, or what a tool has left unexpanded."""
    try:
        value = float(element.text or "") if element is not None else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None


# ---- Gazebo ----


def _read_gazebo(gazebo: etree._Element, model: RobotModel, left_out: list[str]) -> None:
    name = gazebo.get("reference", "")
    _read_friction(gazebo, name, model, left_out)
    for element in gazebo.iterchildren(tag=etree.Element):
        if element.tag in ("sensor", "plugin"):
            kind = f" ({element.get('type')})" if element.get("type") else ""
            left_out.append(f"<gazebo> {element.tag} '{element.get('name', '')}'{kind}")
        elif element.tag not in _QUIET | {"mu", "mu1", "mu2", "collision"}:
            tag = etree.QName(element).localname
            left_out.append(f"<gazebo> <{tag}> of '{name}'" if name else f"<gazebo> <{tag}>")


def _friction(gazebo: etree._Element) -> tuple[float | None, float | None]:
    """Along the two directions of friction."""
    ode = gazebo.find("collision/surface/friction/ode")
    first = [gazebo.find("mu1"), gazebo.find("mu"), ode.find("mu") if ode is not None else None]
    second = [gazebo.find("mu2"), ode.find("mu2") if ode is not None else None]
    found = [next((n for n in map(_number, places) if n is not None and n >= 0.0), None) for places in (first, second)]
    return found[0], found[1]


def _read_friction(gazebo: etree._Element, name: str, model: RobotModel, left_out: list[str]) -> None:
    mu, across = _friction(gazebo)
    mu = across if mu is None else mu
    if mu is None:
        return
    link = next((link for link in model.links if link.name == name), None)
    if link is None:
        left_out.append(f"<gazebo> friction of '{name}', which is no link")
        return
    if across is not None and across != mu:
        left_out.append(f"<gazebo> mu2 of '{name}': friction is the same in all directions, {mu:g}")
    mu = min(mu, MOST_FRICTION)
    for collision in link.collisions:
        if collision.material == "default":
            collision.material = f"{GAZEBO_MATERIAL}{mu:g}"


# ---- ros2_control ----


def _read_control(control: etree._Element, model: RobotModel, left_out: list[str]) -> None:
    joints = {joint.name: joint for joint in model.joints}
    for element in control.findall("joint"):
        name = element.get("name", "")
        if name not in joints:
            left_out.append(f"<ros2_control> joint '{name}', which does not exist")
            continue
        for interface in element.findall("command_interface"):
            _read_interface(interface, joints[name], left_out)
    for tag in ("sensor", "gpio"):
        left_out.extend(f"<ros2_control> {tag} '{element.get('name', '')}'" for element in control.findall(tag))


def _read_interface(interface: etree._Element, joint: Joint, left_out: list[str]) -> None:
    """Bounds of commands are limits of the joint: the narrower ones hold."""
    kind = interface.get("name", "")
    joint.command_interfaces = (*joint.command_interfaces, kind)
    bounds = {param.get("name"): _number(param) for param in interface.findall("param")}
    low, high = bounds.get("min"), bounds.get("max")
    if kind == "position" and joint.has_axis:
        lower = joint.lower if low is None else max(joint.lower, low)
        upper = joint.upper if high is None else min(joint.upper, high)
        if lower < upper and joint.type != "continuous":
            joint.lower, joint.upper = lower, upper
    elif kind in ("velocity", "effort"):
        largest = max((abs(bound) for bound in (low, high) if bound is not None), default=0.0)
        if largest > 0.0 and kind == "velocity":
            joint.velocity_limit = min(joint.velocity_limit, largest)
        elif largest > 0.0:
            joint.effort_limit = min(joint.effort_limit, largest)
    elif kind != "position":
        left_out.append(f"<ros2_control> command interface '{kind}' of joint '{joint.name}'")

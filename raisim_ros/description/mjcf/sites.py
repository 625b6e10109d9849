"""Sites of a compiled model: frames of robots, named places of the world.

A site with a name becomes a link without mass, welded to that of its body: a frame like those of joints, on which
sensors can be mounted. Points that only tendons come by do not; the tendons know them.
"""

from __future__ import annotations

from collections.abc import Iterator

from raisim_ros.description.mjcf.robot import RobotBuilder
from raisim_ros.description.mjcf.skeleton import Skeleton
from raisim_ros.description.robot.model import Joint, Link, Pose
from raisim_ros.description.rotation import quaternion_from_matrix
from raisim_ros.description.world.scene_types import NamedPose


def add_sites(builder: RobotBuilder) -> dict[int, str]:
    """Give a robot the links of its sites; returns their names."""
    found = {}
    for site, name, body in _named_sites(builder.skeleton):
        if body in builder.bodies and not builder.skeleton.is_static(body):
            link = found[site] = builder.free_name(name)
            position, rotation = builder.skeleton.pose("site", site).arrays()
            pose = Pose(builder.in_link(body, position), rotation)
            weld = Joint(builder.free_joint_name(link), "fixed", pose, parent=builder.name(body), child=link)
            builder.robot.links.append(Link(link))
            builder.robot.joints.append(weld)
    return found


def named_places(skeleton: Skeleton) -> list[NamedPose]:
    """Sites of the world, and of bodies that it holds."""
    places = []
    for site, name, body in _named_sites(skeleton):
        if skeleton.is_static(body):
            position, rotation = (skeleton.world_pose(body) @ skeleton.pose("site", site)).arrays()
            x, y, z = map(float, position)
            qw, qx, qy, qz = map(float, quaternion_from_matrix(rotation))
            places.append(NamedPose(name, (x, y, z), (qw, qx, qy, qz)))
    return places


def _named_sites(skeleton: Skeleton) -> Iterator[tuple[int, str, int]]:
    """Number, name and body of the sites that more than tendons may have to do with."""
    model = skeleton.model
    led = {int(number) for wrap, number in enumerate(model["wrap_objid"]) if model.kind("wrap_type", wrap) == "site"}
    led |= {round(float(side)) for wrap, side in enumerate(model["wrap_prm"]) if _has_side(skeleton, wrap)}
    used = {
        int(number)
        for number, kind in zip(model["sensor_objid"], model.kinds["sensor_objtype"], strict=True)
        if kind == "site"
    }
    for site, name in enumerate(model.names["site"]):
        if name and (site not in led or site in used):
            yield site, name, int(model["site_bodyid"][site])


def _has_side(skeleton: Skeleton, wrap: int) -> bool:
    return skeleton.model.kind("wrap_type", wrap) in ("sphere", "cylinder")

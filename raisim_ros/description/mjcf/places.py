"""Where frames of a compiled model lie in a tree."""

from __future__ import annotations

from dataclasses import dataclass

from raisim_ros.description.mjcf.robot import RobotBuilder
from raisim_ros.description.robot.kinematic_tree import KinematicTree
from raisim_ros.description.robot.model import Pose
from raisim_ros.description.rotation import quaternion_from_matrix

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Frame:
    """A frame of a body of the tree; without a name, of the world."""

    link: str
    position: Numbers
    quaternion: Numbers


class Places:
    """Finds the frames of one robot."""

    def __init__(self, builder: RobotBuilder, tree: KinematicTree) -> None:
        self._builder, self._tree = builder, tree
        self._frames = {frame.link: frame for frame in tree.frames}
        self._bodies = {body.name: index for index, body in enumerate(tree.bodies)}

    def in_body(self, body: int, pose: Pose) -> Frame | None:
        """A pose in the frame of a body of the model; None for one of another system."""
        builder, skeleton = self._builder, self._builder.skeleton
        if skeleton.is_static(body):
            base = "" if builder.is_floating else self._tree.bodies[0].name
            return _frame(base, skeleton.world_pose(body) @ pose)
        if body not in builder.bodies:
            return None
        name = builder.name(body)
        local = Pose(builder.in_link(body, pose.arrays()[0]), pose.arrays()[1])
        if name in self._bodies:
            return _frame(name, local)
        frame = self._frames[name]
        return _frame(self._tree.bodies[frame.body].name, Pose(frame.position, frame.rotation) @ local)

    def of_site(self, site: int) -> Frame | None:
        """A site."""
        skeleton = self._builder.skeleton
        return self.in_body(int(skeleton.model["site_bodyid"][site]), skeleton.pose("site", site))

    def of_geom(self, geom: int) -> Frame | None:
        """A geom."""
        skeleton = self._builder.skeleton
        return self.in_body(int(skeleton.model["geom_bodyid"][geom]), skeleton.pose("geom", geom))


def _frame(link: str, pose: Pose) -> Frame:
    position, rotation = pose.arrays()
    return Frame(link, tuple(map(float, position)), tuple(map(float, quaternion_from_matrix(rotation))))

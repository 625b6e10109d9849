"""Bodies of a compiled model: their names, places and what is on them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from raisim_ros.description.errors import Place
from raisim_ros.description.mjcf.compiler import CompiledModel
from raisim_ros.description.robot.model import Pose
from raisim_ros.description.rotation import Array, matrix_from_quaternion

WORLD = 0


class Skeleton:
    """The bodies with names for all of them; body 0 is the world."""

    def __init__(self, model: CompiledModel) -> None:
        self.model = model
        parents = model["body_parentid"]
        self.children: list[list[int]] = [[] for _ in parents]
        for body in range(1, len(parents)):
            self.children[int(parents[body])].append(body)
        places = [place for _, place in sorted((k, n) for row in self.children for n, k in enumerate(row))]
        self.body_names: list[str] = []
        taken = set(model.names["body"])
        for body, name in enumerate(model.names["body"]):
            parent = int(parents[body])
            made = f"{self.body_names[parent]}_{places[body - 1]}" if body else "world"
            self.body_names.append(name or free_name(made, taken))
        self.joint_names: list[str] = []
        taken = set(model.names["jnt"])
        for joint, name in enumerate(model.names["jnt"]):
            body = int(model["jnt_bodyid"][joint])
            made = f"{self.body_names[body]}_joint_{joint - int(model['body_jntadr'][body])}"
            self.joint_names.append(name or free_name(made, taken))

    # ---- what is on a body ----

    def joints(self, body: int) -> range:
        """Joints that carry a body."""
        return self._part("jnt", body)

    def geoms(self, body: int) -> range:
        """Geoms of a body."""
        return self._part("geom", body)

    def _part(self, kind: str, body: int) -> range:
        first, count = int(self.model[f"body_{kind}adr"][body]), int(self.model[f"body_{kind}num"][body])
        return range(first, first + count) if count else range(0)

    def below(self, body: int) -> Iterator[int]:
        """A body and those on it, depth first."""
        pending = [body]
        while pending:
            at = pending.pop()
            yield at
            pending.extend(reversed(self.children[at]))

    def top_of(self, body: int) -> int:
        """The body directly on the world that carries a body; 0 for the world itself."""
        parents = self.model["body_parentid"]
        while body and parents[body]:
            body = int(parents[body])
        return body

    def is_static(self, body: int) -> bool:
        """Is it the world, or held by it?"""
        return int(self.model["body_weldid"][body]) == WORLD and int(self.model["body_mocapid"][body]) < 0

    def moves(self, body: int) -> bool:
        """Has this body or one on it a joint?"""
        return any(self.model["body_jntnum"][one] for one in self.below(body))

    def is_acted_on(self, body: int) -> bool:
        """Does an actuator, a tendon or an equality have to do with it?"""
        model = self.model
        owners: set[int] = set()
        for number in range(len(model.names["actuator"])):
            kind, target = model.kind("actuator_trntype", number), int(model["actuator_trnid"][number, 0])
            array = {"joint": "jnt_bodyid", "jointinparent": "jnt_bodyid", "site": "site_bodyid"}.get(kind)
            if array is not None:
                owners.add(int(model[array][target]))
        for wrap, target in enumerate(model["wrap_objid"]):
            kind = model.kind("wrap_type", wrap)
            array = {"site": "site_bodyid", "sphere": "geom_bodyid", "cylinder": "geom_bodyid"}.get(kind)
            if array is not None:
                owners.add(int(model[array][int(target)]))
        for number in range(len(model["eq_type"])):
            if model.kind("eq_type", number) in ("connect", "weld"):
                ends = [int(model[f"eq_obj{side}id"][number]) for side in (1, 2)]
                is_site = model.kind("eq_objtype", number) == "site"
                owners |= {int(model["site_bodyid"][end]) if is_site else end for end in ends}
        return body in owners

    # ---- places ----

    def pose(self, kind: str, index: int) -> Pose:
        """Place of a body in its parent, or of a geom, site or camera in its body."""
        position, quaternion = self.model[f"{kind}_pos"][index], self.model[f"{kind}_quat"][index]
        return Pose(position.astype(np.float64), matrix_from_quaternion(quaternion))

    def world_pose(self, body: int) -> Pose:
        """Place of a body in the world, with all joints as the file has them."""
        pose = Pose()
        while body:
            pose = self.pose("body", body) @ pose
            body = int(self.model["body_parentid"][body])
        return pose

    def place(self, kind: str, index: int) -> Place:
        """Where an element was written, for errors."""
        return Place(self.model.file, self.model.line(kind, index) or None)

    def inertia(self, body: int) -> tuple[float, Array, Array]:
        """Mass, centre of mass and inertia about it, in the frame of the body."""
        model = self.model
        axes = matrix_from_quaternion(model["body_iquat"][body])
        inertia = axes @ np.diag(model["body_inertia"][body]) @ axes.T
        return float(model["body_mass"][body]), model["body_ipos"][body].astype(np.float64), inertia


def free_name(name: str, taken: set[str]) -> str:
    """A name that is not taken, which it is from now on."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name

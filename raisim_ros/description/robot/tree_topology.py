"""How links and joints hang together: the root, who carries whom, and the order of the movable joints."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.robot.checks import fail
from raisim_ros.description.robot.model import Joint, Link, Pose, RobotModel

DEPTH_FIRST = "depth_first"
ROOT_JOINT = "ROOT"


class Topology:
    """Links and joints of a model by name, proved to be one tree."""

    def __init__(self, model: RobotModel) -> None:
        self._model = model
        self.links = self._links_by_name()
        self.joint_above: dict[str, Joint] = {}
        self.joints_below: dict[str, list[Joint]] = {name: [] for name in self.links}
        self._connect()
        self.root = self._find_root()
        self._check_no_loop()

    def _links_by_name(self) -> dict[str, Link]:
        links: dict[str, Link] = {}
        for link in self._model.links:
            first = links.setdefault(link.name, link)
            if first is not link:
                fail(link.place, f"a second link '{link.name}'; the first one is in line {first.place.line}")
        if not links:
            fail(self._model.place, "the robot has no link")
        return links

    def _connect(self) -> None:
        by_name: dict[str, Joint] = {}
        for joint in self._model.joints:
            first = by_name.setdefault(joint.name, joint)
            if first is not joint:
                fail(joint.place, f"a second joint '{joint.name}'; the first one is in line {first.place.line}")
            for role, name in (("parent", joint.parent), ("child", joint.child)):
                if name not in self.links:
                    fail(joint.place, f"joint '{joint.name}': its {role} link '{name}' does not exist")
            above = self.joint_above.setdefault(joint.child, joint)
            if above is not joint:
                fail(
                    joint.place,
                    f"link '{joint.child}' is the child of two joints, '{above.name}' and '{joint.name}'; "
                    "a closed loop is made with <constraints><pin …/>",
                )
            self.joints_below[joint.parent].append(joint)

    def _find_root(self) -> Link:
        roots = [link for link in self._model.links if link.name not in self.joint_above]
        if not roots:
            joint = self._model.joints[0]
            fail(joint.place, f"the joints form a loop through link '{joint.child}'; no link is the root")
        if len(roots) > 1:
            names = ", ".join(f"'{link.name}'" for link in roots[:5])
            fail(roots[1].place, f"{len(roots)} links without a parent joint ({names}); expected one root link")
        return roots[0]

    def _check_no_loop(self) -> None:
        """With one root and one parent each, a link that the root does not reach lies on or behind a loop."""
        reached = {self.root.name}
        pending = [self.root.name]
        while pending:
            for joint in self.joints_below[pending.pop()]:
                reached.add(joint.child)
                pending.append(joint.child)
        for joint in self._model.joints:
            if joint.child not in reached:
                fail(joint.place, f"joint '{joint.name}' is part of a loop that the root link does not reach")

    def enter_floating_joint(self) -> bool:
        """Make the child of a ``floating`` joint the root: the joint says in URDF's words that the base floats.

        Returns whether there was such a joint. Floating joints anywhere else are refused.
        """
        above, below = self.root, self.joints_below[self.root.name]
        entered = len(below) == 1 and below[0].type == "floating"
        if entered:
            if above.mass or above.collisions:
                fail(below[0].place, f"link '{above.name}' above floating joint '{below[0].name}' must be empty")
            self.root = self.links[below[0].child]
        for joint in self._model.joints:
            if joint.type == "floating" and joint.child != self.root.name:
                fail(joint.place, f"joint '{joint.name}': a floating joint is possible only for the root of the robot")
        return entered

    def rigid_group(self, first: str) -> list[tuple[str, Pose]]:
        """The links held together with `first` by fixed joints, depth first, with their places in its frame."""
        group: list[tuple[str, Pose]] = []
        pending = [(first, Pose())]
        while pending:
            name, pose = pending.pop()
            group.append((name, pose))
            fixed = [joint for joint in self.joints_below[name] if joint.type == "fixed"]
            pending.extend((joint.child, pose @ joint.pose) for joint in reversed(fixed))
        return group

    # ---- order of the movable joints ----

    def joints_in_order(self, order: Sequence[str] | str) -> list[Joint]:
        """Movable joints, parents first: file order when `order` is empty, "depth_first", or a list of names."""
        if order == DEPTH_FIRST:
            return self._depth_first()
        if isinstance(order, str) and order:
            raise InvalidValueError(f"joint_order is '{order}'; expected a list of names or '{DEPTH_FIRST}'")
        in_file_order = self._file_order()
        return self._named_order(list(order), in_file_order) if order else in_file_order

    def _file_order(self) -> list[Joint]:
        """The order of the file; a joint written before its parent comes as soon as its parent has come."""
        rank = {joint.name: index for index, joint in enumerate(self._model.joints)}
        ordered: list[Joint] = []
        available: list[tuple[int, Joint]] = []
        reached = self.root.name
        while True:
            for name, _ in self.rigid_group(reached):
                for joint in self.joints_below[name]:
                    if joint.type != "fixed":
                        heapq.heappush(available, (rank[joint.name], joint))
            if not available:
                return ordered
            joint = heapq.heappop(available)[1]
            ordered.append(joint)
            reached = joint.child

    def _depth_first(self) -> list[Joint]:
        ordered: list[Joint] = []
        pending = list(reversed(self.joints_below[self.root.name]))
        while pending:
            joint = pending.pop()
            if joint.type != "fixed":
                ordered.append(joint)
            pending.extend(reversed(self.joints_below[joint.child]))
        return ordered

    def _named_order(self, names: list[str], joints: list[Joint]) -> list[Joint]:
        by_name = {joint.name: joint for joint in joints}
        if names[0] == ROOT_JOINT and ROOT_JOINT not in by_name:
            names = names[1:]  # the joint of a floating base is always the first
        for name in names:
            if name not in by_name:
                raise InvalidValueError(f"joint_order names '{name}', which is not a movable joint of the robot")
        missing = [name for name in by_name if name not in names]
        if missing or len(names) != len(by_name):
            what = f"lacks '{missing[0]}'" if missing else "names a joint twice"
            raise InvalidValueError(f"joint_order {what}; expected each of the {len(by_name)} movable joints once")
        self._check_parents_first(names)
        return [by_name[name] for name in names]

    def _check_parents_first(self, names: list[str]) -> None:
        seen: set[str] = set()
        for name in names:
            carrier = self._movable_joint_carrying(name)
            if carrier is not None and carrier.name not in seen:
                raise InvalidValueError(f"joint_order has '{name}' before its parent '{carrier.name}'")
            seen.add(name)

    def _movable_joint_carrying(self, joint_name: str) -> Joint | None:
        """The movable joint of the body on which the named joint sits; None for the base."""
        link = next(joint.parent for joint in self._model.joints if joint.name == joint_name)
        while link != self.root.name:
            joint = self.joint_above[link]
            if joint.type != "fixed":
                return joint
            link = joint.parent
        return None

"""`<wire>/state`, `<wire>/cmd` and the markers of wires. Topics are used by the stepping thread alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Set
from typing import Any

import numpy as np
from rclpy.node import Node
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from raisim_ros.description.appearance import wire_colour
from raisim_ros.description.errors import InvalidValueError, RaisimError
from raisim_ros.engine.errors import WrongTypeError
from raisim_ros.engine.objects.wires import Wire, WireType
from raisim_ros.engine.types import StateBuffer
from raisim_ros.engine.world.world import World
from raisim_ros.msg import WireCmd, WireState
from raisim_ros.ros import qos
from raisim_ros.ros.conversions import point
from raisim_ros.ros.following_endpoints import FollowingEndpoints
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.objects.markers import REPEATS
from raisim_ros.ros.objects.object_table import ObjectRow
from raisim_ros.ros.objects.topic import WallTimeTopic
from raisim_ros.ros.pacing import NEVER, period_in_steps, steps_until_multiple
from raisim_ros.ros.request_queue import Origin, RequestQueue, acting_for
from raisim_ros.ros.wires.table import STRETCH_NAMES, WireRow, WireTable


def apply_wire_command(wire: Wire, message: Any) -> None:
    """Carries a WireCmd out, all of it or nothing. For the stepping thread."""
    if message.set_tension and wire.get_wire_type() != WireType.CUSTOM:
        raise WrongTypeError(f"it is {wire.get_wire_type().name.lower()}; only a custom wire takes a tension")
    if message.set_tension and not math.isfinite(message.tension):
        raise InvalidValueError(f"tension is {message.tension}; expected a finite number")
    if message.set_length:
        wire.set_length(message.length)
    if message.set_tension:
        wire.set_tension(message.tension)


class WireTopics:
    """Publishes the state of every wire to those who listen, at a rate in Hz of simulation time."""

    def __init__(self, world: World, table: WireTable, world_frame: str, rate_hz: float) -> None:
        self._world = world
        self._table = table
        self._frame = world_frame
        self.rate_hz = rate_hz
        self._period = 1
        self._attached: dict[Wire, tuple[WireRow, Any]] = {}

    def attach(self, entry: WireRow, publisher: Any) -> None:
        """From now on the wire's state goes out through `publisher`."""
        self._attached[entry.wire] = (entry, publisher)

    def detach(self, wires: Set[Wire]) -> None:
        """Lets go of the publishers of some wires."""
        for wire in wires:
            self._attached.pop(wire, None)

    def rebuild(self, rows: list[ObjectRow], time_step: float) -> None:
        """Forgets wires that left the world; takes over a new time step."""
        self._period = period_in_steps(self.rate_hz, time_step)
        self.detach(self._attached.keys() - set(self._world.get_wires()))

    def steps_until_due(self, step: int) -> int:
        """Steps until the next states must go out."""
        return steps_until_multiple(step, self._period) if self._attached else NEVER

    def due(self, moment: Moment) -> bool:
        """Whether states are due that somebody waits for."""
        if not moment.everything and moment.step % self._period:
            return False
        return any(publisher.get_subscription_count() > 0 for _, publisher in self._attached.values())

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Publishes the state of every wire that somebody listens to."""
        buffer = self._world.read_wires()
        for wire, state in zip(buffer.wires, buffer.states, strict=True):
            entry, publisher = self._attached.get(wire, (None, None))
            if entry is not None and publisher is not None and publisher.get_subscription_count() > 0:
                publisher.publish(self._message(entry, state, moment))

    def _message(self, entry: WireRow, state: Any, moment: Moment) -> WireState:
        header = Header(frame_id=self._frame)
        header.stamp.sec, header.stamp.nanosec = moment.stamp
        return WireState(
            header=header,
            name=entry.name,
            id=entry.wire.get_id(),
            type=entry.type,
            stretch_type=STRETCH_NAMES[entry.wire.get_stretch_type()],
            object1=entry.object1,
            object2=entry.object2,
            sim_step=moment.step,
            sim_time=moment.sim_time,
            length=entry.wire.get_length(),
            distance=float(state["distance"]),
            stretch=float(state["stretch"]),
            tension=float(state["tension"]),
            stiffness=entry.wire.get_stiffness(),
            point1=point(state["point"][0]),
            point2=point(state["point"][1]),
        )


_Made = tuple[WireRow, Any, Any]  # with publisher and subscription


class WireEndpoints(FollowingEndpoints[Wire, WireRow, _Made]):
    """State and command topics of wires. For the executor thread."""

    def __init__(
        self,
        node: Node,
        queue: RequestQueue,
        table: WireTable,
        topics: WireTopics,
        warn: Callable[[Any, str], None],
    ) -> None:
        super().__init__(node, queue)
        self._table = table
        self._topics = topics
        self._warn = warn

    def _wanted(self) -> dict[Wire, WireRow]:
        return {entry.wire: entry for entry in self._table.entries()}

    def _detach(self, gone: Set[Wire]) -> None:
        self._topics.detach(gone)

    def _attach(self, new: dict[Wire, _Made]) -> None:
        for entry, publisher, _ in new.values():
            self._topics.attach(entry, publisher)

    def _make(self, thing: WireRow) -> _Made:
        publisher = self._publisher(WireState, f"{thing.name}/state", qos.STATE)
        subscription = self._subscription(
            WireCmd,
            f"{thing.name}/cmd",
            lambda message: self._on_command(thing, message),
            qos.COMMAND,
        )
        return thing, publisher, subscription

    def _destroy(self, made: _Made) -> None:
        _, publisher, subscription = made
        self._node.destroy_subscription(subscription)
        self._node.destroy_publisher(publisher)

    def _on_command(self, entry: WireRow, message: Any) -> None:
        with acting_for(Origin("wire", entry.name, message)):
            self._queue.post(lambda: self.command(entry, message))

    def command(self, entry: WireRow, message: Any) -> None:
        """Applies a command to a wire, or says in the log why it cannot. For the stepping thread."""
        try:
            apply_wire_command(entry.wire, message)
        except RaisimError as error:
            self._warn((entry.name, type(error).__name__), f"{entry.name}/cmd refused: {error}")


class WireMarkers(WallTimeTopic):
    """Draws the wires as lines in `markers`, at a rate in Hz of wall time.

    Without a colour of its own a wire is grey while slack, else from green to red as its share of the largest tension.
    """

    def __init__(self, world: World, world_frame: str, rate_hz: float, publisher: Any) -> None:
        super().__init__(rate_hz, publisher)
        self._world = world
        self._frame = world_frame
        self._shown: set[int] = set()
        self._deletions: dict[int, int] = {}  # id of a wire -> how often its deletion must still be sent

    def rebuild(self, rows: list[ObjectRow], time_step: float) -> None:
        """Wires that are gone are deleted from view."""
        present = {wire.get_id() for wire in self._world.get_wires()}
        self._deletions |= dict.fromkeys(self._shown - present, REPEATS)
        self._deletions = {key: left for key, left in self._deletions.items() if key not in present}
        self._shown = present

    def due(self, moment: Moment) -> bool:
        """Whether its time has come and somebody looks."""
        return bool(self._shown or self._deletions) and super().due(moment)

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Draws every wire where it is now."""
        buffer = self._world.read_wires()
        header = Header(frame_id=self._frame)
        header.stamp.sec, header.stamp.nanosec = moment.stamp
        largest = float(np.abs(buffer.states["tension"]).max(initial=0.0))
        message = MarkerArray()
        for wire, state in zip(buffer.wires, buffer.states, strict=True):
            marker = self._marker(header, wire.get_id(), Marker.ADD)
            marker.type = Marker.LINE_LIST
            marker.scale.x = wire.get_visualization_width()
            marker.pose.orientation.w = 1.0
            marker.points = [point(state["point"][0]), point(state["point"][1])]
            red, green, blue, alpha = wire_colour(
                wire.get_color(), wire.get_id(), float(state["tension"]), largest
            )
            marker.color = ColorRGBA(r=red, g=green, b=blue, a=alpha)
            message.markers.append(marker)
        message.markers += [self._marker(header, key, Marker.DELETE) for key in self._deletions]
        self._deletions = {key: left - 1 for key, left in self._deletions.items() if left > 1}
        self._publisher.publish(message)

    @staticmethod
    def _marker(header: Header, wire_id: int, action: int) -> Marker:
        return Marker(header=header, ns="wires", id=wire_id % 2**31, action=action)

"""`world_node`: one simulated world, its topics and its services. Parameters and wiring only."""

from __future__ import annotations

import copy
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import SetParametersResult
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.exceptions import ParameterException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.signals import SignalHandlerOptions
from rosgraph_msgs.msg import Clock
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from raisim_ros.description.errors import RaisimError
from raisim_ros.description.file_access import set_allowed_folders
from raisim_ros.description.resources import resource
from raisim_ros.engine.world import World
from raisim_ros.msg import ContactArray, ObjectStateArray, WorldCmd, WorldState
from raisim_ros.ros import qos, shared_memory
from raisim_ros.ros.allowed_folders import allowed_folders
from raisim_ros.ros.clock import ClockTopic
from raisim_ros.ros.command_inbox import CommandInbox
from raisim_ros.ros.commands import CommandRefusedError, Commands, Watchdog
from raisim_ros.ros.contact_topic import ContactTopic
from raisim_ros.ros.diagnostics import DiagnosticsTopic
from raisim_ros.ros.endpoints import ObjectEndpoints
from raisim_ros.ros.frames import FrameNames, FrameTopics
from raisim_ros.ros.joint_topics import JointTopics
from raisim_ros.ros.link_topics import LinkTopics
from raisim_ros.ros.markers import MarkerTopics
from raisim_ros.ros.object_table import LinkEntry, ObjectTable
from raisim_ros.ros.operations import Operations
from raisim_ros.ros.pacing import Pacer
from raisim_ros.ros.parameters import Parameters, check_watchdog_action, declare_parameters, world_parameters
from raisim_ros.ros.request_queue import RequestQueue
from raisim_ros.ros.sensor_endpoints import SensorEndpoints
from raisim_ros.ros.sensor_messages import SensorOptions
from raisim_ros.ros.sensor_services import SensorServices
from raisim_ros.ros.sensor_table import SensorTable
from raisim_ros.ros.sensor_topics import SensorFrames, SensorTopics
from raisim_ros.ros.services import Services
from raisim_ros.ros.state_topics import Entry, ShownFields, StateRates, StateTopics
from raisim_ros.ros.stepping import SteppingLoop
from raisim_ros.ros.throttled_log import ThrottledLog
from raisim_ros.ros.topic import Topic
from raisim_ros.ros.wire_services import WireServices
from raisim_ros.ros.wire_table import WireTable
from raisim_ros.ros.wire_topics import WireEndpoints, WireMarkers, WireTopics
from raisim_ros.ros.world_topics import WorldStateTopic, apply_world_command

# With CPython's default of 5 ms the stepping thread's short engine calls starve beside a busy thread.
_SWITCH_INTERVAL = 1e-4
# The executor looks this often whether it shall end, should it miss the wake-up [s].
_WAKE_PERIOD = 0.2
# The process of the launch file: killed or terminated, it leaves its nodes behind, so this one watches it.
LAUNCHER_VARIABLE = "RAISIM_ROS_LAUNCHER_PID"
_LAUNCHER_CHECK_PERIOD = 0.5  # [s]


def load_world(file: str, parameters: str) -> World:
    """The world of a file, or the default one; `parameters` are written like launch arguments: a:=1 b:=2."""
    return World(file or resource("worlds/default.xml"), params=world_parameters(parameters))


class WorldNode:
    """Owns one world and the ROS node it is reached through."""

    def __init__(self) -> None:
        self.node = Node("world_node")
        shared_memory.remember()
        self._parameters = declare_parameters(self.node)
        values = self._parameters
        self._frames = FrameNames(values.world_frame, values.frame_prefix)
        self._queue = RequestQueue()

        world = load_world(values.world, values.world_params)
        # What the operator named at the start may lie anywhere; requests may come from anybody.
        set_allowed_folders(allowed_folders(values.allowed_folders, values.world))
        table = ObjectTable(world)
        table.add_world()
        rates = StateRates(values.state_min_rate_hz, values.state_max_rate_hz, values.states_rate_hz)
        array = self._publisher(ObjectStateArray, "states", qos.STATE_ARRAY)
        states = StateTopics(rates, self._frames.world, array, world.read_articulations)
        joints = JointTopics(values.joint_states_rate_hz, world.read_articulations)
        links = LinkTopics(
            StateTopics(rates, self._frames.world, None, world.read_articulations), world.read_articulations
        )
        commands = Commands(self._watchdog(values), *self._state_switches(states, links))
        inbox = CommandInbox()
        self._warn = ThrottledLog(self.node.get_logger().warning)
        self._loop = SteppingLoop(
            world, table, self._queue, Pacer(values.real_time_factor), commands, inbox, self._warn
        )
        self._loop.paused = values.paused
        self._loop.client_timeout = values.world_watchdog_s
        profile = qos.STATE_BEST_EFFORT if values.state_best_effort else qos.STATE
        self._endpoints = ObjectEndpoints(
            self.node, self._queue, table, states, joints, links.states, inbox, profile
        )
        operations = Operations(self._loop, self._endpoints.let_go)
        clock = ClockTopic(self._publisher(Clock, "/clock", qos.CLOCK)) if values.publish_clock else None
        sensors = SensorTable(world, table, self._frames)
        sensor_topics = SensorTopics(sensors)
        wires = WireTable(world, table)
        wire_topics = WireTopics(world, wires, self._frames.world, values.states_rate_hz)
        topics = [*self._make_topics(), *self._make_sensor_frames(sensors), states, links, joints]
        topics += [sensor_topics, wire_topics]
        self._loop.set_topics(topics, clock, values.clock_rate_hz)
        options = SensorOptions(values.lidar_ring_and_time, values.lidar_sweep, values.depth_encoding)
        endpoints = (
            self._endpoints,
            SensorEndpoints(self.node, self._queue, sensors, sensor_topics, options),
            WireEndpoints(self.node, self._queue, wires, wire_topics, self._warn),
        )
        for one in endpoints:
            one.begin()
        sensor_services = SensorServices(self._queue, world, table, sensors, self._loop.rebuild)
        wire_services = WireServices(self._queue, world, table, wires)
        self._services = Services(
            self.node, self._queue, self._loop, operations, endpoints, self._frames, sensor_services, wire_services
        )
        self.node.create_subscription(WorldCmd, "world/cmd", self._on_world_command, qos.COMMAND)
        self.node.add_on_set_parameters_callback(self._on_parameters)

    # ---- wiring ----

    @staticmethod
    def _state_switches(
        states: StateTopics, links: LinkTopics
    ) -> tuple[Callable[[int, bool], None], Callable[[Entry, ShownFields], None]]:
        """How commands choose the rates and the fields of states."""

        def set_commanded(object_id: int, commanded: bool) -> None:
            states.set_commanded(object_id, commanded)
            links.set_commanded(object_id, commanded)

        def show(entry: Entry, shown: ShownFields) -> None:
            (links.states if isinstance(entry, LinkEntry) else states).show(entry, shown)

        return set_commanded, show

    def _publisher(self, message_type: Any, topic: str, profile: QoSProfile, **options: Any) -> Any:
        return self.node.create_publisher(
            message_type,
            topic,
            copy.copy(profile),  # an override is written into it
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
            **options,
        )

    def _make_topics(self) -> list[Topic]:
        values, frame = self._parameters, self._frames.world
        loop = self._loop
        topics: list[Topic] = []
        if values.publish_tf:
            tf = self._publisher(TFMessage, "/tf", qos.TF)
            static = self._publisher(TFMessage, "/tf_static", qos.LATCHED)
            topics.append(FrameTopics(self._frames, loop.world.read_articulations, values.tf_rate_hz, tf, static))
        contacts = self._publisher(ContactArray, "contacts", qos.STATE_ARRAY)
        topics.append(ContactTopic(loop.world.read_contacts, frame, values.contacts_rate_hz, contacts))
        state = self._publisher(WorldState, "world/state", qos.STATE)
        topics.append(WorldStateTopic(loop, frame, values.world_state_rate_hz, state))
        diagnostics = self._publisher(DiagnosticArray, "/diagnostics", qos.STATE)
        topics.append(DiagnosticsTopic(loop, self.node.get_fully_qualified_name().lstrip("/"), diagnostics))
        if values.publish_markers:
            topics.append(self._make_markers())
            lines = self.node.create_publisher(MarkerArray, "markers", qos.LATCHED)
            topics.append(WireMarkers(loop.world, frame, values.marker_rate_hz, lines))
        return topics

    def _make_sensor_frames(self, sensors: SensorTable) -> list[Topic]:
        if not self._parameters.publish_tf:
            return []
        # A publisher of its own: the last message of each is kept for those who come later.
        publisher = self.node.create_publisher(TFMessage, "/tf_static", qos.LATCHED)
        return [SensorFrames(sensors, publisher)]

    def _make_markers(self) -> MarkerTopics:
        values = self._parameters
        markers: MarkerTopics
        moving = self._publisher(MarkerArray, "markers", qos.LATCHED)
        static = self.node.create_publisher(
            MarkerArray,
            "markers",
            qos.LATCHED,
            event_callbacks=PublisherEventCallbacks(
                matched=lambda _: self._queue.post(markers.resend_static), use_default_callbacks=False
            ),
        )
        markers = MarkerTopics(
            self._frames, self._loop.world.read_articulations, values.publish_tf, values.marker_rate_hz, moving, static
        )
        return markers

    # ---- callbacks of the executor thread ----

    def _on_world_command(self, message: Any) -> None:
        def apply() -> None:
            try:
                apply_world_command(self._loop, message)
            except CommandRefusedError as error:
                self._warn(("world", error.kind), f"world/cmd refused: {error}")

        self._queue.post(apply)

    @staticmethod
    def _watchdog(values: Parameters) -> Watchdog:
        return Watchdog(values.command_watchdog_s, check_watchdog_action(values.command_watchdog_action))

    def _on_parameters(self, changes: Sequence[Parameter]) -> SetParametersResult:
        values = {change.name: change.value for change in changes}
        watchdog = Watchdog(
            values.get("command_watchdog_s", self.node.get_parameter("command_watchdog_s").value),
            self._loop.commands.watchdog.action,
        )
        if "command_watchdog_action" in values:
            try:
                action = check_watchdog_action(values["command_watchdog_action"])
            except RaisimError as error:
                return SetParametersResult(successful=False, reason=str(error))
            watchdog = Watchdog(watchdog.timeout, action)

        def apply() -> None:
            self._loop.commands.watchdog = watchdog
            self._loop.client_timeout = values.get("world_watchdog_s", self._loop.client_timeout)
            if "real_time_factor" in values:
                factor = values["real_time_factor"]
                self._loop.pacer.set_real_time_factor(factor, self._loop.world.get_world_time())

        self._queue.post(apply)
        return SetParametersResult(successful=True)

    # ---- life ----

    def run(self, stop: threading.Event) -> bool:
        """Simulates and serves until `stop` is set; False when something failed.

        The context stays valid until both threads have ended, so that neither publishes into the void.
        """
        executor = SingleThreadedExecutor(context=self.node.context)
        executor.add_node(self.node)

        def serve() -> None:
            while not stop.is_set():
                executor.spin_once(timeout_sec=_WAKE_PERIOD)
                self._services.send_kept_answers()

        failures: list[BaseException] = []
        threads = [
            threading.Thread(target=self._guarded, args=(work, stop, failures), name=name)
            for name, work in (("stepping", self._loop.run), ("executor", serve))
        ]
        for thread in threads:
            thread.start()
        stop.wait()
        self._loop.stop()
        executor.wake()
        for thread in threads:
            thread.join()
        executor.shutdown()
        return not failures

    def _guarded(self, work: Callable[[], None], stop: threading.Event, failures: list[BaseException]) -> None:
        """Runs a thread's work; when it fails, everything stops."""
        try:
            work()
        except BaseException as error:
            failures.append(error)
            self.node.get_logger().fatal("stopped by an error:\n" + "".join(traceback.format_exception(error)))
        finally:
            self._loop.stop()
            stop.set()

    def close(self) -> None:
        """Leaves the ROS graph."""
        self._endpoints.close()
        self.node.destroy_node()

    def describe(self) -> str:
        """What is running, for whoever started it."""
        values = self._parameters
        namespace = self.node.get_namespace().rstrip("/")
        factor = "as fast as possible" if values.real_time_factor == 0.0 else f"{values.real_time_factor:g} x real time"
        pace = f"{factor}, paused" if values.paused else factor
        names = [entry.name for entry in self._loop.table]
        examples = ", ".join(names[:6]) + (", …" if len(names) > 6 else "")
        shown = {
            "/clock": values.publish_clock,
            "/tf": values.publish_tf,
            "/tf_static": values.publish_tf,
            "/diagnostics": True,
        }
        topics = [name for name, published in shown.items() if published]
        topics += [f"{namespace}/{name}" for name in _TOPICS if name != "markers" or values.publish_markers]
        services = [f"{namespace}/{name}" for name in self._services.names]
        return "\n".join(
            (
                f"raisim_ros: {values.world or 'default world'}, {len(names)} objects ({examples})",
                f"  time step {self._loop.world.get_time_step():g} s, {pace}",
                f"  topics    {_wrapped(topics)}",
                f"  services  {_wrapped(services)}",
                "  stop with Ctrl-C",
            )
        )


_TOPICS = (
    "world/state",
    "world/cmd",
    "<object>/state",
    "<object>/cmd",
    "<robot>/joint_states",
    "<robot>/joint_cmd",
    "<robot>/joint_trajectory",
    "<robot>/robot_description",
    "<robot>/<link>/state",
    "<robot>/<link>/cmd",
    "<wire>/state",
    "<wire>/cmd",
    "states",
    "contacts",
    "markers",
)


def _wrapped(words: Sequence[str], width: int = 90) -> str:
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += f"{word}  "
    return ("\n" + " " * 12).join(line.rstrip() for line in lines)


def _stop_with_process(pid: int, stop: threading.Event) -> None:
    """Set `stop` when that process of this user is gone."""
    while not stop.wait(_LAUNCHER_CHECK_PERIOD):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            stop.set()


def main(args: Sequence[str] | None = None) -> int:
    """Entry point of the console script; the exit code."""
    sys.setswitchinterval(_SWITCH_INTERVAL)
    stop = threading.Event()
    if launcher := os.environ.get(LAUNCHER_VARIABLE):
        threading.Thread(target=_stop_with_process, args=(int(launcher), stop), daemon=True).start()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    shared_memory.remove_stale()
    # rclpy's own handlers would invalidate the context while the world is still being published.
    rclpy.init(args=list(args) if args is not None else None, signal_handler_options=SignalHandlerOptions.NO)
    world_node = None
    try:
        world_node = WorldNode()
        print(world_node.describe(), flush=True)
        return 0 if world_node.run(stop) else 1
    except (RaisimError, ParameterException) as error:
        print(f"world_node: {error}", file=sys.stderr)
        return 2
    finally:
        if world_node is not None:
            world_node.close()
        rclpy.try_shutdown()
        shared_memory.forget()


if __name__ == "__main__":
    sys.exit(main())

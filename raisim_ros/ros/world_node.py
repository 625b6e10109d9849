"""`world_node`: one simulated world, its topics and its services. Parameters and wiring only."""

from __future__ import annotations

import copy
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped, Twist, TwistStamped
from rclpy.clock import Clock as RosClock
from rclpy.clock import ClockType
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.exceptions import ParameterException
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile
from rclpy.qos_overriding_options import InvalidQosOverridesError, QoSOverridingOptions
from rclpy.signals import SignalHandlerOptions
from rosgraph_msgs.msg import Clock
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from raisim_ros.client import shared_memory
from raisim_ros.client.spinning import spin_once
from raisim_ros.description.errors import InvalidValueError, RaisimError
from raisim_ros.description.file_access import set_allowed_folders
from raisim_ros.description.world.types import WorldDescription
from raisim_ros.engine.world.world import World
from raisim_ros.msg import ContactArray, ObjectStateArray, Pull, WireCmd, WorldCmd, WorldState
from raisim_ros.ros import qos
from raisim_ros.ros.arrivals import Arrivals
from raisim_ros.ros.file_address import resolve_world
from raisim_ros.ros.following_endpoints import FollowingEndpoints
from raisim_ros.ros.node import inputs, preparation
from raisim_ros.ros.node.allowed_folders import allowed_folders
from raisim_ros.ros.node.banner import banner
from raisim_ros.ros.node.clock import ClockTopic
from raisim_ros.ros.node.dds_profile import choose_own_profile
from raisim_ros.ros.node.diagnostics import DiagnosticsTopic
from raisim_ros.ros.node.inputs import Direct, read_run, recorded_world
from raisim_ros.ros.node.journal import Journal
from raisim_ros.ros.node.live_parameters import LiveParameters
from raisim_ros.ros.node.long_work import LongWork
from raisim_ros.ros.node.operations import Operations
from raisim_ros.ros.node.parameters import Parameters, check_watchdog_action, declare_parameters, world_parameters
from raisim_ros.ros.node.preparing import ExecutorTasks, Preparing, looking_ahead
from raisim_ros.ros.node.profile_topic import ProfileTopic
from raisim_ros.ros.node.recording_services import RecordingServices
from raisim_ros.ros.node.replaying import Replay, Requests
from raisim_ros.ros.node.services import Services
from raisim_ros.ros.node.setting_services import SettingServices
from raisim_ros.ros.node.signals import PATIENCE_WITH_MIDDLEWARE, Life, ending_soon, leave, watch_signals
from raisim_ros.ros.node.stepping import SteppingLoop
from raisim_ros.ros.node.throttled_log import ThrottledLog
from raisim_ros.ros.node.viewpoint_topic import ViewpointTopic
from raisim_ros.ros.node.world_topics import WorldStateTopic, apply_world_command
from raisim_ros.ros.objects.command_inbox import CommandInbox, NodeOfManyObjects
from raisim_ros.ros.objects.commands import CommandRefusedError, Commands, Watchdog
from raisim_ros.ros.objects.contact_markers import ContactMarkers
from raisim_ros.ros.objects.contact_topic import ContactTopic
from raisim_ros.ros.objects.endpoints import ObjectEndpoints
from raisim_ros.ros.objects.frames import FrameNames, FrameTopics
from raisim_ros.ros.objects.known_frames import KnownFrames
from raisim_ros.ros.objects.markers import MarkerTopics
from raisim_ros.ros.objects.object_table import LinkRow, ObjectTable
from raisim_ros.ros.objects.spawning import Spawner
from raisim_ros.ros.objects.state_topics import Entry, ShownFields, StateRates, StateTopics
from raisim_ros.ros.objects.topic import Topic
from raisim_ros.ros.pacing import Pacer
from raisim_ros.ros.request_queue import Origin, RequestQueue, acting_for
from raisim_ros.ros.robots.joint_topics import JointTopics
from raisim_ros.ros.robots.link_topics import LinkTopics
from raisim_ros.ros.robots.odometry import OdometryTopics
from raisim_ros.ros.sensors.endpoints import SensorEndpoints
from raisim_ros.ros.sensors.messages import SensorOptions
from raisim_ros.ros.sensors.services import SensorServices
from raisim_ros.ros.sensors.table import SensorTable
from raisim_ros.ros.sensors.topics import SensorFrames, SensorTopics
from raisim_ros.ros.soft.markers import SoftMarkers
from raisim_ros.ros.soft.topics import COMMANDS, SoftEndpoints, SoftTopics
from raisim_ros.ros.wires.services import WireServices
from raisim_ros.ros.wires.table import WireTable
from raisim_ros.ros.wires.topics import WireEndpoints, WireMarkers, WireTopics

# With CPython's default of 5 ms the stepping thread's short engine calls starve beside a busy thread.
_SWITCH_INTERVAL = 1e-4
# Names and clocks of others are looked at this often [s].
_NEIGHBOUR_PERIOD = 2.0


class WorldNode:
    """Owns one world and the ROS node it is reached through."""

    def __init__(self, life: Life) -> None:
        """`life.stop` ends everything, also the loading of a large world here."""
        self.node = NodeOfManyObjects("world_node")
        self._log_warnings()
        shared_memory.remember()
        self._parameters = declare_parameters(self.node)
        self._life = life
        self._work = LongWork(self.node.get_logger().info, self._parameters.long_work_limit_s, life.stop)
        values = self._parameters
        self._frames = FrameNames(values.world_frame, values.frame_prefix)
        self._queue = RequestQueue()

        self._run_to_replay = read_run(Path(values.replay)) if values.replay else None
        world = self._load_world()
        # What the operator named at the start may lie anywhere; requests may come from anybody.
        set_allowed_folders(allowed_folders(values.allowed_folders, values.world))
        table = ObjectTable(world)
        table.add_world()
        rates = StateRates(values.state_min_rate_hz, values.state_max_rate_hz, values.states_rate_hz)
        array = self._publisher(ObjectStateArray, "states", qos.STATE_ARRAY)
        robots = partial(world.read_articulations, xyzw=True)
        states = StateTopics(rates, self._frames.world, array, robots)
        joints = JointTopics(values.joint_states_rate_hz, robots)
        links = LinkTopics(StateTopics(rates, self._frames.world, None, robots), robots)
        commands = Commands(self._watchdog(values), *self._state_switches(states, links))
        inbox = CommandInbox(Arrivals())
        self._warn = ThrottledLog(self.node.get_logger().warning)
        pacer = Pacer(values.real_time_factor)
        self._loop = SteppingLoop(world, table, self._queue, pacer, commands, inbox, self._warn)
        self._loop.paused = values.paused
        self._loop.client_timeout = values.world_watchdog_s
        self._odometry = OdometryTopics(self._frames, values.odom_rate_hz)
        self._loop.jump_listeners.append(self._odometry.restart)
        self._tasks = ExecutorTasks(self.node)
        self._trajectories = self._trajectory_actions()
        self._endpoints = self._make_endpoints(states, joints, links, inbox)
        clock = ClockTopic(self._publisher(Clock, "/clock", qos.CLOCK)) if values.publish_clock else None
        sensors = SensorTable(world, table, self._frames)
        sensor_topics = SensorTopics(sensors, self._warn)
        wires = WireTable(world, table)
        wire_topics = WireTopics(world, wires, self._frames.world, values.states_rate_hz)
        topics = [self._odometry, *self._make_topics(), *self._make_sensor_frames(sensors), states, links, joints]
        soft_topics = SoftTopics(self._frames.world, values.states_rate_hz)
        topics += [sensor_topics, wire_topics, soft_topics]
        self._loop.set_topics(topics, clock, values.clock_rate_hz)
        live = self._make_live_parameters(topics, states, links, joints)
        options = SensorOptions(values.lidar_ring_and_time, values.lidar_sweep, values.depth_encoding)
        wire_endpoints = WireEndpoints(self.node, self._queue, wires, wire_topics, self._warn)
        soft_endpoints = SoftEndpoints(self.node, self._queue, table, soft_topics, states.refresh, self._warn)
        endpoints = (
            self._endpoints,
            SensorEndpoints(self.node, self._queue, sensors, sensor_topics, options),
            wire_endpoints,
            soft_endpoints,
        )
        for one in endpoints:
            one.begin()
        self._preparing = Preparing(self._work, self._tasks)
        self._make_services(endpoints, sensors, wires, live)
        self._listen()
        self._replay: Replay | None = None
        self._begin_run(wire_endpoints, wires, soft_endpoints)

    def _listen(self) -> None:
        """To commands for the world as a whole, and to other nodes of its name."""
        self.node.create_subscription(WorldCmd, "world/cmd", self._on_world_command, qos.COMMAND)
        self.node.create_subscription(Pull, "world/pull", self._on_pull, qos.COMMAND)
        self._warned_of_neighbours: set[str] = set()
        steady = RosClock(clock_type=ClockType.STEADY_TIME)
        self.node.create_timer(_NEIGHBOUR_PERIOD, self._look_at_neighbours, clock=steady)

    def _load_world(self) -> World:
        values = self._parameters
        if self._run_to_replay is not None:
            if values.world:
                raise InvalidValueError("both world and replay are given; a replay begins in its own world")
            return recorded_world(self._run_to_replay)
        argument = (resolve_world(values.world, "world"), world_parameters(values.world_params))
        if preparation.world_is_long(argument):
            with self._work.prepared("world", argument, f"world '{argument[0].name}'") as description:
                return self._build_world(description)
        return self._build_world(preparation.world(argument))

    def _build_world(self, description: WorldDescription) -> World:
        for text in description.warnings:
            self.node.get_logger().warning(text)
        world = World()
        world.replace(description)
        return world

    def _log_warnings(self) -> None:
        """What the engine warns of goes to the log, like all else that the node has to say."""
        log = self.node.get_logger()

        def show(message: Warning | str, *place: Any, **more: Any) -> None:
            if not looking_ahead.get():
                log.warning(str(message))

        warnings.showwarning = show

    # ---- wiring ----

    def _make_endpoints(
        self, states: StateTopics, joints: JointTopics, links: LinkTopics, inbox: CommandInbox
    ) -> ObjectEndpoints:
        values = self._parameters
        endpoints = ObjectEndpoints(
            self.node,
            self._queue,
            self._loop.table,
            states,
            joints,
            links.states,
            inbox,
            qos.STATE_BEST_EFFORT if values.state_best_effort else qos.STATE,
            self._odometry,
            TwistStamped if values.cmd_vel_stamped else Twist,
        )
        if self._trajectories is not None:
            endpoints.make_action = self._trajectories.make
        return endpoints

    def _make_services(
        self,
        endpoints: Sequence[FollowingEndpoints[Any, Any, Any]],
        sensors: SensorTable,
        wires: WireTable,
        live: LiveParameters,
    ) -> None:
        world, table = self._loop.world, self._loop.table
        # After the settings that were given at the start: a reset returns to these.
        operations = Operations(self._loop, self._endpoints.let_go)
        self._recording = RecordingServices(self.node, self._queue, world, Journal(self._loop, self._queue))
        self._services = Services(
            self.node,
            self._queue,
            self._loop,
            operations,
            endpoints,
            self._frames,
            SensorServices(self._queue, world, table, sensors, self._loop.rebuild),
            WireServices(self._queue, world, table, wires),
            self._preparing,
            SettingServices(self._queue, self._loop, live.set_all, live.sync),
            self._recording,
            live.sync,
        )
        self._standard = self._make_standard(operations)

    def _begin_run(self, wires: WireEndpoints, wire_table: WireTable, soft: SoftEndpoints) -> None:
        """Records or replays, as the parameters say."""
        values, loop, tell = self._parameters, self._loop, self.node.get_logger().info
        if values.record:
            self._recording.begin(values.record, values.record_rate_hz)
            tell(f"recording to '{values.record}'")
        if self._run_to_replay is None:
            return
        direct = {inputs.WIRE: Direct(WireCmd, lambda name, message: wires.command(wire_table.get(name), message))}
        direct[inputs.PULL] = Direct(Pull, lambda name, message: loop.pull(message))
        direct |= {kind: Direct(message_type, soft.command) for kind, message_type in COMMANDS.items()}
        if self._trajectories is not None:
            direct |= self._trajectories.direct()
        requests = Requests(self.node, self._services)
        self._replay = Replay(self._run_to_replay.inputs, loop, self._queue, self._tasks, direct, requests, tell)
        tell(f"replaying '{values.replay}'")

    def _make_live_parameters(
        self, topics: Sequence[Topic], states: StateTopics, links: LinkTopics, joints: JointTopics
    ) -> LiveParameters:
        live = LiveParameters(self.node, self._queue, self._loop, self._work)
        live.add_state_rates((states, links.states))
        live.add_rates("joint_states_rate_hz", [joints])
        live.add_rates("odom_rate_hz", [self._odometry])
        for name, kind in (("tf_rate_hz", FrameTopics), ("contacts_rate_hz", ContactTopic)):
            found = [topic for topic in topics if isinstance(topic, kind)]
            if found:  # frames can be turned off
                live.add_rates(name, found)
        for name, kinds in (
            ("world_state_rate_hz", (WorldStateTopic,)),
            ("marker_rate_hz", (MarkerTopics, WireMarkers, SoftMarkers, ContactMarkers)),
        ):
            timers = [topic.timer for topic in topics if isinstance(topic, kinds)]
            if timers:
                live.add_timers(name, timers)
        live.begin()
        return live

    def _trajectory_actions(self) -> Any:
        """Makes the actions of robots, where control_msgs is installed."""
        if not self._parameters.joint_trajectory_action:
            return None
        try:
            from raisim_ros.ros.node.trajectory_goals import TrajectoryActions
        except ImportError as error:
            self.node.get_logger().warning(f"robots have no follow_joint_trajectory: {error}")
            return None
        return TrajectoryActions(self.node, self._tasks, self._queue, self._loop)

    def _make_standard(self, operations: Operations) -> Any:
        """The services of simulation_interfaces, where that package is installed."""
        try:
            from raisim_ros.ros.standard import entities as standard_entities
            from raisim_ros.ros.standard import services as standard_services
            from raisim_ros.ros.standard import spawning as standard_spawning
            from raisim_ros.ros.standard import world as standard_world
        except ImportError as error:
            self.node.get_logger().warning(f"the services of simulation_interfaces are missing: {error}")
            return None
        loop, queue, follow = self._loop, self._queue, self._services.following.follow
        tasks, preparing = self._tasks, self._preparing
        known = KnownFrames(self._frames, loop.table)
        entities = standard_entities.StandardEntities(
            queue, loop.world, loop.table, operations, self._frames, known
        )
        spawner = Spawner(loop.world, loop.table)
        tell = self.node.get_logger().info
        spawning = standard_spawning.StandardSpawning(queue, loop.table, spawner, known, preparing, follow, tell)
        world = standard_world.StandardWorld(
            queue, loop, operations, preparing, follow, tell, lambda: tasks.post(self._life.stop.set)
        )
        create = self._services.create
        return standard_services.StandardServices(self.node, create, tasks, follow, entities, spawning, world)

    @staticmethod
    def _state_switches(
        states: StateTopics, links: LinkTopics
    ) -> tuple[Callable[[int, bool], None], Callable[[Entry, ShownFields], None]]:
        """How commands choose the rates and the fields of states."""

        def set_commanded(object_id: int, commanded: bool) -> None:
            states.set_commanded(object_id, commanded)
            links.set_commanded(object_id, commanded)

        def show(entry: Entry, shown: ShownFields) -> None:
            (links.states if isinstance(entry, LinkRow) else states).show(entry, shown)

        return set_commanded, show

    def _publisher(self, message_type: Any, topic: str, profile: QoSProfile, **options: Any) -> Any:
        try:
            return self.node.create_publisher(
                message_type,
                topic,
                copy.copy(profile),  # an override is written into it
                qos_overriding_options=QoSOverridingOptions.with_default_policies(callback=qos.check_depth),
                **options,
            )
        except (InvalidQosOverridesError, RuntimeError) as error:  # rclpy's words for overrides that it cannot use
            raise InvalidValueError(f"qos_overrides of {self.node.resolve_topic_name(topic)}: {error}") from error

    def _make_topics(self) -> list[Topic]:
        values, frame = self._parameters, self._frames.world
        loop = self._loop
        topics: list[Topic] = []
        if values.publish_tf:
            tf = self._publisher(TFMessage, "/tf", qos.TF)
            static = self._publisher(TFMessage, "/tf_static", qos.LATCHED)
            read = partial(loop.world.read_articulations, xyzw=True)
            topics.append(FrameTopics(self._frames, read, values.tf_rate_hz, tf, static, self._odometry))
        contacts = self._publisher(ContactArray, "contacts", qos.STATE_ARRAY)
        topics.append(ContactTopic(loop.world.read_contacts, frame, values.contacts_rate_hz, contacts))
        state = self._publisher(WorldState, "world/state", qos.STATE)
        topics.append(WorldStateTopic(loop, frame, values.world_state_rate_hz, state))
        viewpoint = self.node.create_publisher(PoseStamped, "world/viewpoint", qos.LATCHED)
        topics.append(ViewpointTopic(loop.world, self._frames, viewpoint))
        profile = self.node.create_publisher(DiagnosticStatus, "world/profile", qos.STATE)
        topics.append(ProfileTopic(loop.world, profile))
        diagnostics = self._publisher(DiagnosticArray, "/diagnostics", qos.STATE)
        topics.append(DiagnosticsTopic(loop, self.node.get_fully_qualified_name().lstrip("/"), diagnostics))
        if values.publish_markers:
            topics.append(self._make_markers())
            lines = self.node.create_publisher(MarkerArray, "markers", qos.LATCHED)
            topics.append(WireMarkers(loop.world, frame, values.marker_rate_hz, lines))
            topics.append(self._make_soft_markers())
            forces = self.node.create_publisher(MarkerArray, "contact_markers", qos.STATE_ARRAY)
            topics.append(ContactMarkers(loop.world.read_contacts, frame, values.marker_rate_hz, forces))
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
        static = self._lasting_markers(lambda: markers.resend_static())
        robots = partial(self._loop.world.read_articulations, xyzw=True)
        markers = MarkerTopics(self._frames, robots, values.publish_tf, values.marker_rate_hz, moving, static)
        return markers

    def _make_soft_markers(self) -> SoftMarkers:
        markers: SoftMarkers
        publisher = self._lasting_markers(lambda: markers.resend())
        markers = SoftMarkers(self._frames.world, self._parameters.marker_rate_hz, publisher)
        return markers

    def _lasting_markers(self, resend: Callable[[], None]) -> Any:
        """A publisher of markers that are sent once, and again to whoever comes later."""
        matched = PublisherEventCallbacks(matched=lambda _: self._queue.post(resend), use_default_callbacks=False)
        return self.node.create_publisher(MarkerArray, "markers", qos.LATCHED, event_callbacks=matched)

    # ---- callbacks of the executor thread ----

    def _on_world_command(self, message: Any) -> None:
        def apply() -> None:
            try:
                apply_world_command(self._loop, message)
            except CommandRefusedError as error:
                self._warn(("world", error.kind), f"world/cmd refused: {error}")

        self._queue.post(apply)

    def _on_pull(self, message: Any) -> None:
        with acting_for(Origin(inputs.PULL, message.name, message)):
            self._queue.post(lambda: self._loop.pull(message))

    def _look_at_neighbours(self) -> None:
        """Warns, once each, of another node with this name and of another /clock."""
        node = self.node
        own = (node.get_name(), node.get_namespace())
        if node.get_node_names_and_namespaces().count(own) > 1:
            name = node.get_fully_qualified_name()
            self._warn_once(f"another node is called '{name}', too: give one of them another name or namespace")
        if self._parameters.publish_clock and node.count_publishers("/clock") > 1:
            self._warn_once("somebody else publishes /clock, too: set publish_clock to false in all worlds but one")

    def _warn_once(self, text: str) -> None:
        if text not in self._warned_of_neighbours:
            self._warned_of_neighbours.add(text)
            self.node.get_logger().warning(text)

    @staticmethod
    def _watchdog(values: Parameters) -> Watchdog:
        return Watchdog(values.command_watchdog_s, check_watchdog_action(values.command_watchdog_action))

    # ---- life ----

    def run(self) -> bool:
        """Simulates and serves until the end is wanted; False when something failed.

        The context stays valid until both threads have ended, so that neither publishes into the void.
        """
        stop = self._life.stop
        executor = SingleThreadedExecutor(context=self.node.context)
        executor.add_node(self.node)

        def serve() -> None:
            while not stop.is_set():
                spin_once(executor)
                self._services.send_kept_answers()

        failures: list[BaseException] = []
        threads = [
            threading.Thread(target=self._guarded, args=(work, stop, failures), name=name)
            for name, work in (("stepping", self._loop.run), ("executor", serve))
        ]
        for thread in threads:
            thread.start()
        stop.wait()
        with self._life.writing if self._recording.is_on() else nullcontext():
            self._loop.stop()
            if self._replay is not None:
                self._replay.close()
            executor.wake()
            for thread in threads:
                thread.join()
            self._recording.end()
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
        self._preparing.wait_for_end(PATIENCE_WITH_MIDDLEWARE)
        self._endpoints.close()
        self.node.destroy_node()

    def describe(self) -> str:
        """What is running, for whoever started it."""
        standard = [] if self._standard is None else self._standard.names
        return banner(self._parameters, self._loop, self.node.get_namespace(), [*self._services.names, *standard])


def _init_rclpy(args: Sequence[str] | None) -> None:
    """Reads the arguments that ROS has for all nodes; those that make no sense are told as others."""
    try:
        # rclpy's own handlers would invalidate the context while the world is still being published.
        rclpy.init(args=list(args) if args is not None else None, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:
        raise InvalidValueError(str(error)) from error


def main(args: Sequence[str] | None = None) -> int:
    """Entry point of the console script; the exit code."""
    sys.setswitchinterval(_SWITCH_INTERVAL)
    life = Life()
    watch_signals("world_node", life, shared_memory.remove_own)
    shared_memory.remove_stale()
    shared_memory.announce()
    choose_own_profile()
    world_node, code = None, 1
    try:
        _init_rclpy(args)
        world_node = WorldNode(life)
        life.serving.set()
        world_node.node.get_logger().info(world_node.describe())
        world_node.node.warn_of_unread_parameters()
        code = 0 if world_node.run() else 1
    except (RaisimError, ParameterException, OSError) as error:  # OSError: too few files may be open at once
        code = 0 if life.stop.is_set() else 2
        if code:
            print(f"world_node: {error}", file=sys.stderr)
    finally:
        life.leaving.set()
        with ending_soon(lambda: code):
            if world_node is not None:
                world_node.close()
            rclpy.try_shutdown()
        shared_memory.remove_own()
    return code


if __name__ == "__main__":
    leave(main())

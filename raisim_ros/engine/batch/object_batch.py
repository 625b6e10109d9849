"""One object in all members of a batch: live arrays of what it does, and of what is done to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import BodyLike, VectorLike
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.batch.channels import EngineBatch, Members, Rows, put
from raisim_ros.engine.known_names import KnownNames
from raisim_ros.engine.objects.body_owner import BodyOwner

Links = Sequence[BodyLike] | BodyLike | None
_ORIGIN, _IDENTITY = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)


class ObjectBatch(KnownNames):
    """An object in all members. Arrays have one row per member, are made at the first use and stay the same memory.

    After a step they hold what the members hold. What is written to those that can be written is carried over before
    the next step, for the rows that changed. Quaternions are w, x, y, z; world frame unless stated.
    """

    def __init__(self, engine: EngineBatch, source: BodyOwner) -> None:
        self._engine = engine
        self._source = source

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._source!r} in {self._engine.count} members>"

    def _array(self, kind: int, shape: tuple[int, ...], **fields: Any) -> Rows:
        return self._engine.array(kind, shape, object_id=self._source._engine_id, **fields)

    def _link(self, link: BodyLike) -> int:
        return self._source._body(link)

    def _links(self, links: Links) -> Any:
        if links is None:
            source = self._source
            links = range(source.get_number_of_joints() if isinstance(source, ArticulatedSystem) else 1)
        elif isinstance(links, (int, str, np.integer)):
            links = [links]
        elif not isinstance(links, Iterable):
            raise InvalidValueError(f"links is {arguments.shown(links)}; expected a link, or several")
        return np.array([self._link(one) for one in links], dtype=np.int32)

    def _of_links(self, kind: int, links: Links, *shape: int) -> Rows:
        chosen = self._links(links)
        return self._array(kind, (len(chosen), *shape), links=chosen, link_count=len(chosen))

    # ---- states ----

    @property
    def poses(self) -> Rows:
        """x y z of the origin [m] and quaternion w x y z; (N, 7). A floating base's is read only: see coordinates."""
        return self._array(lib.RS_CHANNEL_POSE, (7,))

    @poses.setter
    def poses(self, values: Any) -> None:
        put("poses", self.poses, values)

    @property
    def twists(self) -> Rows:
        """Velocity of the centre of mass [m/s] and angular velocity [rad/s]; (N, 6). Of a robot that of its base's
        origin, read only."""
        return self._array(lib.RS_CHANNEL_TWIST, (6,))

    @twists.setter
    def twists(self, values: Any) -> None:
        put("twists", self.twists, values)

    def link_poses(self, links: Links = None) -> Rows:
        """x y z and quaternion w x y z of links (names or indices; None: all); (N, links, 7), read only."""
        return self._of_links(lib.RS_CHANNEL_LINK_POSE, links, 7)

    def link_twists(self, links: Links = None) -> Rows:
        """Velocity of the origin and angular velocity of links; (N, links, 6), read only."""
        return self._of_links(lib.RS_CHANNEL_LINK_TWIST, links, 6)

    def contact_forces(self, links: Links = None) -> Rows:
        """Sum of the contact forces on each of the links in the last step [N]; (N, links, 3), read only."""
        return self._of_links(lib.RS_CHANNEL_LINK_FORCE, links, 3)

    def wrenches(self, links: Links = None) -> Rows:
        """Force at the centre of mass [N] and torque [N m] that act on links until replaced; (N, links, 6)."""
        return self._of_links(lib.RS_CHANNEL_LINK_WRENCH, links, 6)

    # ---- parameters ----

    def masses(self, links: Links = None) -> Rows:
        """Masses of links [kg]; (N, links). Inertias stay as they are: scale them too where that is meant."""
        return self._of_links(lib.RS_CHANNEL_MASS, links)

    def coms(self, links: Links = None) -> Rows:
        """Centres of mass of links in their frames [m]; (N, links, 3)."""
        return self._of_links(lib.RS_CHANNEL_COM, links, 3)

    def inertias(self, links: Links = None) -> Rows:
        """xx yy zz xy xz yz about the centres of mass, link axes [kg m^2]; (N, links, 6)."""
        return self._of_links(lib.RS_CHANNEL_INERTIA, links, 6)

    # ---- sensors ----

    def imu(self, link: BodyLike = 0, position: VectorLike = _ORIGIN, orientation: VectorLike = _IDENTITY) -> Rows:
        """Specific force [m/s^2] and angular velocity [rad/s] at a place of a link, in its axes; (N, 6), read only."""
        return self._array(lib.RS_CHANNEL_IMU, (6,), **self._mount(link, position, orientation))

    def rays(
        self,
        origins: Any,
        directions: Any,
        length: float,
        link: BodyLike = 0,
        *,
        level: bool = False,
        see_carrier: bool = False,
        offset: float = 0.0,
    ) -> Rows:
        """Distances along rays that a link carries, `length` where nothing is hit [m]; (N, rays), read only.

        `origins` and `directions` are n x 3 in the frame of the link. `level`: the rays follow the link's place and
        heading, but neither pitch nor roll. They do not see the object that carries them unless `see_carrier`. `offset`
        is subtracted from the distances.
        """
        start, ways = arguments.table("origins", origins, (-1, 3)), arguments.table("directions", directions, (-1, 3))
        if len(start) != len(ways):
            raise InvalidValueError(f"{len(start)} origins and {len(ways)} directions; expected as many")
        with np.errstate(all="ignore"):
            ways = ways / np.linalg.norm(ways, axis=1, keepdims=True)
        return self._array(
            lib.RS_CHANNEL_RAYS,
            (len(start),),
            ray_origins=start,
            ray_directions=ways,
            ray_count=len(start),
            ray_length=arguments.number("length", length),
            ray_offset=arguments.number("offset", offset),
            ray_level=arguments.flag("level", level),
            see_carrier=arguments.flag("see_carrier", see_carrier),
            **self._mount(link, _ORIGIN, _IDENTITY),
        )

    def height_scan(self, points: Any, above: float = 1.0, length: float = 5.0, link: BodyLike = 0) -> Rows:
        """How far the ground lies below the link's origin at points x, y around it [m]; (N, points), read only.

        `points` are n x 2, turned with the link's heading. Looked for from `above` the link's origin downwards, over
        `length` [m].
        """
        xy = arguments.table("points", points, (-1, 2))
        start = np.column_stack((xy, np.full(len(xy), arguments.number("above", above))))
        return self.rays(start, np.tile((0.0, 0.0, -1.0), (len(xy), 1)), length, link, level=True, offset=above)

    def depth_camera(
        self,
        width: int,
        height: int,
        horizontal_fov: float,
        link: BodyLike = 0,
        position: VectorLike = _ORIGIN,
        orientation: VectorLike = _IDENTITY,
        near: float = 0.05,
        far: float = 10.0,
    ) -> Rows:
        """Depths along +x of a camera (x forward, z up) on a link, NaN without return; float32 (N, height, width)."""
        camera = ffi.new("rs_depth_camera *")
        camera.width, camera.height = arguments.count("width", width, 1), arguments.count("height", height, 1)
        camera.horizontal_fov = arguments.number("horizontal_fov", horizontal_fov)
        camera.near, camera.far = arguments.number("near", near), arguments.number("far", far)
        mount = self._mount(link, position, orientation)
        return self._array(lib.RS_CHANNEL_DEPTH, (camera.height, camera.width), camera=camera[0], **mount)

    def _mount(self, link: BodyLike, position: VectorLike, orientation: VectorLike) -> dict[str, Any]:
        return {
            "mount_link": self._link(link),
            "mount_position": list(arguments.vector("position", position, 3)),
            "mount_quaternion": list(arguments.orientation(orientation)),
        }


def _vector(name: str, text: str) -> Any:
    def read(self: RobotBatch) -> Rows:
        return self._field(getattr(lib, f"RS_FIELD_{name}"))

    def write(self: RobotBatch, values: Any) -> None:
        put(name.lower().replace("_", " "), read(self), values)

    read.__doc__ = text
    return property(read, write)


class RobotBatch(ObjectBatch):
    """A robot in all members. Coordinates and velocities are laid out as those of ArticulatedSystem."""

    _source: ArticulatedSystem
    _LIKE_Q = frozenset((lib.RS_FIELD_COORDINATE, lib.RS_FIELD_P_TARGET, lib.RS_FIELD_SPRING_MOUNT))

    def _field(self, field: int) -> Rows:
        source = self._source
        q_count, u_count = source.get_generalized_coordinate_dim(), source.get_dof()
        return self._array(lib.RS_CHANNEL_FIELD, (q_count if field in self._LIKE_Q else u_count,), field=field)

    coordinates: Rows = _vector("COORDINATE", "Coordinates q; (N, q).")
    velocities: Rows = _vector("VELOCITY", "Velocities u; (N, u).")
    accelerations: Rows = _vector("ACCELERATION", "Change of u in the last step per time; (N, u), read only.")
    forces: Rows = _vector("FEED_FORWARD", "Feed-forward forces [N m, N]; (N, u).")
    applied_forces: Rows = _vector("APPLIED_FORCE", "What motors gave in the last step [N m, N]; (N, u), read only.")
    position_targets: Rows = _vector("P_TARGET", "Targets of q; (N, q).")
    velocity_targets: Rows = _vector("D_TARGET", "Targets of u; (N, u).")
    p_gains: Rows = _vector("P_GAIN", "Position gains; (N, u). Writing them turns PD control on.")
    d_gains: Rows = _vector("D_GAIN", "Velocity gains; (N, u). Writing them turns PD control on.")
    damping: Rows = _vector("DAMPING", "Viscous damping of the joints [N m s/rad, N s/m]; (N, u).")
    joint_friction: Rows = _vector("FRICTION", "Coulomb friction of the joints [N m, N]; (N, u).")
    rotor_inertias: Rows = _vector("ROTOR_INERTIA", "Rotor inertias [kg m^2, kg]; (N, u).")
    stiffness: Rows = _vector("STIFFNESS", "Stiffness of the joints' springs [N m/rad, N/m]; (N, u).")

    @property
    def controls(self) -> Rows:
        """Controls of the actuators of the robot's file, in their order; (N, actuators).

        As with ArticulatedSystem.set_actuation(), feed-forward forces of all joints follow from them. They are zero at
        first and after resets, and act from the next step on.
        """
        motors = self._source._motor_table()
        return self._array(lib.RS_CHANNEL_CONTROL, (len(motors),), actuators=motors, actuator_count=len(motors))

    @controls.setter
    def controls(self, values: Any) -> None:
        put("controls", self.controls, values)

    @property
    def base_velocities(self) -> int:
        """How many of the velocities belong to a floating base: 6, or 0 for a fixed one."""
        return 0 if self._source._tree.fixed_base else 6

    def set_state(self, coordinates: Any, velocities: Any, members: Members = None) -> None:
        """Set q and u of members (all when None) now: one row for all, or one row each."""
        number, pointer, chosen = self._engine.members(members)
        rows: Any = slice(None) if chosen is None else chosen
        q, u = self._state_rows(coordinates, velocities, number)
        put("coordinates", self.coordinates, q, rows)
        put("velocities", self.velocities, u, rows)
        self._engine.refresh(number, pointer)

    def _state_rows(self, coordinates: Any, velocities: Any, number: int) -> tuple[Rows, Rows]:
        """q and u of so many members; raises InvalidValueError."""
        given = {"coordinates": (coordinates, self.coordinates), "velocities": (velocities, self.velocities)}
        made = []
        for name, (values, now) in given.items():
            rows = np.empty((number, now.shape[1]))
            put(name, rows, values)
            made.append(rows)
        return made[0], made[1]

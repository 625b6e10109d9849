"""Elements and attributes of world files: the tables that the reader and docs/world_file.md share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from raisim_ros.description.shapes import SHAPES


class Kind(Enum):
    """How the text of an attribute is read."""

    NUMBER = "number"
    POSITIVE = "positive number"
    RATE = "number above 0, at most 1e6"
    COUNT = "integer, at least 0"
    VEC3 = "3 numbers"
    SCALE = "1 or 3 numbers"
    QUATERNION = "quaternion w x y z"
    NUMBERS = "numbers"
    TEXT = "text"
    PATH = "path"
    GROUPS = "collision groups"
    BODY_TYPE = "dynamic, kinematic or static"
    MESH_MODE = "original, convex_hull or convexify"
    LINK_MESH_MODE = "hull, original or convexify"
    SELF_COLLISION = "auto, all or none"
    GYRO_MODE = "energy_conserving, implicit_body, implicit_world, explicit or none"
    BROADPHASE = "none, sap_3_axis or multi_box_prune"
    SWITCH = "true or false"
    DRIVE_TYPE = "differential, skid, mecanum or holonomic"
    ODOMETRY = "none, truth or wheels"
    FRAMES = "all, base, links or none (true: all, false: none)"
    NAMES = "names separated by spaces or commas"
    BASE = "auto, fixed or floating"
    SCHEME = "trapezoid, semi_implicit, euler, runge_kutta_4 or midpoint"
    CONTROL = "force_and_torque or pd_plus_feedforward_torque"
    COLOR = "red, green, blue from 0 to 1"
    LIGHT_TYPE = "directional, point or spot"
    WIRE_TYPE = "stiff, compliant or custom"
    STRETCH_TYPE = "stretch_only, compression_only or both"
    LIMITS = "numbers; inf: no limit"
    RANGE = "2 numbers; inf: no limit"


class Default(Enum):
    """What stands in the place of a default."""

    REQUIRED = "required"
    ENGINE = "the engine's"  # the attribute is left out of what was read


REQUIRED, ENGINE = Default.REQUIRED, Default.ENGINE


@dataclass(frozen=True)
class Attribute:
    """One attribute: its names (the first is canonical), how it is read, its default."""

    names: tuple[str, ...]
    kind: Kind
    default: object
    meaning: str


@dataclass(frozen=True)
class Element:
    """One element: its names (the first is canonical), attributes and the elements it may contain."""

    names: tuple[str, ...]
    meaning: str
    attributes: tuple[Attribute, ...] = ()
    children: tuple[str, ...] = ()  # canonical names, keys of ELEMENTS


def _attribute(names: str, kind: Kind, default: object, meaning: str) -> Attribute:
    return Attribute(tuple(names.split()), kind, default, meaning)


_FILTER = (
    _attribute("collision_group collisionGroup", Kind.GROUPS, 1, "groups it belongs to"),
    _attribute("collision_mask collisionMask", Kind.GROUPS, 2**64 - 1, "groups it collides with"),
)
_COMMON = (
    _attribute("name", Kind.TEXT, "", "name; need not be unique"),
    _attribute("material", Kind.TEXT, "default", "contact material"),
    _attribute("appearance", Kind.TEXT, "", 'colour name, "r g b a", texture name or "hidden"'),
    *_FILTER,
)
# What the state topic of an object holds, by the names in InterfaceSettings.
PUBLISHED = (
    _attribute("publish_children_names", Kind.SWITCH, False, "state topic: names of all descendants"),
    _attribute("publish_joint_names", Kind.SWITCH, True, "state topic: names of the joints"),
    _attribute("publish_joint_positions", Kind.SWITCH, False, "state topic: positions, velocities, efforts of joints"),
    _attribute("publish_links", Kind.SWITCH, False, "each link has a state and a command topic of its own"),
    _attribute("publish_tf", Kind.FRAMES, "all", "which of its frames are in /tf: its own one, those of its links"),
    _attribute("odometry", Kind.ODOMETRY, "none", "odom topic: the true pose, or that of the drive's wheels"),
    _attribute("odom_tf", Kind.SWITCH, False, "its frame is given in a frame odom, and that in the world"),
    _attribute("min_rate_hz", Kind.RATE, None, "state topic: rate [Hz] while it is not commanded; default: the node's"),
    _attribute("max_rate_hz", Kind.RATE, None, "state topic: rate [Hz] while it is commanded; default: the node's"),
)
_SEEN = (_COMMON[0], _COMMON[2], *PUBLISHED)
_BODY = (
    *_COMMON,
    *PUBLISHED,
    _attribute("body_type bodyType", Kind.BODY_TYPE, "dynamic", "how it answers to forces"),
    _attribute("sensor", Kind.TEXT, "", "sensor file that it carries"),
    _attribute("mass", Kind.POSITIVE, REQUIRED, "mass [kg]"),
    _attribute("com", Kind.VEC3, None, "centre of mass in the body frame [m]; default: that of the shape"),
    _attribute("linear_damping linearDamping", Kind.NUMBER, 0.0, "air drag [N s/m]"),
    _attribute("angular_damping angularDamping", Kind.VEC3, (0.0, 0.0, 0.0), "drag about each body axis [N m s/rad]"),
    _attribute("gyroscopic_mode gyroscopicMode", Kind.GYRO_MODE, "energy_conserving", "how that torque is integrated"),
)
_BODY_CHILDREN = ("inertia", "state", "controller", "sensor_set")
_PAIR = (
    _attribute("friction", Kind.NUMBER, REQUIRED, "coefficient of (dynamic) friction"),
    _attribute("restitution", Kind.NUMBER, 0.0, "coefficient of restitution, 0 to 1"),
    _attribute("restitution_threshold", Kind.NUMBER, 0.0, "slower impacts do not bounce [m/s]"),
    _attribute("static_friction", Kind.NUMBER, None, "coefficient of static friction; default: friction"),
    _attribute("static_friction_velocity_threshold", Kind.NUMBER, 0.0, "friction is dynamic above this speed [m/s]"),
    _attribute("rolling_friction", Kind.NUMBER, 0.0, "largest moment against rolling per normal force [m]"),
    _attribute("spinning_friction", Kind.NUMBER, 0.0, "the same against spinning about the normal [m]"),
)
_VALUE3 = (_attribute("value", Kind.VEC3, REQUIRED, "x y z"),)

# Attributes of <dim>, by the element around it.
_NUMBERS = {
    "radius": "radius [m]",
    "height": "full height, of a capsule the distance of its sphere centres [m]",
    **{axis: f"full length along {axis} [m]" for axis in "xyz"},
}
DIMENSIONS: dict[str, tuple[Attribute, ...]] = {
    shape.name: tuple(_attribute(field, Kind.POSITIVE, REQUIRED, _NUMBERS[field]) for field in shape.fields)
    for shape in SHAPES.values()
}
PRIMITIVES = tuple(DIMENSIONS)

# Attributes of <state> in an articulated system.
ROBOT_STATE = (
    _attribute("qpos", Kind.NUMBERS, None, "generalised coordinates; default: the zero position"),
    _attribute("qvel", Kind.NUMBERS, None, "generalised velocities; default: zero"),
    _attribute("base_pos basePos", Kind.VEC3, None, "position of a fixed base [m]"),
    _attribute("base_quat baseQuat", Kind.QUATERNION, None, "orientation of a fixed base"),
)
# Attributes of <joints>: one number per degree of freedom, or per generalised coordinate.
JOINT_SETTINGS = (
    _attribute("feed_forward", Kind.NUMBERS, None, "generalised forces [N m, N]"),
    _attribute("p_target", Kind.NUMBERS, None, "position targets of the PD control, like qpos"),
    _attribute("d_target", Kind.NUMBERS, None, "velocity targets of the PD control"),
    _attribute("p_gain", Kind.NUMBERS, None, "position gains of the PD control"),
    _attribute("d_gain", Kind.NUMBERS, None, "velocity gains of the PD control"),
    _attribute("damping", Kind.NUMBERS, None, "viscous damping [N m s/rad, N s/m]"),
    _attribute("friction", Kind.NUMBERS, None, "dry friction [N m, N]"),
    _attribute("rotor_inertia", Kind.NUMBERS, None, "[kg m^2, kg]"),
    _attribute("stiffness", Kind.NUMBERS, None, "stiffness of the springs [N m/rad, N/m]"),
    _attribute("spring_mount", Kind.NUMBERS, None, "rest positions of the springs, like qpos"),
    _attribute("lower", Kind.LIMITS, None, "lowest positions [rad, m]"),
    _attribute("upper", Kind.LIMITS, None, "highest positions [rad, m]"),
    _attribute("velocity_limit", Kind.LIMITS, None, "highest speeds [rad/s, m/s]"),
    _attribute("effort_lower", Kind.LIMITS, None, "lowest commands [N m, N]"),
    _attribute("effort_upper", Kind.LIMITS, None, "highest commands [N m, N]"),
)

_WIRE_END = (
    _attribute("name", Kind.TEXT, None, "the object; in this file first, else in the world"),
    _attribute("index", Kind.COUNT, None, "in place of the name: place among the objects of the file, from 0"),
    _attribute("local_index localIndex", Kind.COUNT, 0, "body of an articulated system; 0 for single bodies"),
    _attribute("pos", Kind.VEC3, (0.0, 0.0, 0.0), "where the wire ends, in the body's frame [m]"),
    _attribute("frame", Kind.TEXT, None, "in place of local_index: frame of an articulated system; pos is in it"),
)

_OBJECTS = (*PRIMITIVES, "compound", "mesh", "ground", "heightmap", "articulated_system", "light", "view_camera")

ELEMENTS: dict[str, Element] = {
    element.names[0]: element
    for element in (
        Element(
            ("raisim",),
            "the world",
            (_attribute("version Version", Kind.TEXT, "", "not checked"),),
            (
                *("material", "gravity", "time_step", "erp", "simulation", "objects", "wire", "camera", "named_pose"),
                *("include", "params"),
            ),
        ),
        Element(("gravity",), "gravitational acceleration [m/s^2]; default 0 0 -9.81", _VALUE3),
        Element(
            ("time_step", "timeStep", "timestep"),
            "duration of a step; default 0.005 s",
            (_attribute("value", Kind.POSITIVE, REQUIRED, "[s]"),),
        ),
        Element(
            ("erp",),
            "overlap correction",
            (
                _attribute("erp", Kind.NUMBER, ENGINE, "strength"),
                _attribute("erp2", Kind.NUMBER, ENGINE, "damping"),
            ),
        ),
        Element(
            ("simulation",),
            "settings of solver, contact detection and sleeping",
            (_attribute("time", Kind.NUMBER, 0.0, "simulated time at the start [s]"),),
            ("solver", "contact", "sleeping"),
        ),
        Element(
            ("solver",),
            "the contact solver",
            (
                _attribute("max_iterations maxIterations", Kind.COUNT, ENGINE, "most sweeps in a step"),
                _attribute("threshold", Kind.NUMBER, ENGINE, "squared relative change at which sweeps end"),
                _attribute("fixed_order fixedOrder", Kind.SWITCH, ENGINE, "sweeps always run forward"),
            ),
        ),
        Element(
            ("contact",),
            "contact detection",
            (
                _attribute("gjk_max_iterations", Kind.COUNT, ENGINE, "iterations of the distance algorithm"),
                _attribute("gjk_tolerance", Kind.POSITIVE, ENGINE, "its tolerance, relative"),
                _attribute("epa_max_iterations", Kind.COUNT, ENGINE, "iterations of the penetration algorithm"),
                _attribute("epa_tolerance", Kind.POSITIVE, ENGINE, "its tolerance, relative"),
                _attribute("max_contacts_per_pair", Kind.COUNT, ENGINE, "contact points of two shapes, 1 to 8"),
                _attribute("swept_ccd_enabled", Kind.SWITCH, ENGINE, "keep fast bodies from tunnelling"),
                _attribute("swept_ccd_min_speed", Kind.NUMBER, ENGINE, "only bodies at least this fast [m/s]"),
                _attribute("swept_ccd_speculative_margin", Kind.NUMBER, ENGINE, "extra distance looked ahead [m]"),
                _attribute("broadphase", Kind.BROADPHASE, ENGINE, "how nearby pairs are found"),
                _attribute("mbp_world_min", Kind.VEC3, ENGINE, "corner of the grid [m]"),
                _attribute("mbp_world_max", Kind.VEC3, ENGINE, "opposite corner [m]"),
                _attribute("mbp_cell_size", Kind.VEC3, ENGINE, "size of a cell [m]"),
                _attribute("mbp_padding", Kind.NUMBER, ENGINE, "added around boxes [m]"),
                _attribute("mbp_max_cells_per_axis", Kind.COUNT, ENGINE, "limit of the grid"),
                _attribute("mbp_max_cells_per_object", Kind.COUNT, ENGINE, "larger objects are tested against all"),
                _attribute("mbp_use_world_bounds", Kind.SWITCH, ENGINE, "use the corners, not the objects' extent"),
            ),
        ),
        Element(
            ("sleeping",),
            "when bodies at rest are skipped",
            (
                _attribute("enabled", Kind.SWITCH, ENGINE, "bodies may sleep"),
                _attribute("linear_threshold linearThreshold", Kind.NUMBER, ENGINE, "[m/s]"),
                _attribute("angular_threshold angularThreshold", Kind.NUMBER, ENGINE, "[rad/s]"),
                _attribute("quiet_steps quietSteps", Kind.COUNT, ENGINE, "steps below both thresholds"),
            ),
        ),
        Element(("material",), "contact materials; may follow the objects", (), ("default", "pair_prop")),
        Element(("default",), "pairs without properties of their own", _PAIR),
        Element(
            ("pair_prop",),
            "how two materials touch",
            (
                _attribute("name1", Kind.TEXT, REQUIRED, "first material"),
                _attribute("name2", Kind.TEXT, REQUIRED, "second material"),
                *_PAIR,
            ),
        ),
        Element(
            ("camera",),
            "where a viewer looks from",
            (
                _attribute("follow", Kind.TEXT, "", "object that it follows"),
                *(_attribute(axis, Kind.NUMBER, 0.0, f"offset along {axis} [m]") for axis in "xyz"),
            ),
        ),
        Element(
            ("named_pose",),
            "a place with a name, which clients can ask for: to spawn at, or to go to",
            (
                _attribute("name", Kind.TEXT, REQUIRED, "its name, unique in the world"),
                _attribute("pos", Kind.VEC3, (0.0, 0.0, 0.0), "position [m]"),
                _attribute("quat", Kind.QUATERNION, (1.0, 0.0, 0.0, 0.0), "orientation"),
                _attribute("description", Kind.TEXT, "", "for people"),
                _attribute("tags", Kind.NAMES, (), "what it is good for"),
                _attribute("size", Kind.VEC3, None, "full lengths of the free box around it [m]; default: not bounded"),
            ),
        ),
        Element(("objects",), "everything in the world", (), _OBJECTS),
        *(Element((shape,), f"a {shape}", _BODY, ("dim", *_BODY_CHILDREN)) for shape in PRIMITIVES),
        Element(("compound",), "several primitives in one body", _BODY, ("children", *_BODY_CHILDREN)),
        Element(("children",), "the primitives of a compound", (), PRIMITIVES),
        Element(
            ("mesh",),
            "a body with the shape of a mesh file",
            (
                *_BODY,
                _attribute("file_name fileName", Kind.PATH, REQUIRED, "the mesh file"),
                _attribute("scale", Kind.SCALE, (1.0, 1.0, 1.0), "factors along x, y and z; one number: for all"),
                _attribute("collision_mode collisionMode", Kind.MESH_MODE, "convexify", "what collides in its place"),
            ),
            _BODY_CHILDREN,
        ),
        Element(
            ("ground",),
            "the half-space below a height; its collision group is bit 61",
            (*_COMMON, *PUBLISHED, _attribute("height", Kind.NUMBER, 0.0, "z of the surface [m]")),
            ("sensor_set",),
        ),
        Element(
            ("heightmap",),
            "terrain; the first of height, terrain_properties, png and text counts",
            (
                *_COMMON[:3],
                _attribute("collision_group collisionGroup", Kind.GROUPS, 1 << 63, "groups it belongs to"),
                _FILTER[1],
                *PUBLISHED,
                _attribute("x_sample xSample x_samples", Kind.COUNT, None, "samples along x"),
                _attribute("y_sample ySample y_samples", Kind.COUNT, None, "samples along y"),
                _attribute("x_size xSize", Kind.POSITIVE, 10.0, "length along x [m]"),
                _attribute("y_size ySize", Kind.POSITIVE, 10.0, "length along y [m]"),
                _attribute("center_x centerX", Kind.NUMBER, 0.0, "x of the centre [m]"),
                _attribute("center_y centerY", Kind.NUMBER, 0.0, "y of the centre [m]"),
                _attribute("center_z centerZ", Kind.NUMBER, 0.0, "added to all heights [m]"),
                _attribute("height", Kind.NUMBERS, None, "heights, x runs fastest [m]"),
                _attribute("png", Kind.PATH, None, "8- or 16-bit greyscale image"),
                _attribute(
                    "z_scale zScale height_scale heightScale", Kind.NUMBER, 1.0, "height per pixel value [m]; png"
                ),
                _attribute(
                    "z_offset zOffset height_offset heightOffset", Kind.NUMBER, 0.0, "height of pixel value 0 [m]; png"
                ),
                _attribute("text", Kind.PATH, None, "text file: x and y samples, x and y size, heights"),
            ),
            ("terrain_properties", "sensor_set"),
        ),
        Element(
            ("terrain_properties", "terrainProperties"),
            "fractal Perlin terrain",
            (
                _attribute("frequency", Kind.POSITIVE, 0.1, "[1/m]"),
                _attribute("z_scale zScale", Kind.NUMBER, 2.0, "[m]"),
                _attribute("fractal_octaves fractalOctaves", Kind.COUNT, 5, "number of layers"),
                _attribute(
                    "fractal_lacunarity fractalLacunarity", Kind.NUMBER, 2.0, "frequency factor from layer to layer"
                ),
                _attribute("fractal_gain fractalGain", Kind.NUMBER, 0.5, "height factor from layer to layer"),
                _attribute("step_size stepSize", Kind.NUMBER, 0.0, "heights are multiples of it [m]; 0: smooth"),
                _attribute("height_offset heightOffset", Kind.NUMBER, 0.0, "added to all heights [m]"),
                _attribute("seed", Kind.COUNT, 0, "other numbers give other landscapes"),
            ),
        ),
        Element(
            ("articulated_system", "articulatedSystem"),
            "a robot from a URDF file",
            (
                _attribute("name", Kind.TEXT, "", "name; need not be unique"),
                _attribute("appearance", Kind.TEXT, "", 'colour name, "r g b a", texture name or "hidden"'),
                *_FILTER,
                *PUBLISHED,
                _attribute("urdf_path urdfPath", Kind.PATH, REQUIRED, "the URDF or xacro file"),
                _attribute("res_dir resDir", Kind.PATH, None, "folder of the meshes; default: that of the file"),
                _attribute(
                    "joint_order jointOrder", Kind.NAMES, (), "all movable joints, parents first, or depth_first"
                ),
                _attribute("modules", Kind.NAMES, (), "URDF fragments to insert"),
                _attribute("base", Kind.BASE, "auto", "auto: fixed when the root link is named world"),
                _attribute("collide_parent collideParent", Kind.SWITCH, False, "links collide with their parents too"),
                _attribute(
                    "convexify_meshes convexifyMeshes", Kind.SWITCH, False, "the same as collision_meshes convexify"
                ),
                _attribute(
                    "collision_meshes collisionMeshes", Kind.LINK_MESH_MODE, "hull", "what collides in their place"
                ),
                _attribute(
                    "self_collision selfCollision",
                    Kind.SELF_COLLISION,
                    "auto",
                    "auto: links that overlap with all joints at zero do not collide with each other",
                ),
                _attribute("srdf", Kind.PATH, None, "SRDF file with pairs of links that do not collide"),
                _attribute("integration_scheme integrationScheme", Kind.SCHEME, "trapezoid", "how time advances"),
                _attribute("control_mode controlMode", Kind.CONTROL, "force_and_torque", "what drives the joints"),
            ),
            (
                *("state", "controller", "drive", "joints", "collision_shape", "ignore_collision", "actuator"),
                *("tendon", "named_state", "gravity_compensation", "sensor_set"),
            ),
        ),
        Element(
            ("light",),
            "a light, moved like a kinematic body; colour cameras see by the first one",
            (
                *_SEEN,
                _attribute("type", Kind.LIGHT_TYPE, "directional", "from far away along -z; all around; in a cone"),
                _attribute("color colour", Kind.COLOR, (1.0, 1.0, 1.0), "its colour"),
                _attribute("cutoff", Kind.POSITIVE, math.pi / 4, "from the axis of a spot to its border [rad]"),
                _attribute("shadows", Kind.SWITCH, False, "whether things shade each other"),
            ),
            ("state", "sensor_set"),
        ),
        Element(
            ("view_camera", "viewCamera"),
            "a place from which viewers may look, moved like a kinematic body: +x forward, +y left, +z up",
            (
                *_SEEN,
                _attribute("horizontal_fov horizontalFov", Kind.POSITIVE, 1.2, "full horizontal angle [rad]"),
                _attribute("near", Kind.POSITIVE, 0.05, "nothing closer is shown [m]"),
                _attribute("far", Kind.POSITIVE, 1000.0, "nothing farther away is shown [m]"),
            ),
            ("state", "sensor_set"),
        ),
        Element(
            ("drive",),
            "how velocities on cmd_vel move the base",
            (
                _attribute("type", Kind.DRIVE_TYPE, REQUIRED, "what it can do; a holonomic one has no wheels"),
                _attribute("left_joints", Kind.NAMES, (), "of the left wheels, front first"),
                _attribute("right_joints", Kind.NAMES, (), "of the right wheels, front first"),
                _attribute("wheel_radius", Kind.NUMBER, 0.0, "[m]"),
                _attribute("wheel_separation", Kind.NUMBER, 0.0, "between left and right wheels [m]"),
                _attribute("wheel_base", Kind.NUMBER, 0.0, "between front and rear axles, of mecanum [m]"),
                _attribute("separation_multiplier", Kind.NUMBER, 1.0, "of the separation, for the slip of skid drives"),
                _attribute("max_linear_speed", Kind.NUMBER, 0.0, "[m/s]; 0: no limit"),
                _attribute("max_angular_speed", Kind.NUMBER, 0.0, "[rad/s]; 0: no limit"),
            ),
        ),
        Element(
            ("joints",),
            "settings in place of those of the robot file: one number per degree of freedom or coordinate",
            JOINT_SETTINGS,
        ),
        Element(
            ("collision_shape",),
            "settings of one collision shape of a robot",
            (
                _attribute("name", Kind.TEXT, REQUIRED, "LINK/k: the k-th shape of a link, from 0"),
                _attribute("collision_group collisionGroup", Kind.GROUPS, None, "default: that of the robot"),
                _attribute("collision_mask collisionMask", Kind.GROUPS, None, "default: that of the robot"),
                _attribute("material", Kind.TEXT, None, "contact material; default: that of the robot file"),
                _attribute("convex", Kind.SWITCH, False, "a mesh collides as its convex hull"),
            ),
        ),
        Element(
            ("ignore_collision",),
            "two links of a robot that never collide",
            (
                _attribute("link1", Kind.TEXT, REQUIRED, "first link"),
                _attribute("link2", Kind.TEXT, REQUIRED, "second link"),
            ),
        ),
        Element(
            ("actuator",),
            "a motor with a control of its own, see ArticulatedSystem.set_actuation()",
            (
                _attribute("name", Kind.TEXT, "", "name; default: that of the joint"),
                _attribute("joint", Kind.TEXT, "", "a revolute or prismatic joint, or else"),
                _attribute("tendon", Kind.TEXT, "", "a tendon"),
                _attribute("gear", Kind.NUMBER, 1.0, "force of the joint per force of the motor"),
                _attribute("gain", Kind.NUMBER, 1.0, "force of the motor per control"),
                _attribute("bias", Kind.NUMBER, 0.0, "force of the motor at control zero"),
                _attribute("control_range", Kind.RANGE, (-math.inf, math.inf), "the control is kept in it"),
                _attribute("force_range", Kind.RANGE, (-math.inf, math.inf), "the motor's force is kept in it"),
            ),
        ),
        Element(
            ("tendon",),
            "a tendon over pulleys on the axes of joints: its length is the sum of coordinates times coefficients",
            (
                _attribute("name", Kind.TEXT, REQUIRED, "name"),
                _attribute("joints", Kind.NAMES, REQUIRED, "revolute and prismatic joints"),
                _attribute("coefficients", Kind.NUMBERS, REQUIRED, "one for each of them"),
                _attribute("stiffness", Kind.NUMBER, 0.0, "of a spring along it"),
                _attribute("damping", Kind.NUMBER, 0.0, "of a damper along it"),
                _attribute("rest", Kind.NUMBERS, (0.0, 0.0), "two lengths between which the spring is slack"),
                _attribute("friction", Kind.NUMBER, 0.0, "against its motion"),
                _attribute("range", Kind.RANGE, (-math.inf, math.inf), "limits of its length"),
                _attribute("p_gain", Kind.NUMBER, 0.0, "of a servo, about length zero"),
                _attribute("d_gain", Kind.NUMBER, 0.0, "of the servo"),
                _attribute("effort_range", Kind.RANGE, (-math.inf, math.inf), "the servo's force is kept in it"),
                _attribute("feed_forward", Kind.NUMBER, 0.0, "force that the servo adds"),
            ),
        ),
        Element(
            ("gravity_compensation",),
            "weight of a link that something else carries",
            (
                _attribute("link", Kind.TEXT, REQUIRED, "of the robot"),
                _attribute("mass", Kind.NUMBER, REQUIRED, "so much of it [kg]"),
                _attribute("com", Kind.VEC3, REQUIRED, "where it is, in the frame of the body [m]"),
            ),
        ),
        Element(
            ("named_state",),
            "a state for ArticulatedSystem.set_state(name)",
            (
                _attribute("name", Kind.TEXT, REQUIRED, "name"),
                _attribute("qpos", Kind.NUMBERS, REQUIRED, "generalised coordinates"),
                _attribute("qvel", Kind.NUMBERS, REQUIRED, "generalised velocities"),
                _attribute("control", Kind.NUMBERS, (), "controls of the actuators, in their order; default: zero"),
            ),
        ),
        Element(("dim",), "dimensions of the primitive around it"),
        Element(
            ("inertia",),
            "about the centre of mass, body frame [kg m^2]",
            tuple(
                _attribute(name, Kind.NUMBER, REQUIRED if name in ("xx", "yy", "zz") else 0.0, name)
                for name in ("xx", "xy", "xz", "yy", "yz", "zz")
            ),
        ),
        Element(
            ("state",),
            "pose of the body origin and velocity of the centre of mass; inside a compound: pose in the body frame; "
            "of a robot: its coordinates and velocities",
            (
                _attribute("pos", Kind.VEC3, (0.0, 0.0, 0.0), "position [m]"),
                _attribute("quat", Kind.QUATERNION, (1.0, 0.0, 0.0, 0.0), "orientation"),
                _attribute("lin_vel linVel", Kind.VEC3, (0.0, 0.0, 0.0), "linear velocity [m/s]"),
                _attribute("ang_vel angVel", Kind.VEC3, (0.0, 0.0, 0.0), "angular velocity [rad/s]"),
            ),
        ),
        Element(
            ("controller",),
            "gains of the controller that follows commanded poses; default: critically damped at 2 Hz",
            (
                _attribute("linear", Kind.VEC3, None, "p i d of the position [N/m, N/(m s), N s/m]"),
                _attribute("angular", Kind.VEC3, None, "p i d of the orientation [N m/rad, N m/(rad s), N m s/rad]"),
            ),
        ),
        Element(
            ("sensor_set",),
            "sensors that the object carries; inside stand `<origin>` and `<sensor>` as in a [sensor file](sensors.md)",
            (
                _attribute("name", Kind.TEXT, "", "name of the set"),
                _attribute("link", Kind.TEXT, "", "link of a robot that carries it; default: the first"),
                _attribute("serial_number", Kind.TEXT, "", "serial number of the set"),
            ),
        ),
        Element(
            ("wire",),
            "a wire between two objects",
            (
                _attribute("name", Kind.TEXT, "", "name; need not be unique"),
                _attribute("type", Kind.WIRE_TYPE, REQUIRED, "does not give way; spring; tension set by the user"),
                _attribute("length", Kind.NUMBER, REQUIRED, "length at rest [m]"),
                _attribute("stiffness", Kind.NUMBER, None, "of a compliant wire, where it is required [N/m]"),
                _attribute("tension", Kind.NUMBER, 0.0, "of a custom wire, positive pulls [N]"),
                _attribute(
                    "stretch_type stretchType",
                    Kind.STRETCH_TYPE,
                    None,
                    "what it resists; default stretch_only, of a custom wire compression_only",
                ),
                _attribute("explicit", Kind.SWITCH, False, "integrate a compliant wire explicitly"),
                _attribute("width", Kind.POSITIVE, 0.01, "how thick it is drawn [m]"),
                _attribute("color colour", Kind.TEXT, "", 'colour name or "r g b a"; default: by tension'),
            ),
            ("object1", "object2"),
        ),
        Element(("object1",), "the first end of a wire", _WIRE_END),
        Element(("object2",), "the second end of a wire", _WIRE_END),
        Element(("include",), "another world file, loaded before this one"),
        Element(("params",), "values of @@parameters"),
    )
}

CANONICAL: dict[str, str] = {name: element.names[0] for element in ELEMENTS.values() for name in element.names}

"""Elements and attributes of world files: the tables that the reader and docs/world_file.md share."""

from __future__ import annotations

import math

from raisim_ros.description.collision_groups import HEIGHTMAP_GROUP
from raisim_ros.description.shapes import FIELDS, SHAPES
from raisim_ros.description.world.line_schema import LINE_ELEMENTS
from raisim_ros.description.world.schema_types import (
    COMMON,
    ENGINE,
    FILTER,
    PUBLISHED,
    REQUIRED,
    Attribute,
    Element,
    Kind,
    attribute,
)
from raisim_ros.description.world.soft_schema import SOFT_ELEMENTS, SOFT_OBJECTS

_SEEN = (COMMON[0], COMMON[2], *PUBLISHED)
_BODY = (
    *COMMON,
    *PUBLISHED,
    attribute("body_type bodyType", Kind.BODY_TYPE, "dynamic", "how it answers to forces"),
    attribute("sensor", Kind.TEXT, "", "sensor file that it carries"),
    attribute("mass", Kind.POSITIVE, REQUIRED, "mass [kg]"),
    attribute("com", Kind.VEC3, None, "centre of mass in the body frame [m]; default: that of the shape"),
    attribute("linear_damping linearDamping", Kind.NUMBER, 0.0, "air drag [N s/m]"),
    attribute("angular_damping angularDamping", Kind.VEC3, (0.0, 0.0, 0.0), "drag about each body axis [N m s/rad]"),
    attribute("gyroscopic_mode gyroscopicMode", Kind.GYRO_MODE, "energy_conserving", "how that torque is integrated"),
)
_BODY_CHILDREN = ("inertia", "state", "controller", "sensor_set")
_PAIR = (
    attribute("friction", Kind.NUMBER, REQUIRED, "coefficient of (dynamic) friction"),
    attribute("restitution", Kind.NUMBER, 0.0, "coefficient of restitution, 0 to 1"),
    attribute("restitution_threshold", Kind.NUMBER, 0.0, "slower impacts do not bounce [m/s]"),
    attribute("static_friction", Kind.NUMBER, None, "coefficient of static friction; default: friction"),
    attribute("static_friction_velocity_threshold", Kind.NUMBER, 0.0, "friction is dynamic above this speed [m/s]"),
    attribute("rolling_friction", Kind.NUMBER, 0.0, "largest moment against rolling per normal force [m]"),
    attribute("spinning_friction", Kind.NUMBER, 0.0, "the same against spinning about the normal [m]"),
)
_VALUE3 = (attribute("value", Kind.VEC3, REQUIRED, "x y z"),)

# Attributes of <dim>, by the element around it.
DIMENSIONS: dict[str, tuple[Attribute, ...]] = {
    shape.name: tuple(attribute(field, Kind.POSITIVE, REQUIRED, FIELDS[field]) for field in shape.fields)
    for shape in SHAPES.values()
}
PRIMITIVES = tuple(DIMENSIONS)

# Attributes of <state> in an articulated system.
ROBOT_STATE = (
    attribute("qpos", Kind.NUMBERS, None, "generalised coordinates; default: the zero position"),
    attribute("qvel", Kind.NUMBERS, None, "generalised velocities; default: zero"),
    attribute("base_pos basePos", Kind.VEC3, None, "position of a fixed base [m]"),
    attribute("base_quat baseQuat", Kind.QUATERNION, None, "orientation of a fixed base"),
)
# Attributes of <joints>: one number per degree of freedom, or per generalised coordinate.
JOINT_SETTINGS = (
    attribute("feed_forward", Kind.NUMBERS, None, "generalised forces [N m, N]"),
    attribute("p_target", Kind.NUMBERS, None, "position targets of the PD control, like qpos"),
    attribute("d_target", Kind.NUMBERS, None, "velocity targets of the PD control"),
    attribute("p_gain", Kind.NUMBERS, None, "position gains of the PD control"),
    attribute("d_gain", Kind.NUMBERS, None, "velocity gains of the PD control"),
    attribute("damping", Kind.NUMBERS, None, "viscous damping [N m s/rad, N s/m]"),
    attribute("friction", Kind.NUMBERS, None, "dry friction [N m, N]"),
    attribute("rotor_inertia", Kind.NUMBERS, None, "[kg m^2, kg]"),
    attribute("stiffness", Kind.NUMBERS, None, "stiffness of the springs [N m/rad, N/m]"),
    attribute("spring_mount", Kind.NUMBERS, None, "rest positions of the springs, like qpos"),
    attribute("lower", Kind.LIMITS, None, "lowest positions [rad, m]"),
    attribute("upper", Kind.LIMITS, None, "highest positions [rad, m]"),
    attribute("velocity_limit", Kind.LIMITS, None, "highest speeds [rad/s, m/s]"),
    attribute("effort_lower", Kind.LIMITS, None, "lowest commands [N m, N]"),
    attribute("effort_upper", Kind.LIMITS, None, "highest commands [N m, N]"),
)

_WIRE_END = (
    attribute("name", Kind.TEXT, None, "the object; in this file first, else in the world"),
    attribute("index", Kind.COUNT, None, "in place of the name: place among the objects of the file, from 0"),
    attribute("local_index localIndex", Kind.COUNT, 0, "body of an articulated system; 0 for single bodies"),
    attribute("pos", Kind.VEC3, (0.0, 0.0, 0.0), "where the wire ends, in the body's frame [m]"),
    attribute("frame", Kind.TEXT, None, "in place of local_index: frame of an articulated system; pos is in it"),
)

_OBJECTS = (
    *(*PRIMITIVES, "compound", "mesh", "ground", "heightmap", "articulated_system", "light", "view_camera"),
    *SOFT_OBJECTS,
)

ELEMENTS: dict[str, Element] = {
    element.names[0]: element
    for element in (
        Element(
            ("raisim",),
            "the world",
            (attribute("version Version", Kind.TEXT, "", "not checked"),),
            (
                *("material", "gravity", "fluid", "time_step", "erp", "simulation", "objects", "wire", "camera"),
                *("named_pose", "include", "params"),
            ),
        ),
        Element(("gravity",), "gravitational acceleration [m/s^2]; default 0 0 -9.81", _VALUE3),
        Element(
            ("fluid",),
            "a fluid that fills the world and slows down bodies and links, each as the box with its inertia",
            (
                attribute("density", Kind.NUMBER, 0.0, "[kg/m^3]"),
                attribute("viscosity", Kind.NUMBER, 0.0, "[Pa s]"),
                attribute("wind", Kind.VEC3, (0.0, 0.0, 0.0), "its velocity [m/s]"),
            ),
        ),
        Element(
            ("time_step", "timeStep", "timestep"),
            "duration of a step; default 0.005 s",
            (attribute("value", Kind.POSITIVE, REQUIRED, "[s]"),),
        ),
        Element(
            ("erp",),
            "overlap correction",
            (
                attribute("erp", Kind.NUMBER, ENGINE, "strength"),
                attribute("erp2", Kind.NUMBER, ENGINE, "damping"),
            ),
        ),
        Element(
            ("simulation",),
            "settings of solver, contact detection and sleeping",
            (attribute("time", Kind.NUMBER, 0.0, "simulated time at the start [s]"),),
            ("solver", "contact", "sleeping"),
        ),
        Element(
            ("solver",),
            "the contact solver",
            (
                attribute("max_iterations maxIterations", Kind.COUNT, ENGINE, "most sweeps in a step"),
                attribute("threshold", Kind.NUMBER, ENGINE, "squared relative change at which sweeps end"),
                attribute("fixed_order fixedOrder", Kind.SWITCH, ENGINE, "sweeps always run forward"),
            ),
        ),
        Element(
            ("contact",),
            "contact detection",
            (
                attribute("gjk_max_iterations", Kind.COUNT, ENGINE, "iterations of the distance algorithm"),
                attribute("gjk_tolerance", Kind.POSITIVE, ENGINE, "its tolerance, relative"),
                attribute("epa_max_iterations", Kind.COUNT, ENGINE, "iterations of the penetration algorithm"),
                attribute("epa_tolerance", Kind.POSITIVE, ENGINE, "its tolerance, relative"),
                attribute("max_contacts_per_pair", Kind.COUNT, ENGINE, "contact points of two shapes, 1 to 8"),
                attribute("swept_ccd_enabled", Kind.SWITCH, ENGINE, "keep fast bodies from tunnelling"),
                attribute("swept_ccd_min_speed", Kind.NUMBER, ENGINE, "only bodies at least this fast [m/s]"),
                attribute("swept_ccd_speculative_margin", Kind.NUMBER, ENGINE, "extra distance looked ahead [m]"),
                attribute("broadphase", Kind.BROADPHASE, ENGINE, "how nearby pairs are found"),
                attribute("mbp_world_min", Kind.VEC3, ENGINE, "corner of the grid [m]"),
                attribute("mbp_world_max", Kind.VEC3, ENGINE, "opposite corner [m]"),
                attribute("mbp_cell_size", Kind.VEC3, ENGINE, "size of a cell [m]"),
                attribute("mbp_padding", Kind.NUMBER, ENGINE, "added around boxes [m]"),
                attribute("mbp_max_cells_per_axis", Kind.COUNT, ENGINE, "limit of the grid"),
                attribute("mbp_max_cells_per_object", Kind.COUNT, ENGINE, "larger objects are tested against all"),
                attribute("mbp_use_world_bounds", Kind.SWITCH, ENGINE, "use the corners, not the objects' extent"),
            ),
        ),
        Element(
            ("sleeping",),
            "when bodies at rest are skipped",
            (
                attribute("enabled", Kind.SWITCH, ENGINE, "bodies may sleep"),
                attribute("linear_threshold linearThreshold", Kind.NUMBER, ENGINE, "[m/s]"),
                attribute("angular_threshold angularThreshold", Kind.NUMBER, ENGINE, "[rad/s]"),
                attribute("quiet_steps quietSteps", Kind.COUNT, ENGINE, "steps below both thresholds"),
            ),
        ),
        Element(("material",), "contact materials; may follow the objects", (), ("default", "pair_prop")),
        Element(("default",), "pairs without properties of their own", _PAIR),
        Element(
            ("pair_prop",),
            "how two materials touch",
            (
                attribute("name1", Kind.TEXT, REQUIRED, "first material"),
                attribute("name2", Kind.TEXT, REQUIRED, "second material"),
                *_PAIR,
            ),
        ),
        Element(
            ("camera",),
            "where a viewer looks from",
            (
                attribute("follow", Kind.TEXT, "", "object that it follows"),
                *(attribute(axis, Kind.NUMBER, 0.0, f"offset along {axis} [m]") for axis in "xyz"),
            ),
        ),
        Element(
            ("named_pose",),
            "a place with a name, which clients can ask for: to spawn at, or to go to",
            (
                attribute("name", Kind.TEXT, REQUIRED, "its name, unique in the world"),
                attribute("pos", Kind.VEC3, (0.0, 0.0, 0.0), "position [m]"),
                attribute("quat", Kind.QUATERNION, (1.0, 0.0, 0.0, 0.0), "orientation"),
                attribute("description", Kind.TEXT, "", "for people"),
                attribute("tags", Kind.NAMES, (), "what it is good for"),
                attribute("size", Kind.VEC3, None, "full lengths of the free box around it [m]; default: not bounded"),
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
                attribute("file_name fileName", Kind.PATH, REQUIRED, "the mesh file"),
                attribute("scale", Kind.SCALE, (1.0, 1.0, 1.0), "factors along x, y and z; one number: for all"),
                attribute("collision_mode collisionMode", Kind.MESH_MODE, "convexify", "what collides in its place"),
            ),
            _BODY_CHILDREN,
        ),
        Element(
            ("ground",),
            "the half-space below a height; its collision group is bit 61",
            (*COMMON, *PUBLISHED, attribute("height", Kind.NUMBER, 0.0, "z of the surface [m]")),
            ("sensor_set",),
        ),
        Element(
            ("heightmap",),
            "terrain; the first of height, terrain_properties, png and text counts",
            (
                *COMMON[:3],
                attribute("collision_group collisionGroup", Kind.GROUPS, HEIGHTMAP_GROUP, "groups it belongs to"),
                FILTER[1],
                *PUBLISHED,
                attribute("x_sample xSample x_samples", Kind.COUNT, None, "samples along x"),
                attribute("y_sample ySample y_samples", Kind.COUNT, None, "samples along y"),
                attribute("x_size xSize", Kind.POSITIVE, 10.0, "length along x [m]"),
                attribute("y_size ySize", Kind.POSITIVE, 10.0, "length along y [m]"),
                attribute("center_x centerX", Kind.NUMBER, 0.0, "x of the centre [m]"),
                attribute("center_y centerY", Kind.NUMBER, 0.0, "y of the centre [m]"),
                attribute("center_z centerZ", Kind.NUMBER, 0.0, "added to all heights [m]"),
                attribute("height", Kind.NUMBERS, None, "heights, x runs fastest [m]"),
                attribute("png", Kind.PATH, None, "8- or 16-bit greyscale image"),
                attribute(
                    "z_scale zScale height_scale heightScale", Kind.NUMBER, 1.0, "height per pixel value [m]; png"
                ),
                attribute(
                    "z_offset zOffset height_offset heightOffset", Kind.NUMBER, 0.0, "height of pixel value 0 [m]; png"
                ),
                attribute("text", Kind.PATH, None, "text file: x and y samples, x and y size, heights"),
            ),
            ("terrain_properties", "sensor_set"),
        ),
        Element(
            ("terrain_properties", "terrainProperties"),
            "fractal Perlin terrain",
            (
                attribute("frequency", Kind.POSITIVE, 0.1, "[1/m]"),
                attribute("z_scale zScale", Kind.NUMBER, 2.0, "[m]"),
                attribute("fractal_octaves fractalOctaves", Kind.COUNT, 5, "number of layers"),
                attribute(
                    "fractal_lacunarity fractalLacunarity", Kind.NUMBER, 2.0, "frequency factor from layer to layer"
                ),
                attribute("fractal_gain fractalGain", Kind.NUMBER, 0.5, "height factor from layer to layer"),
                attribute("step_size stepSize", Kind.NUMBER, 0.0, "heights are multiples of it [m]; 0: smooth"),
                attribute("height_offset heightOffset", Kind.NUMBER, 0.0, "added to all heights [m]"),
                attribute("seed", Kind.COUNT, 0, "other numbers give other landscapes"),
            ),
        ),
        Element(
            ("articulated_system", "articulatedSystem"),
            "a robot from a URDF file",
            (
                attribute("name", Kind.TEXT, "", "name; need not be unique"),
                attribute("appearance", Kind.TEXT, "", 'colour name, "r g b a", texture name or "hidden"'),
                *FILTER,
                *PUBLISHED,
                attribute("urdf_path urdfPath", Kind.PATH, REQUIRED, "the URDF or xacro file"),
                attribute("res_dir resDir", Kind.PATH, None, "folder of the meshes; default: that of the file"),
                attribute(
                    "joint_order jointOrder", Kind.NAMES, (), "all movable joints, parents first, or depth_first"
                ),
                attribute("modules", Kind.NAMES, (), "URDF fragments to insert"),
                attribute("base", Kind.BASE, "auto", "auto: fixed when the root link is named world"),
                attribute("collide_parent collideParent", Kind.SWITCH, False, "links collide with their parents too"),
                attribute(
                    "convexify_meshes convexifyMeshes", Kind.SWITCH, False, "the same as collision_meshes convexify"
                ),
                attribute(
                    "collision_meshes collisionMeshes", Kind.LINK_MESH_MODE, "hull", "what collides in their place"
                ),
                attribute(
                    "self_collision selfCollision",
                    Kind.SELF_COLLISION,
                    "auto",
                    "auto: links that overlap with all joints at zero do not collide with each other",
                ),
                attribute("srdf", Kind.PATH, None, "SRDF file with pairs of links that do not collide"),
                attribute("integration_scheme integrationScheme", Kind.SCHEME, "trapezoid", "how time advances"),
                attribute("control_mode controlMode", Kind.CONTROL, "force_and_torque", "what drives the joints"),
            ),
            (
                *("state", "controller", "drive", "joints", "collision_shape", "ignore_collision", "actuator"),
                *("tendon", "lock", "named_state", "gravity_compensation", "sensor_set"),
            ),
        ),
        *SOFT_ELEMENTS,
        Element(
            ("light",),
            "a light, moved like a kinematic body; colour cameras see by the first one",
            (
                *_SEEN,
                attribute("type", Kind.LIGHT_TYPE, "directional", "from far away along -z; all around; in a cone"),
                attribute("color colour", Kind.COLOR, (1.0, 1.0, 1.0), "its colour"),
                attribute("cutoff", Kind.POSITIVE, math.pi / 4, "from the axis of a spot to its border [rad]"),
                attribute("shadows", Kind.SWITCH, False, "whether things shade each other"),
            ),
            ("state", "sensor_set"),
        ),
        Element(
            ("view_camera", "viewCamera"),
            "a place from which viewers may look, moved like a kinematic body: +x forward, +y left, +z up",
            (
                *_SEEN,
                attribute("horizontal_fov horizontalFov", Kind.POSITIVE, 1.2, "full horizontal angle [rad]"),
                attribute("near", Kind.POSITIVE, 0.05, "nothing closer is shown [m]"),
                attribute("far", Kind.POSITIVE, 1000.0, "nothing farther away is shown [m]"),
            ),
            ("state", "sensor_set"),
        ),
        Element(
            ("drive",),
            "how velocities on cmd_vel move the base",
            (
                attribute("type", Kind.DRIVE_TYPE, REQUIRED, "what it can do; a holonomic one has no wheels"),
                attribute("left_joints", Kind.NAMES, (), "of the left wheels, front first"),
                attribute("right_joints", Kind.NAMES, (), "of the right wheels, front first"),
                attribute("wheel_radius", Kind.NUMBER, 0.0, "[m]"),
                attribute("wheel_separation", Kind.NUMBER, 0.0, "between left and right wheels [m]"),
                attribute("wheel_base", Kind.NUMBER, 0.0, "between front and rear axles, of mecanum [m]"),
                attribute("separation_multiplier", Kind.NUMBER, 1.0, "of the separation, for the slip of skid drives"),
                attribute("max_linear_speed", Kind.NUMBER, 0.0, "[m/s]; 0: no limit"),
                attribute("max_angular_speed", Kind.NUMBER, 0.0, "[rad/s]; 0: no limit"),
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
                attribute("name", Kind.TEXT, REQUIRED, "LINK/k: the k-th shape of a link, from 0"),
                attribute("collision_group collisionGroup", Kind.GROUPS, None, "default: that of the robot"),
                attribute("collision_mask collisionMask", Kind.GROUPS, None, "default: that of the robot"),
                attribute("material", Kind.TEXT, None, "contact material; default: that of the robot file"),
                attribute("convex", Kind.SWITCH, False, "a mesh collides as its convex hull"),
            ),
        ),
        Element(
            ("ignore_collision",),
            "two links of a robot that never collide",
            (
                attribute("link1", Kind.TEXT, REQUIRED, "first link"),
                attribute("link2", Kind.TEXT, REQUIRED, "second link"),
            ),
        ),
        *LINE_ELEMENTS,
        Element(
            ("gravity_compensation",),
            "weight of a link that something else carries",
            (
                attribute("link", Kind.TEXT, REQUIRED, "of the robot"),
                attribute("mass", Kind.NUMBER, REQUIRED, "so much of it [kg]"),
                attribute("com", Kind.VEC3, REQUIRED, "where it is, in the frame of the body [m]"),
            ),
        ),
        Element(
            ("named_state",),
            "a state for ArticulatedSystem.set_state(name)",
            (
                attribute("name", Kind.TEXT, REQUIRED, "name"),
                attribute("qpos", Kind.NUMBERS, REQUIRED, "generalised coordinates"),
                attribute("qvel", Kind.NUMBERS, REQUIRED, "generalised velocities"),
                attribute("control", Kind.NUMBERS, (), "controls of the actuators, in their order; default: zero"),
                attribute("activation", Kind.NUMBERS, (), "their activations; default: zero"),
            ),
        ),
        Element(("dim",), "dimensions of the primitive around it"),
        Element(
            ("inertia",),
            "about the centre of mass, body frame [kg m^2]",
            tuple(
                attribute(name, Kind.NUMBER, REQUIRED if name in ("xx", "yy", "zz") else 0.0, name)
                for name in ("xx", "xy", "xz", "yy", "yz", "zz")
            ),
        ),
        Element(
            ("state",),
            "pose of the body origin and velocity of the centre of mass; inside a compound: pose in the body frame; "
            "of a robot: its coordinates and velocities",
            (
                attribute("pos", Kind.VEC3, (0.0, 0.0, 0.0), "position [m]"),
                attribute("quat", Kind.QUATERNION, (1.0, 0.0, 0.0, 0.0), "orientation"),
                attribute("lin_vel linVel", Kind.VEC3, (0.0, 0.0, 0.0), "linear velocity [m/s]"),
                attribute("ang_vel angVel", Kind.VEC3, (0.0, 0.0, 0.0), "angular velocity [rad/s]"),
            ),
        ),
        Element(
            ("controller",),
            "gains of the controller that follows commanded poses; default: critically damped at 2 Hz",
            (
                attribute("linear", Kind.VEC3, None, "p i d of the position [N/m, N/(m s), N s/m]"),
                attribute("angular", Kind.VEC3, None, "p i d of the orientation [N m/rad, N m/(rad s), N m s/rad]"),
            ),
        ),
        Element(
            ("sensor_set",),
            "sensors that the object carries; inside stand `<origin>` and `<sensor>` as in a [sensor file](sensors.md)",
            (
                attribute("name", Kind.TEXT, "", "name of the set"),
                attribute("link", Kind.TEXT, "", "link of a robot that carries it; default: the first"),
                attribute("serial_number", Kind.TEXT, "", "serial number of the set"),
            ),
        ),
        Element(
            ("wire",),
            "a wire between two objects",
            (
                attribute("name", Kind.TEXT, "", "name; need not be unique"),
                attribute("type", Kind.WIRE_TYPE, REQUIRED, "does not give way; spring; tension set by the user"),
                attribute("length", Kind.NUMBER, REQUIRED, "length at rest [m]"),
                attribute("stiffness", Kind.NUMBER, None, "of a compliant wire, where it is required [N/m]"),
                attribute("tension", Kind.NUMBER, 0.0, "of a custom wire, positive pulls [N]"),
                attribute(
                    "stretch_type stretchType",
                    Kind.STRETCH_TYPE,
                    None,
                    "what it resists; default stretch_only, of a custom wire compression_only",
                ),
                attribute("explicit", Kind.SWITCH, False, "integrate a compliant wire explicitly"),
                attribute("width", Kind.POSITIVE, 0.01, "how thick it is drawn [m]"),
                attribute("color colour", Kind.TEXT, "", 'colour name or "r g b a"; default: by tension'),
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

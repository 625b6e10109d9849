"""A small world in which there is one of everything, and what there is to call in it."""

from __future__ import annotations

import enum
import inspect

import numpy as np

from raisim_ros import (
    ArticulatedSystemOption,
    BodyType,
    CompoundChild,
    Contact,
    ContactModel,
    DepthCameraModel,
    ForceTorqueModel,
    ImuModel,
    LidarModel,
    MeshBuildOptions,
    MeshCollisionMode,
    Object,
    RGBCameraModel,
    SensorSetModel,
    ShapeType,
    World,
)
from raisim_ros.description.mesh.file import make_mesh
from raisim_ros.description.resources import resource
from raisim_ros.description.terrain import height_map_from_values
from raisim_ros.engine.entries.describe import describe_world
from raisim_ros.engine.objects.surface_handles import Mesh

TETRAHEDRON = make_mesh(
    [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)],
    [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)],
    "tetrahedron",
)
HILLS = height_map_from_values(4, 4, 6.0, 6.0, np.linspace(-0.1, 0.1, 16), 20.0, 0.0)


def sensor_models(joints: bool) -> SensorSetModel:
    sensors = [
        ImuModel(name="imu", update_rate=200.0),
        DepthCameraModel(name="depth", width=4, height=3, update_rate=50.0),
        RGBCameraModel(name="rgb", width=4, height=3, update_rate=50.0),
        LidarModel(name="lidar", yaw_samples=8, pitch_samples=2, pitch_min=-0.1, pitch_max=0.1, spin_rate=10.0, update_rate=50.0),
        ContactModel(name="contacts", update_rate=100.0),
    ]
    if joints:
        sensors.append(ForceTorqueModel(name="wrist", update_rate=100.0))
    return SensorSetModel(name="head", sensors=tuple(sensors))


def rich_world() -> World:
    world = World()
    world.add_ground(0.0, "rubber").set_name("ground")
    for number, body in enumerate(
        (
            world.add_sphere(0.3, 1.0),
            world.add_box(0.4, 0.5, 0.6, 1.0, "steel"),
            world.add_cylinder(0.3, 0.5, 1.0),
            world.add_capsule(0.2, 0.5, 1.0),
            world.add_cone(0.3, 0.6, 1.0),
            world.add_compound([CompoundChild(ShapeType.BOX, (0.3, 0.3, 0.3), (0.2, 0.0, 0.0))], 1.0),
            world.add_mesh(TETRAHEDRON, 1.0, collision_mode=MeshCollisionMode.CONVEX_HULL),
        )
    ):
        body.set_name(f"body_{number}")
        body.set_position(1.5 * number, 0.0, 0.3)
    world.get_object("body_4").set_body_type(BodyType.KINEMATIC)
    world.add_height_map(HILLS).set_name("hills")
    world.add_light().set_name("lamp")
    world.add_view_camera().set_name("eye")
    cart = world.add_articulated_system(resource("robots/cartpole.urdf"))
    cart.set_name("cart")
    arm = world.add_articulated_system(resource("robots/arm.urdf"), options=ArticulatedSystemOption())
    arm.set_name("arm")
    world.add_sensor_set(world.get_object("body_1"), sensor_models(False))
    world.add_sensor_set(arm, sensor_models(True), arm.get_body_names()[-1])
    first, second = world.get_object("body_0"), world.get_object("body_1")
    world.add_stiff_wire(first, 0, (0, 0, 0), second, 0, (0, 0, 0), 2.0).set_name("wire_0")
    world.add_compliant_wire(first, 0, (0, 0, 0), arm, 0, (0, 0, 0), 3.0, 100.0).set_name("wire_1")
    world.add_custom_wire(second, 0, (0, 0, 0), cart, 0, (0, 0, 0), 1.0).set_name("wire_2")
    world.set_material_pair_prop("rubber", "steel", 0.9, 0.1, 0.01)
    add_soft_objects(world)
    world.integrate(20)
    return world


def add_soft_objects(world: World) -> None:
    """Cloth that hangs on a body, a filled body and grains."""
    square = [(0.0, -2.0, 0.5), (0.2, -2.0, 0.5), (0.2, -1.8, 0.5), (0.0, -1.8, 0.5)]
    cloth = world.add_deformable_cloth(square, [(0, 1, 2), (0, 2, 3)], pinned_vertices=(0,), name="cloth")
    cloth.pin_vertex(1, body=world.get_object("body_0"))
    filled = MeshBuildOptions("filled", spacing=0.5)
    world.add_deformable_object((TETRAHEDRON.vertices, TETRAHEDRON.triangles), options=filled, name="jelly", position=(3.0, -3.0, 0.1))
    places = [(-3.0, 0.1 * k, 0.05) for k in range(6)]
    world.add_granular_particles(places, 0.04, name="grains").set_particle_fixed(5)


def things_to_call(world: World) -> list[object]:
    """The world, its objects and everything that hangs on them."""
    things: list[object] = [world, *world.get_obj_list(), *world.get_wires(), *world.get_contact_problem()[:3]]
    things.append(world.get_contact_solver())
    for one in world.get_sensor_sets():
        things += [one, *one]
    for handle in world.get_obj_list():
        things += handle.get_contacts()[:1]
        for name, references in (("get_movable_joint_names", "get_joint"), ("get_body_names", "get_link")):
            if hasattr(handle, name) and getattr(handle, name)():
                things.append(getattr(handle, references)(getattr(handle, name)()[-1]))
    return things


def public_methods(thing: object) -> list[str]:
    """Names of what can be called, without what waits for other threads or is nothing but Python."""
    left_out = {"lock_mutex", "locked"}
    return [
        name
        for name, member in inspect.getmembers(type(thing))
        if not name.startswith("_") and inspect.isfunction(member) and name not in left_out
    ]


def digest(world: World) -> tuple[object, ...]:
    """Everything that a call that fails must leave as it was."""
    meshes = {handle: "mesh" for handle in world.get_obj_list() if isinstance(handle, Mesh)}
    objects = [
        (handle.get_id(), handle.get_name(), handle.get_appearance(), handle.get_interface(), world.is_object_sleeping(handle))
        for handle in world.get_obj_list()
    ]
    sensors = [
        (one.get_name(), one.get_serial_number(), [(s.get_serial_number(), s._phase()) for s in one])
        for one in world.get_sensor_sets()
    ]
    names = {name: [handle.get_id() for handle in handles] for name, handles in world._names.items()}
    return tuple(
        map(frozen, (world.get_state_hash(), objects, names, sensors, sorted(world._handles), describe_world(world, meshes)))
    )


_PLAIN = frozenset((str, int, bool, bytes, type(None)))


def frozen(value: object) -> object:
    """A value that can be compared with ==, whatever arrays and objects are in it."""
    if type(value) in _PLAIN:  # most of them; asked first, as random calls spend half their time here
        return value
    if isinstance(value, np.ndarray):
        return (value.shape, value.tobytes())
    if isinstance(value, dict):
        return tuple((frozen(key), frozen(item)) for key, item in value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return tuple(frozen(item) for item in value)
    if isinstance(value, float):
        return value if value == value else "nan"
    if value is None or isinstance(value, (str, int, bytes, enum.Enum, Object, Contact)):
        return value
    return (type(value).__name__, *(frozen(item) for item in vars(value).values())) if hasattr(value, "__dict__") else repr(value)

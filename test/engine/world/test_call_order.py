"""Every public method may be called between integrate1 and integrate2: it works, or it raises and changes nothing."""

import inspect
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from raisim_ros import BodyType, ContactSettings, RaisimError, World, WrongStateError
from raisim_ros.description.resources import resource

# They step, wait for another thread, replace the whole world or write files: not questions of order.
APART = {
    "integrate", "integrate1", "integrate2", "integrate_no_contact_detection", "lock_mutex", "unlock_mutex", "locked",
    "load", "replace", "export_to_xml", "export_mesh_assets_to_obj", "export_robot_description_to_urdf",
    "set_activation_key",
}  # fmt: skip


class Scene:
    """A quadruped above boxes, a wire, a sleeper, a kinematic body and a heightmap."""

    def __init__(self) -> None:
        self.world = World()
        self.world.set_time_step(0.002)
        self.world.add_ground()
        self.robot = self.world.add_articulated_system(resource("robots/quadruped.urdf"))
        q = np.asarray(self.robot.get_generalized_coordinate()).copy()
        q[2] = 0.4
        self.robot.set_generalized_coordinate(q)
        self.box = self.world.add_box(0.2, 0.2, 0.2, 1.0)
        self.box.set_position(2.0, 0.0, 0.1)
        self.upper = self.world.add_sphere(0.1, 1.0)
        self.upper.set_position(2.0, 0.0, 0.35)
        self.free = self.world.add_sphere(0.1, 1.0)
        self.free.set_position(4.0, 0.0, 0.1)
        self.belt = self.world.add_box(1.0, 1.0, 0.1, 1.0)
        self.belt.set_body_type(BodyType.KINEMATIC)
        self.belt.set_position(-3.0, 0.0, 0.05)
        self.belt.set_linear_velocity((0.1, 0.0, 0.0))
        self.terrain = self.world.add_height_map(3, 3, 2.0, 2.0, 20.0, 0.0, np.zeros(9))
        self.wire = self.world.add_stiff_wire(self.upper, 0, (0, 0, 0), self.box, 0, (0, 0, 0), 0.4)
        self.world.integrate(20)
        self.start = self.world.save_snapshot()

    def receivers(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("world", "robot", "box", "belt", "terrain", "wire")}


NAMED = {"collision": lambda robot: robot.get_collision_bodies()[0].get_name(), "frame": lambda robot: robot.get_frames()[0].name,
         "link": lambda robot: robot.get_body_names()[1], "joint": lambda robot: robot.get_movable_joint_names()[-1]}  # fmt: skip


def argument(scene: Scene, receiver: Any, method: str, name: str) -> Any:
    """A value that fits a parameter by its name."""
    if name == "name" and receiver is scene.robot and not method.startswith("set_name"):
        return next((named(scene.robot) for word, named in NAMED.items() if word in method), "name")
    if method.startswith(("set_base", "set_command", "set_constraint", "get_position_in")) and name != "orientation" and "idx" not in name:
        return 0 if name == "frame" else (0.1, 0.2, 0.5)
    special = {"set_broadphase_settings": scene.world.get_broadphase_settings(), "restore_snapshot": scene.start,
               "set_linear_damping": 0.1, "set_joint_velocity_limits": np.full(scene.robot.get_dof(), 9.0),
               "set_interface": scene.box.get_interface(), "set_collision_body_shape_parameters": (0.1, 0.1, 0.1)}  # fmt: skip
    if method in special:
        return special[method]
    robot = scene.robot
    n = robot.get_dof()
    q = np.asarray(robot.get_generalized_coordinate()).copy()
    q[2] = 1.0
    values: dict[str, Any] = {
        "coordinate": q, "generalized_force": np.ones(n), "acceleration": np.ones(n), "vector": np.ones(n),
        "gain": np.full(n, 5.0), "p_gain": np.full(n, 5.0), "d_gain": np.full(n, 0.5), "damping": np.full(n, 0.1),
        "inertia": np.full(n, 0.01), "upper": np.full(n, 20.0), "lower": np.full(n, -20.0), "control": np.zeros(0),
        "jacobian": robot.get_sparse_jacobian(1, (0.0, 0.0, 0.0)), "frame": 0, "joint_name": robot.get_movable_joint_names()[-1],
        "mode": robot.get_control_mode(), "scheme": robot.get_integration_scheme(), "limits": robot.get_joint_limits(),
        "settings": ContactSettings(swept_ccd_enabled=True), "obj": scene.box, "source": scene.box, "obj1": scene.box,
        "obj2": scene.belt, "name": "name", "mat1": "default", "mat2": "default", "material": "steel", "mass": 3.0,
        "orientation": (1.0, 0.0, 0.0, 0.0), "rot": np.eye(3), "direction": (0.0, 0.0, -1.0), "start": (2.0, 0.0, 3.0),
        "starts": (2.0, 0.0, 3.0), "directions": ((0.0, 0.0, -1.0),), "body_type": BodyType.DYNAMIC,
        "enabled": False, "flag": True, "order": True, "explicit": True, "max_iter": 50, "quiet_steps": 5,
        "steps": 1, "count": 2, "body_idx1": 1, "body_idx2": 2, "wire_id": scene.wire.get_id(), "viewpoint": None,
        "w": (1.0, 0.0, 0.0, 0.0), "x": (2.0, 0.0, 0.5), "color": "red", "appearance": "red", "text": "x",
        "stretch_type": scene.wire.get_stretch_type(), "name_or_index": 0, "contact_index": 0, "dt": 0.003, "com": (0.0, 0.0, 0.01),
        "prop": scene.world.get_material_manager(),
    }  # fmt: skip
    if receiver is scene.robot and name == "position":
        return q
    if receiver is scene.robot and name in ("velocity", "force"):
        return np.zeros(n)
    if receiver is not scene.robot and name == "inertia":
        return 0.01 * np.eye(3)
    if receiver is not scene.robot and name == "damping":
        return (0.1, 0.1, 0.1)
    if name in values:
        return values[name]
    if name.endswith(("idx", "index", "_id", "count")) or name.startswith("local"):
        return 0
    if name in ("velocity", "linear", "angular", "force", "torque", "pos", "position", "point", "gravity", "first") or (
        "position" in name or "pos" in name or "point" in name
    ):
        return (0.1, 0.2, 0.5)
    return 0.5


def methods(receiver: Any) -> list[str]:
    return [n for n, _ in inspect.getmembers(type(receiver), callable) if not n.startswith("_") and n not in APART]


def call(scene: Scene, receiver: Any, method: str) -> bool:
    """Call it with values that fit its parameters: whether it was accepted."""
    function = getattr(receiver, method)
    required = [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.default is p.empty and p.kind is not p.VAR_POSITIONAL
    ]
    try:
        function(*(argument(scene, receiver, method, name) for name in required))
    except (RaisimError, ValueError, TypeError, KeyError, IndexError, AttributeError, OSError):
        return False
    return True


def is_question(method: str) -> bool:
    asks = ("get_", "is_", "read_", "ray_", "cast_", "capture_", "may_", "compute_", "convert_", "mass_matrix", "print_")
    return method.startswith((*asks, "articulated_body_algorithm", "update_kinematics"))


RECEIVERS = ["world", "robot", "box", "belt", "terrain", "wire"]


@pytest.mark.parametrize("receiver", RECEIVERS)
def test_questions_between_the_halves_change_nothing(receiver, capfd):
    scene = Scene()
    scene.world.integrate1()
    scene.world.integrate2()
    untouched, asked = scene.world.get_state_hash(), 0
    for method in filter(is_question, methods(scene.receivers()[receiver])):
        scene.world.restore_snapshot(scene.start)
        scene.world.integrate1()
        asked += call(scene, scene.receivers()[receiver], method)
        scene.world.integrate2()
        assert scene.world.get_state_hash() == untouched, method
    assert asked > 5


@pytest.mark.parametrize("receiver", RECEIVERS)
def test_every_method_between_the_halves_works_or_raises(receiver, capfd):
    """Alone, and after a state was set there."""
    accepted = 0
    scene = Scene()
    for method in methods(scene.receivers()[receiver]):
        for placed in (False, True):
            scene.world.restore_snapshot(scene.start)
            scene.world.integrate1()
            if placed:
                scene.robot.set_state(scene.robot.get_generalized_coordinate(), np.zeros(scene.robot.get_dof()))
                scene.box.set_position(2.0, 0.0, 0.3)
            accepted += call(scene, scene.receivers()[receiver], method)
            with suppress(WrongStateError):  # the method may have ended the step, as a restored snapshot does
                scene.world.integrate2()
            scene.world.integrate(3)
            assert np.isfinite(scene.robot.get_generalized_coordinate()).all(), method
            assert np.isfinite(scene.box.get_position()).all(), method
    assert accepted > 20


def test_states_set_between_the_halves_are_kept():
    scene = Scene()
    q = np.asarray(scene.robot.get_generalized_coordinate()).copy()
    q[2] = 3.0
    scene.world.integrate1()
    scene.robot.set_state(q, np.zeros(scene.robot.get_dof()))
    scene.free.set_position(2.0, 0.0, 5.0)
    scene.free.set_linear_velocity((1.0, 0.0, 0.0))
    scene.world.integrate2()
    assert scene.robot.get_base_position() == pytest.approx(q[:3], abs=1e-4)
    assert scene.free.get_position() == pytest.approx([2.002, 0.0, 5.0], abs=1e-4)
    assert scene.free.get_linear_velocity() == pytest.approx([1.0, 0.0, -0.002 * 9.81], abs=1e-9)


def test_a_body_put_into_another_between_the_halves_is_seen_there():
    """Contacts belong to the state with which the step ends, not to the one with which it began."""
    world = World()
    world.add_ground()
    box = world.add_box(0.2, 0.2, 0.2, 1.0)
    box.set_position(0.0, 0.0, 5.0)
    world.integrate1()
    box.set_position(0.0, 0.0, 0.1)
    world.integrate2()
    assert box.get_linear_velocity()[2] == pytest.approx(0.0, abs=1e-9)


def test_a_sleeper_woken_between_the_halves_stays_on_its_support():
    world = World()
    world.add_ground()
    box = world.add_box(0.2, 0.2, 0.2, 1.0)
    box.set_position(0.0, 0.0, 0.1)
    world.integrate(500)
    assert world.is_object_sleeping(box)
    world.integrate1()
    box.set_external_force(0, (0.0, 0.0, -1.0))
    world.integrate2()
    assert box.get_linear_velocity()[2] == pytest.approx(0.0, abs=1e-9)
    assert box.get_position()[2] == pytest.approx(0.1, abs=1e-6)

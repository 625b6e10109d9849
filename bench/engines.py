"""The same scene in this engine, in MuJoCo, PyBullet and Rapier."""

from __future__ import annotations

from dataclasses import asdict
from typing import Protocol

import mujoco
import numpy as np
from scenes import Body, Scene

from raisim_ros import World

try:
    import pybullet
except ImportError:  # no wheel for every Python
    pybullet = None


try:
    import rapier3d
except ImportError:
    rapier3d = None


class Simulation(Protocol):
    """What the benchmarks ask of an engine. Linear and angular velocities in the world frame."""

    def step(self, count: int) -> None: ...
    def positions(self) -> np.ndarray: ...
    def velocities(self) -> tuple[np.ndarray, np.ndarray]: ...
    def overlaps(self) -> np.ndarray: ...


class RaisimRos:
    """This engine with its default settings; sleeping is off."""

    name = "raisim_ros"

    def __init__(self, scene: Scene) -> None:
        self.world = world = World()
        world.set_time_step(scene.dt)
        world.set_gravity(scene.gravity)
        world.set_sleeping_enabled(False)
        world.set_default_material(scene.friction, scene.restitution, 0.0)
        if scene.accuracy_test:
            world.set_erp(0.0)
        self._bodies = [self._add(body) for body in scene.bodies]
        world.add_ground()

    def _add(self, body: Body):
        handle = getattr(self.world, f"add_{body.shape}")(*body.size, body.mass)
        handle.set_pose(body.position, body.quaternion)
        return handle

    def step(self, count: int) -> None:
        self.world.integrate(count)

    def positions(self) -> np.ndarray:
        return np.array([body.get_position() for body in self._bodies])

    def velocities(self) -> tuple[np.ndarray, np.ndarray]:
        return (np.array([body.get_linear_velocity() for body in self._bodies]),
                np.array([body.get_angular_velocity() for body in self._bodies]))

    def overlaps(self) -> np.ndarray:
        return np.maximum(0.0, -self.world.read_contacts()["depth"])

    def profile(self, steps: int) -> dict[str, float]:
        """Seconds spent in each stage over a number of steps."""
        self.world.set_profiling(True)
        self.world.integrate(steps)
        profile = asdict(self.world.get_profile())
        self.world.set_profiling(False)
        return {name: seconds for name, seconds in profile.items() if name != "steps"}

    def state_hash(self) -> str:
        return f"{self.world.get_state_hash():016x}"


class Mujoco:
    """MuJoCo with its default solver; contacts have normal and sliding friction, as here."""

    name = "MuJoCo"

    def __init__(self, scene: Scene) -> None:
        # MuJoCo has no restitution: an undamped spring stands for an elastic contact.
        spring = 'solref="-200000 0"' if scene.restitution == 1.0 else ""
        geoms = "".join(self._xml(body) for body in scene.bodies)
        gx, gy, gz = scene.gravity
        cone = "elliptic" if scene.accuracy_test else "pyramidal"
        self._model = mujoco.MjModel.from_xml_string(
            f'<mujoco><option timestep="{scene.dt}" gravity="{gx} {gy} {gz}" cone="{cone}"/><size memory="1G"/>'
            f'<default><geom condim="3" friction="{scene.friction} 0 0" {spring}/></default>'
            f'<worldbody><geom type="plane" size="0 0 1"/>{geoms}</worldbody></mujoco>')
        self._data = mujoco.MjData(self._model)
        mujoco.mj_forward(self._model, self._data)

    @staticmethod
    def _xml(body: Body) -> str:
        radius = body.size[:1] if body.shape != "box" else ()
        size = " ".join(map(str, [*radius, *(0.5 * s for s in body.size[len(radius):])]))
        place, turn = " ".join(map(str, body.position)), " ".join(map(str, body.quaternion))
        geom = f'<geom type="{body.shape}" size="{size}" mass="{body.mass}"/>'
        return f'<body pos="{place}" quat="{turn}"><freejoint/>{geom}</body>'

    def step(self, count: int) -> None:
        mujoco.mj_step(self._model, self._data, count)

    def positions(self) -> np.ndarray:
        return self._data.xpos[1:].copy()

    def velocities(self) -> tuple[np.ndarray, np.ndarray]:
        free = self._data.qvel.reshape(-1, 6)
        turn = self._data.xmat[1:].reshape(-1, 3, 3)
        return free[:, :3].copy(), np.einsum("nij,nj->ni", turn, free[:, 3:])

    def overlaps(self) -> np.ndarray:
        return np.maximum(0.0, -self._data.contact.dist)


class PyBullet:
    """PyBullet with its default solver, damping and sleeping off."""

    name = "PyBullet"

    def __init__(self, scene: Scene) -> None:
        p = self._client = pybullet
        p.connect(p.DIRECT)
        p.resetSimulation()
        p.setTimeStep(scene.dt)
        p.setGravity(*scene.gravity)
        p.setPhysicsEngineParameter(restitutionVelocityThreshold=0.0)
        ground = p.createMultiBody(0, p.createCollisionShape(p.GEOM_PLANE))
        self._bodies = [self._add(body) for body in scene.bodies]
        for body in [ground, *self._bodies]:
            # Friction and restitution of a pair are products here.
            p.changeDynamics(body, -1, lateralFriction=np.sqrt(scene.friction), restitution=np.sqrt(scene.restitution),
                             linearDamping=0.0, angularDamping=0.0, activationState=p.ACTIVATION_STATE_DISABLE_SLEEPING)

    def _add(self, body: Body) -> int:
        p = self._client
        if body.shape == "sphere":
            shape = p.createCollisionShape(p.GEOM_SPHERE, radius=body.size[0])
        elif body.shape == "box":
            shape = p.createCollisionShape(p.GEOM_BOX, halfExtents=[0.5 * s for s in body.size])
        else:
            kind = p.GEOM_CYLINDER if body.shape == "cylinder" else p.GEOM_CAPSULE
            shape = p.createCollisionShape(kind, radius=body.size[0], height=body.size[1])
        w, x, y, z = body.quaternion
        return p.createMultiBody(body.mass, shape, basePosition=body.position, baseOrientation=(x, y, z, w))

    def step(self, count: int) -> None:
        for _ in range(count):
            self._client.stepSimulation()

    def positions(self) -> np.ndarray:
        return np.array([self._client.getBasePositionAndOrientation(body)[0] for body in self._bodies])

    def velocities(self) -> tuple[np.ndarray, np.ndarray]:
        both = np.array([self._client.getBaseVelocity(body) for body in self._bodies])
        return both[:, 0], both[:, 1]

    def overlaps(self) -> np.ndarray:
        return np.maximum(0.0, -np.array([point[8] for point in self._client.getContactPoints()]))


class Rapier:
    """Rapier (single precision) with its default solver on one thread, sleeping off."""

    name = "Rapier"

    def __init__(self, scene: Scene) -> None:
        world = self.world = rapier3d.PhysicsWorld()
        world.set_num_threads(1)
        world.gravity = rapier3d.Vec3(*scene.gravity)
        world.integration_parameters.dt = scene.dt
        ground = rapier3d.Collider.halfspace(rapier3d.Vec3(0, 0, 1))
        world.add_collider(ground.friction(scene.friction).restitution(scene.restitution))
        self._bodies = [self._add(body, scene) for body in scene.bodies]

    def _add(self, body: Body, scene: Scene):
        w, x, y, z = body.quaternion
        pose = rapier3d.Isometry3(rapier3d.Vec3(*body.position), rapier3d.Rotation3(w=w, x=x, y=y, z=z))
        handle = self.world.add_body(rapier3d.RigidBody.dynamic().position(pose).can_sleep(False))
        make = rapier3d.Collider
        if body.shape == "sphere":
            collider = make.ball(body.size[0])
        elif body.shape == "box":
            collider = make.cuboid(*(0.5 * s for s in body.size))
        elif body.shape == "capsule":
            collider = make.capsule_z(0.5 * body.size[1], body.size[0])
        else:  # its axis is y
            collider = make.cylinder(0.5 * body.size[1], body.size[0])
            collider = collider.rotation((0.5 * np.pi, 0.0, 0.0))
        collider = collider.mass(body.mass).friction(scene.friction).restitution(scene.restitution)
        self.world.add_collider(collider, handle)
        return handle

    def step(self, count: int) -> None:
        for _ in range(count):
            self.world.step()

    def positions(self) -> np.ndarray:
        places = [self.world.rigid_bodies[handle].translation for handle in self._bodies]
        return np.array([(place.x, place.y, place.z) for place in places])

    def velocities(self) -> tuple[np.ndarray, np.ndarray]:
        bodies = [self.world.rigid_bodies[handle] for handle in self._bodies]
        return (np.array([(body.linvel.x, body.linvel.y, body.linvel.z) for body in bodies]),
                np.array([(body.angvel.x, body.angvel.y, body.angvel.z) for body in bodies]))

    def overlaps(self) -> np.ndarray:
        pairs = self.world.narrow_phase.contact_pairs()
        gaps = [point.dist for pair in pairs for manifold in pair.manifolds for point in manifold.points]
        return np.maximum(0.0, -np.array(gaps))


class Drake:
    """Drake's pressure fields (hydroelastic contact) with the default stiffness and solver; balls and boxes only."""

    name = "Drake"

    def __init__(self, scene: Scene) -> None:
        from pydrake import geometry
        from pydrake.math import RigidTransform, RotationMatrix
        from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction
        from pydrake.multibody.tree import SpatialInertia, UnitInertia
        from pydrake.systems.analysis import Simulator
        from pydrake.systems.framework import DiagramBuilder

        builder = DiagramBuilder()
        plant, scene_graph = AddMultibodyPlantSceneGraph(builder, scene.dt)
        config = geometry.SceneGraphConfig()
        config.default_proximity_properties.compliance_type = "compliant"  # or boxes would touch in one point
        scene_graph.set_config(config)
        plant.mutable_gravity_field().set_gravity_vector(scene.gravity)
        friction = CoulombFriction(scene.friction, scene.friction)
        ground = geometry.ProximityProperties()
        geometry.AddRigidHydroelasticProperties(ground)
        geometry.AddContactMaterial(friction=friction, properties=ground)
        plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), geometry.HalfSpace(), "ground", ground)
        self._bodies = []
        for k, body in enumerate(scene.bodies):
            ball = body.shape == "sphere"
            unit = UnitInertia.SolidSphere(*body.size) if ball else UnitInertia.SolidBox(*body.size)
            made = plant.AddRigidBody(f"body_{k}", SpatialInertia(body.mass, np.zeros(3), unit))
            shape = geometry.Sphere(*body.size) if ball else geometry.Box(*body.size)
            plant.RegisterCollisionGeometry(made, RigidTransform(), shape, f"shape_{k}", friction)
            self._bodies.append(made)
        plant.Finalize()
        diagram = builder.Build()
        self._simulator = Simulator(diagram)
        self._dt, self._plant = scene.dt, plant
        self._context = plant.GetMyMutableContextFromRoot(self._simulator.get_mutable_context())
        for made, body in zip(self._bodies, scene.bodies, strict=True):
            w, x, y, z = body.quaternion
            turn = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                             [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                             [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])
            pose = RigidTransform(RotationMatrix.ProjectToRotationMatrix(turn), body.position)
            plant.SetFreeBodyPose(self._context, made, pose)
        self._simulator.Initialize()

    def step(self, count: int) -> None:
        self._simulator.AdvanceTo(self._simulator.get_context().get_time() + count * self._dt)

    def positions(self) -> np.ndarray:
        return np.array([body.EvalPoseInWorld(self._context).translation() for body in self._bodies])

    def velocities(self) -> tuple[np.ndarray, np.ndarray]:
        twists = [body.EvalSpatialVelocityInWorld(self._context) for body in self._bodies]
        return np.array([twist.translational() for twist in twists]), np.array([twist.rotational() for twist in twists])

    def overlaps(self) -> np.ndarray:
        raise NotImplementedError("surfaces of equal pressure have no depth")


def drake_engine() -> list[type[Drake]]:
    """Drake, if it is installed: it is slow in piles, so only sections that are about accuracy ask for it."""
    from importlib.util import find_spec

    return [Drake] if find_spec("pydrake") else []


_OPTIONAL = [(pybullet, PyBullet), (rapier3d, Rapier)]
ENGINES = [RaisimRos, Mujoco, *(engine for module, engine in _OPTIONAL if module is not None)]

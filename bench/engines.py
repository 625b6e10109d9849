"""The same scene in this engine, in MuJoCo and in PyBullet."""

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
        self._world = world = World()
        world.set_time_step(scene.dt)
        world.set_gravity(scene.gravity)
        world.set_sleeping_enabled(False)
        world.set_default_material(scene.friction, scene.restitution, 0.0)
        if scene.accuracy_test:
            world.set_erp(0.0)
        self._bodies = [self._add(body) for body in scene.bodies]
        world.add_ground()

    def _add(self, body: Body):
        add = self._world.add_sphere if body.shape == "sphere" else self._world.add_box
        handle = add(*body.size, body.mass)
        handle.set_position(body.position)
        return handle

    def step(self, count: int) -> None:
        self._world.integrate(count)

    def positions(self) -> np.ndarray:
        return np.array([body.get_position() for body in self._bodies])

    def velocities(self) -> tuple[np.ndarray, np.ndarray]:
        return (np.array([body.get_linear_velocity() for body in self._bodies]),
                np.array([body.get_angular_velocity() for body in self._bodies]))

    def overlaps(self) -> np.ndarray:
        return np.maximum(0.0, -self._world.read_contacts()["depth"])

    def profile(self, steps: int) -> dict[str, float]:
        """Seconds spent in each stage over a number of steps."""
        self._world.set_profiling(True)
        self._world.integrate(steps)
        profile = asdict(self._world.get_profile())
        self._world.set_profiling(False)
        return {name: seconds for name, seconds in profile.items() if name != "steps"}

    def state_hash(self) -> str:
        return f"{self._world.get_state_hash():016x}"


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
        size = " ".join(str(s if body.shape == "sphere" else 0.5 * s) for s in body.size)
        place = " ".join(map(str, body.position))
        geom = f'<geom type="{body.shape}" size="{size}" mass="{body.mass}"/>'
        return f'<body pos="{place}"><freejoint/>{geom}</body>'

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
        else:
            shape = p.createCollisionShape(p.GEOM_BOX, halfExtents=[0.5 * s for s in body.size])
        return p.createMultiBody(body.mass, shape, basePosition=body.position)

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


ENGINES = [RaisimRos, Mujoco] + ([PyBullet] if pybullet is not None else [])

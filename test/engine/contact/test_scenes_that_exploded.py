"""Scenes in which contacts, wires or loops once gave energy: they may only take it."""

import itertools

import numpy as np
import pytest
from world_promises import contact_impulses, corrections_since, motion_of

from raisim_ros import BodyType, World
from raisim_ros.description.resources import resource


def watch(world, seconds, share):
    """No step gives more than `share` of the kinetic energy, and what overlap that is taken back lifts."""
    moving = [o for o in world.get_obj_list() if o.get_body_type() == BodyType.DYNAMIC]
    masses = [o.get_total_mass() if hasattr(o, "get_dof") else o.get_mass() for o in moving]
    pull, dt = float(np.linalg.norm(world.get_gravity())), world.get_time_step()
    pins = sum(len(o.get_kinematic_tree().pins) for o in moving if hasattr(o, "get_dof"))
    energy = sum(o.get_energy() for o in moving)
    for _ in range(round(seconds / dt)):
        kinetic, motion = sum(o.get_kinetic_energy() for o in moving), motion_of(moving)
        world.integrate()
        counters = world.get_collision_counters()
        # what is left of the laws may work as fast as it is: each pin at most with what would stop everything
        remainder = counters.solver_error * pins * np.sqrt(2.0 * kinetic * sum(masses))
        assert counters.contact_work <= 1e-9 * (kinetic + dt * dt * pull * pull * sum(masses)) + remainder
        corrections = corrections_since(motion, moving, dt)
        lift = -sum(m * np.asarray(world.get_gravity()) @ moved for m, moved in zip(masses, corrections, strict=True))
        now = sum(o.get_energy() for o in moving)
        assert now - energy <= share * kinetic + max(0.0, lift) + 0.5 * dt * pull * contact_impulses(moving) + 1e-9
        energy = now
    return moving


def test_the_default_world_only_loses_energy():
    """Its pyramid is hit after 1.4 s."""
    world = World(resource("worlds/default.xml"))
    world.set_sleeping_enabled(False)
    world.integrate(round(1.35 / world.get_time_step()))
    watch(world, 0.25, 1e-6)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_wall_hit_by_a_ball_only_loses_energy(seed):
    """Three rows of three bricks."""
    rng = np.random.default_rng(seed)
    world = World()
    world.set_time_step(0.005)
    world.set_sleeping_enabled(False)
    world.set_default_material(0.8, 0.0, 0.0)
    world.add_ground()
    for row, column in itertools.product(range(3), range(3)):
        world.add_box(0.4, 0.2, 0.2, 2.0).set_position(0.4 * column + 0.2 * (row % 2), 0, 0.1 + 0.2 * row)
    ball = world.add_sphere(0.2, 30.0)
    ball.set_position(*rng.uniform(0.2, 0.6, 1), -0.8, 0.35)
    ball.set_linear_velocity((0, 19.5, 0))
    watch(world, 1.0, 1e-6)


def walker_of_loops():
    """A trunk on four legs, each two upper and two lower rods that a pin joins at the foot, as Minitaur's."""
    upper, lower, half = 0.1, 0.2, 0.06

    def rod(name, length, foot=""):
        return f"""<link name="{name}"><inertial><origin xyz="0 0 {-length / 2}"/><mass value="0.1"/>
          <inertia ixx="4e-4" iyy="4e-4" izz="2e-5" ixy="0" ixz="0" iyz="0"/></inertial>{foot}</link>"""

    def hinge(parent, child, xyz, angle):
        return f"""<joint name="to_{child}" type="continuous"><parent link="{parent}"/><child link="{child}"/>
          <origin xyz="{xyz}" rpy="0 {angle} 0"/><axis xyz="0 1 0"/></joint>"""

    spread = np.arccos((half + upper * np.cos(np.pi / 4)) / lower)  # angle of the lower rods from the horizontal
    parts, pins = [], []
    for k, (x, y) in enumerate(itertools.product((-0.2, 0.2), (-0.12, 0.12))):
        for side, sign in (("l", -1.0), ("r", 1.0)):
            foot = f'<collision><origin xyz="0 0 {-lower}"/><geometry><sphere radius="0.02"/></geometry></collision>'
            parts += [
                rod(f"upper{k}{side}", upper),
                rod(f"lower{k}{side}", lower, foot if side == "l" else ""),
                hinge("trunk", f"upper{k}{side}", f"{x + sign * half} {y} 0", -sign * np.pi / 4),
                hinge(f"upper{k}{side}", f"lower{k}{side}", f"0 0 {-upper}", sign * (np.pi / 4 + np.pi / 2 - spread)),
            ]
        pins.append(f'<pin body1="lower{k}l" body2="lower{k}r" anchor="0 0 {-lower}"/>')
    return f"""<robot name="walker"><link name="trunk"><inertial><mass value="4"/>
      <inertia ixx="0.02" iyy="0.05" izz="0.06" ixy="0" ixz="0" iyz="0"/></inertial>
      <collision><geometry><box size="0.5 0.2 0.08"/></geometry></collision></link>{"".join(parts)}
      <constraints nominal_config="0 0 0 1 0 0 0 {"0 " * 16}">{"".join(pins)}</constraints></robot>"""


@pytest.mark.parametrize("dt", [0.001, 0.005])
def test_a_walker_of_closed_loops_is_dropped(dt):
    """On its feet, on its side and on its back."""
    for turn in ((1, 0, 0, 0), (0.8, 0.6, 0, 0), (0.1, 0.9, 0.3, 0.3)):
        world = World()
        world.set_time_step(dt)
        world.set_sleeping_enabled(False)
        world.add_ground()
        robot = world.add_articulated_system(walker_of_loops())
        robot.set_generalized_coordinate([0, 0, 0.6, *np.array(turn) / np.linalg.norm(turn), *np.zeros(16)])
        watch(world, 1.0, 0.02)
        assert robot.get_kinetic_energy() < 6.0 * 9.81 * 0.6

"""Random worlds in batches: members that are treated as lone worlds are these worlds, to the bit, for any number of threads."""

from __future__ import annotations

import os

import numpy as np
import pytest
from random_worlds import make_world

from raisim_ros import ArticulatedSystem, BodyType, DivergedError, HeightMap, WorldBatch

FRESH = int.from_bytes(os.urandom(4), "little")  # shown by pytest in the name of a test that fails


class Twins:
    """A batch beside lone worlds that are treated alike."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng((seed, 1))
        world = make_world(seed).world
        self.lone = [world.copy() for _ in range(int(self.rng.integers(2, 5)))]
        self.start = [one.save_snapshot() for one in self.lone]
        self.batch = WorldBatch(world, len(self.lone), int(self.rng.integers(1, 5)))
        self.things = [one for one in world if one.get_body_type() == BodyType.DYNAMIC or hasattr(one, "joints")]
        self.maps = [one for one in world if isinstance(one, HeightMap)]
        self.tuned = [False] * len(self.lone)  # parameters were changed: a reset keeps them

    def step(self, steps: int) -> None:
        self.batch.step(steps)
        for world in self.lone:
            world.integrate(steps)
        assert [self.batch.member(k).get_state_hash() for k in range(len(self.lone))] == [
            world.get_state_hash() for world in self.lone
        ]

    def own(self, thing, member: int):
        return self.lone[member].get_object_by_id(thing.get_id())

    def change(self) -> None:
        """Something of some members."""
        kinds = (self.command, self.move, self.tune, self.tune_world, self.restart)
        for member in np.flatnonzero(self.rng.random(len(self.lone)) < 0.7):
            kinds[self.rng.integers(len(kinds))](int(member))

    def restart(self, member: int) -> None:
        if not self.tuned[member]:
            self.batch.reset([member])
            self.lone[member].restore_snapshot(self.start[member])

    def command(self, member: int) -> None:
        for thing in self.things:
            own, many, push = self.own(thing, member), self.batch.object(thing), self.rng.normal(size=6)
            many.wrenches([0])[member] = push
            own.set_command_wrench(push[:3], push[3:])
            if isinstance(own, ArticulatedSystem):
                force = self.rng.normal(size=own.get_dof())
                many.forces[member] = force
                own.set_generalized_force(force)
                target = own.get_generalized_coordinate()
                many.position_targets[member] = target
                own.set_p_target(target)

    def move(self, member: int) -> None:
        for thing in self.things:
            own, many = self.own(thing, member), self.batch.object(thing)
            if isinstance(own, ArticulatedSystem):
                speed = own.get_generalized_velocity() + 0.1 * self.rng.normal(size=own.get_dof())
                many.velocities[member] = speed
                own.set_generalized_velocity(speed)
            else:
                place = own.get_position() + 0.01 * self.rng.normal(size=3)
                many.poses[member, :3] = place
                own.set_position(place)
                twist = self.rng.normal(size=6)
                many.twists[member] = twist
                own.set_velocity(twist)

    def tune(self, member: int) -> None:
        self.tuned[member] = True
        for thing in self.things:
            own, many, factor = self.own(thing, member), self.batch.object(thing), self.rng.uniform(0.8, 1.2)
            many.masses()[member] *= factor
            if isinstance(own, ArticulatedSystem):
                many.inertias()[member] *= factor
                own.get_masses()[:] *= factor
                own.get_inertia()[:] *= factor
                own.update_mass_info()
                damping = self.rng.uniform(0, 0.5, own.get_dof())
                many.damping[member], many.rotor_inertias[member] = damping, 0.01 * damping
                own.set_joint_damping(damping)
                own.set_rotor_inertia(0.01 * damping)
                gains = self.rng.uniform(0, 30, own.get_dof())
                many.p_gains[member] = gains
                own.set_p_gains(gains)
            else:
                mass, inertia = own.get_mass() * factor, own.get_inertia_matrix_b()
                own.set_mass(mass)
                own.set_inertia(inertia)

    def tune_world(self, member: int) -> None:
        self.tuned[member] = True
        gravity, friction = self.rng.normal(size=3) - (0, 0, 9), self.rng.uniform(0, 1)
        self.batch.gravity[member] = gravity
        self.lone[member].set_gravity(gravity)
        pair = self.batch.material_pair()
        pair[member, [0, 3]] = friction
        self.lone[member].set_material_pair_prop("default", "default", *pair[member])
        for one in self.maps:
            own = self.own(one, member)
            heights = own.get_height_vector() * self.rng.uniform(0.8, 1.2)
            self.batch.set_heightmap(one, heights.reshape(1, own.get_y_samples(), -1), members=[member])
            own.update(own.get_center_x(), own.get_center_y(), own.get_x_size(), own.get_y_size(), heights)
            twin = self.batch.member(member).get_object_by_id(one.get_id())
            assert np.array_equal(twin.get_height_vector(), heights)


@pytest.mark.filterwarnings("ignore:.*(no gains|left out of self collision)")
@pytest.mark.parametrize("seed", [*range(40), FRESH])
def test_members_are_the_lone_worlds_that_are_treated_alike(seed):
    twins = Twins(seed)
    try:
        for _ in range(4):
            twins.change()
            twins.step(int(twins.rng.integers(1, 8)))
    except DivergedError:  # a lone world that goes beyond what numbers can carry: its member starts again
        diverged = [one.get_world_time() != time for one, time in zip(twins.lone, twins.batch.times, strict=True)]
        assert twins.batch.diverged[diverged].all()

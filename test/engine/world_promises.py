"""What the physics promises about any world, checked step by step."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from random_worlds import RandomWorld

from raisim_ros import BodyType, WireType, World

Motion = list[tuple[np.ndarray, np.ndarray]]  # centres of mass and their velocities


def goes_on_to_the_same_bits(world: World, steps: int) -> bool:
    """Steps a world, takes it back and steps it again."""
    kept = world.save_snapshot()
    world.integrate(steps)
    first = world.get_state_hash()
    world.restore_snapshot(kept)
    world.integrate(steps)
    return world.get_state_hash() == first


@dataclass
class Promises:
    """Steps a world and keeps what it finds broken."""

    made: RandomWorld
    faults: list[str] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)

    def run(self) -> list[str]:
        """All steps. Half-way the world goes back a little and must do the same again, to the same bits."""
        world = self.made.world
        steps = max(20, round(self.made.seconds / world.get_time_step()))
        self._watch(steps // 2)
        if not goes_on_to_the_same_bits(world, 5):
            self.faults.append("a snapshot does not lead to the same state again")
        self._watch(steps - steps // 2)
        relative = np.array(self.errors)
        if np.mean(relative > 1e-2) > 0.02:
            self.faults.append(
                f"P3: {np.mean(relative > 1e-2):.0%} of the steps leave more than 1e-2 of the approach speed"
            )
        return self.faults

    def _watch(self, steps: int) -> None:
        made, world = self.made, self.made.world
        moving, dt, gravity = made.moving, world.get_time_step(), np.asarray(world.get_gravity())
        masses = [o.get_total_mass() if o in made.robots else o.get_mass() for o in moving]
        weight, alone = sum(masses) * gravity, not made.robots and not made.wires
        pins = sum(len(robot.get_kinematic_tree().pins) for robot in made.robots)
        energy = self._energy(moving)
        for step in range(steps):
            before = self._momentum(moving)
            awake = not any(world.is_object_sleeping(o) for o in moving)
            kinetic = sum(o.get_kinetic_energy() for o in moving)
            motion = motion_of(moving)
            world.integrate()
            counters = world.get_collision_counters()
            self.errors.append(counters.solver_relative_error)
            swing = dt * dt * sum(masses) * float(gravity @ gravity)
            # what is left of the laws may work as fast as it is: each pin at most with what would stop everything
            impulses = contact_impulses(self.made.moving) + pins * np.sqrt(2.0 * kinetic * sum(masses))
            remainder = impulses * counters.solver_error
            if counters.contact_work > 1e-9 * (kinetic + swing) + remainder:
                self.faults.append(f"P2: step {step}: contacts gave {counters.contact_work:.3g} J of {kinetic:.3g} J")
            if alone and awake and not any(world.is_object_sleeping(o) for o in moving):
                given = self._impulses_from_outside(moving) + dt * weight
                scale = sum(m * np.linalg.norm(o.get_linear_velocity()) for m, o in zip(masses, moving, strict=True))
                miss = np.abs(self._momentum(moving) - before - given).max()
                if miss > 1e-9 * (scale + np.abs(given).sum() + dt * np.abs(weight).sum()):
                    self.faults.append(f"P1: step {step}: momentum is off by {miss:.3g} of {scale:.3g} N s")
            now = self._energy(moving)
            if not made.driven and now > energy and now - energy > self._allowed(kinetic + swing, masses, motion):
                self.faults.append(f"P2: step {step}: energy grew by {now - energy:.3g} J, kinetic {kinetic:.3g} J")
            energy = now
            if len(self.faults) > 5:
                return

    def _allowed(self, kinetic: float, masses: list[float], motion: Motion) -> float:
        """What corrections of overlap, loops and stretch really lifted; bounces count from the
        speed with what gravity adds in the step; robots, and springs on bodies that tumble, have an error of the time step."""
        gravity, dt = np.asarray(self.made.world.get_gravity()), self.made.world.get_time_step()
        pull = float(np.linalg.norm(gravity))
        corrections = corrections_since(motion, self.made.moving, dt)
        lift = -sum(m * gravity @ moved for m, moved in zip(masses, corrections, strict=True))
        springs = [wire for wire in self.made.wires if wire.get_wire_type() != WireType.STIFF]
        far = {
            o.get_index_in_world(): float(np.linalg.norm(moved))
            for o, moved in zip(self.made.moving, corrections, strict=True)
        }
        stretch = sum(abs(spring.get_tension()) * far.get(end.get_index_in_world(), 0.0)
                      for spring in springs for end in (spring.get_body1(), spring.get_body2()))  # fmt: skip
        bounce = contact_impulses(self.made.moving)
        share = (
            0.02 if self.made.robots else (0.01 if bounce else 1e-3) if springs else 1e-5 if self.made.wires else 1e-9
        )
        rounding = 1e-12 + 1e-14 * sum(abs(o.get_energy()) for o in self.made.moving)
        return lift + stretch + 0.5 * dt * pull * bounce + share * kinetic + rounding

    def _energy(self, moving: list) -> float:
        return sum(o.get_energy() for o in (*moving, *self.made.wires))

    def _momentum(self, moving: list) -> np.ndarray:
        robots = self.made.robots
        return sum((np.asarray(o.get_linear_momentum()) if o in robots else o.get_mass() * o.get_linear_velocity()
                    for o in moving), np.zeros(3))  # fmt: skip

    def _impulses_from_outside(self, moving: list) -> np.ndarray:
        total = np.zeros(3)
        for o in moving:
            for contact in o.get_contacts():
                if contact.get_pair_object_body_type() != BodyType.DYNAMIC:
                    impulse = contact.get_contact_frame().T @ contact.get_impulse()
                    total += impulse if contact.is_object_a() else -impulse
        return total


def motion_of(moving: list) -> Motion:
    return [(np.array(o.get_com()), np.array(o.get_linear_momentum()) / o.get_total_mass()) if hasattr(o, "get_dof") else
            (np.array(o.get_com_position()), np.array(o.get_linear_velocity())) for o in moving]  # fmt: skip


def corrections_since(before: Motion, moving: list, dt: float) -> list[np.ndarray]:
    """How far each body or robot has come in a step beyond what its velocities tell."""
    return [
        x - x_before - 0.5 * dt * (v + v_before)
        for (x, v), (x_before, v_before) in zip(motion_of(moving), before, strict=True)
    ]


def contact_impulses(moving: list) -> float:
    """How much contacts pushed in the last step [N s]; those of two moving bodies count twice."""
    return float(sum(np.linalg.norm(contact.get_impulse()) for one in moving for contact in one.get_contacts()))


def keep_scene(made: RandomWorld, folder: Path) -> Path:
    """The world as it was made, as a world file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{made.name.split(':')[0].replace(' ', '_')}.xml"
    made.world.export_to_xml(file)
    return file

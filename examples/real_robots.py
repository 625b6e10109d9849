"""Robots as their makers describe them, with visual meshes: Talos and Go2 stand, Panda holds its pose."""

from importlib.metadata import distribution
from pathlib import Path

import numpy as np

from raisim_ros import ArticulatedSystemOption, View, World

VIEW = View((4.6, -3.0, 1.5), (0.12, 0.22, 0.68), 0.66)
SECONDS = 1.0
# Knees that are bent a little; all other joints are at 0.
TALOS = {f"leg_{side}_{k}_joint": a for side in ("left", "right") for k, a in ((3, -0.41), (4, 0.86), (5, -0.45))}
GO2 = {f"{leg}_{part}_joint": a for leg in ("FL", "FR", "RL", "RR") for part, a in (("thigh", 0.8), ("calf", -1.5))}
PANDA = {"panda_joint2": 0.35, "panda_joint4": -1.9, "panda_joint6": 2.2, "panda_joint7": 0.8}


def description(path: str) -> Path:
    """A file of the package example-robot-data: pip install example-robot-data."""
    robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    return Path(str(robots)) / path


def add(world: World, file: str, position: tuple[float, float, float], pose: dict[str, float], base: str) -> None:
    """A robot that stiff motors hold in a pose."""
    robot = world.add_articulated_system(description(file), options=ArticulatedSystemOption(base=base))
    joints = np.array([pose.get(name, 0.0) for name in robot.get_movable_joint_names() if name != "ROOT"])
    root = robot.get_dof() - len(joints)  # 6 when the base is free
    q = np.r_[position, 1.0, 0.0, 0.0, 0.0, joints] if root else joints
    if not root:
        robot.set_base_pos(position)
    robot.set_generalized_coordinate(q)
    held = np.r_[np.zeros(root), np.ones(len(joints))]
    robot.set_pd_gains(800.0 * held, 30.0 * held)
    robot.set_pd_target(q, np.zeros(robot.get_dof()))


def build() -> World:
    """Three robots on the ground."""
    world = World()
    world.set_time_step(0.002)
    world.add_ground()
    add(world, "talos_data/robots/talos_reduced.urdf", (-0.5, 0.55, 1.02), TALOS, "floating")
    add(world, "go2_description/urdf/go2.urdf", (0.75, -0.35, 0.33), GO2, "floating")
    add(world, "panda_description/urdf/panda.urdf", (-0.35, -0.75, 0.0), PANDA, "fixed")
    return world


if __name__ == "__main__":
    from raisim_ros import Viewer

    Viewer(build(), open_browser=True).run()

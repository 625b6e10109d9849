"""A gripper lifts a cube by friction; the arrows are the contact forces."""

from raisim_ros import ArticulatedSystem, ControlMode, View, World

VIEW = View((0.66, -0.3, 0.46), (0.0, 0.0, 0.355), 0.75)
SECONDS = 3.0
CONTACTS = True  # draw the contact forces

GRIPPER = """
<robot name="gripper">
  <link name="world"/>
  <link name="palm">
    <inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><box size="0.07 0.3 0.04"/></geometry>
      <material name="dark"><color rgba="0.2 0.22 0.25 1"/></material></visual>
    <visual><origin xyz="0 0 0.22"/><geometry><cylinder radius="0.03" length="0.4"/></geometry>
      <material name="steel"><color rgba="0.75 0.77 0.8 1"/></material></visual>
    <collision><geometry><box size="0.07 0.3 0.04"/></geometry></collision>
  </link>
  <joint name="lift" type="prismatic"><parent link="world"/><child link="palm"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="1" effort="300" velocity="1"/></joint>
  {fingers}
</robot>
"""
FINGER = """
  <link name="{name}">
    <inertial><mass value="0.2"/><inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 -0.1"/><geometry><box size="0.06 0.02 0.16"/></geometry>
      <material name="steel"/></visual>
    <collision><origin xyz="0 0 -0.1"/><geometry><box size="0.06 0.02 0.16"/></geometry></collision>
  </link>
  <joint name="{name}_joint" type="prismatic"><parent link="palm"/><child link="{name}"/><axis xyz="0 {side} 0"/>
    <limit lower="0" upper="0.13" effort="80" velocity="1"/></joint>
"""


def build() -> World:
    """The robot is text; its three joints slide."""
    world = World()
    world.set_time_step(0.002)
    world.set_default_material(0.9, 0.0, 0.0)
    world.add_ground()
    fingers = FINGER.format(name="left", side=1) + FINGER.format(name="right", side=-1)
    robot = world.add_articulated_system(GRIPPER.format(fingers=fingers))
    robot.set_name("gripper")
    robot.set_generalized_coordinate([0.25, 0.12, 0.12])
    robot.set_control_mode(ControlMode.PD_PLUS_FEEDFORWARD_TORQUE)
    robot.set_pd_gains([8000.0, 2000.0, 2000.0], [400.0, 40.0, 40.0])
    robot.set_pd_target([0.25, 0.12, 0.12], [0.0, 0.0, 0.0])
    cube = world.add_box(0.1, 0.1, 0.1, 0.5)
    cube.set_name("cube")
    cube.set_position(0.0, 0.0, 0.05)
    cube.set_appearance("orange")
    return world


def control(world: World) -> None:
    """Down, close, up."""
    robot = world.get_object("gripper")
    assert isinstance(robot, ArticulatedSystem)
    time = world.get_world_time()
    height = 0.25 - 0.04 * min(time / 0.5, 1.0) + 0.25 * min(max(time - 1.2, 0.0) / 1.2, 1.0)
    width = 0.12 if time < 0.6 else max(0.05, 0.12 - 0.2 * (time - 0.6))
    robot.set_pd_target([height, width, width], [0.0, 0.0, 0.0])


if __name__ == "__main__":
    from raisim_ros import Viewer

    world = build()
    Viewer(world, open_browser=True).run(control=lambda: control(world))

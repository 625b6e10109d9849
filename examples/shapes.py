"""Every shape: primitives, a mesh and a compound body on a landscape."""

from raisim_ros import CompoundChild, ShapeType, TerrainProperties, View, World
from raisim_ros.description.resources import resource

VIEW = View((3.2, -3.6, 2.6), (0.0, 0.0, 0.3))
SECONDS = 1.5


def build() -> World:
    """They fall from a grid."""
    world = World()
    world.set_time_step(0.002)
    size = {"x_size": 8.0, "y_size": 8.0, "x_samples": 60, "y_samples": 60}
    world.add_height_map(TerrainProperties(frequency=0.4, z_scale=0.4, seed=2, **size))
    dumbbell = [
        CompoundChild(ShapeType.SPHERE, (0.16,), (0.0, 0.0, 0.22), appearance="red"),
        CompoundChild(ShapeType.SPHERE, (0.16,), (0.0, 0.0, -0.22), appearance="red"),
        CompoundChild(ShapeType.CYLINDER, (0.06, 0.44), appearance="grey"),
    ]
    for row in range(3):
        things = [
            world.add_sphere(0.2, 1.0),
            world.add_box(0.4, 0.3, 0.2, 1.0),
            world.add_cylinder(0.2, 0.3, 1.0),
            world.add_cone(0.2, 0.4, 1.0),
            world.add_capsule(0.14, 0.3, 1.0),
            world.add_compound(dumbbell, 2.0),
            world.add_mesh(resource("meshes/unit_sphere.obj"), 1.0, scale=(0.25, 0.25, 0.15)),
        ]
        for column, thing in enumerate(things):
            thing.set_position(0.8 * (row - 1), 0.6 * (column - 3), 1.0 + 0.2 * row)
    return world


if __name__ == "__main__":
    from raisim_ros import Viewer

    Viewer(build(), open_browser=True).run()

"""Draw what sensors see, pixel by pixel measured.

    python tools/draw_sensors.py

docs/images/sensors.png: the demo room as its robot sees it; docs/images/sensors_color.png: robots on a terrain.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from raisim_ros import HeightMap, Light, Pose, RGBCameraModel, SensorSetModel, TerrainProperties, World
from raisim_ros.description.resources import resource

GAP, LABEL = 8, 22
IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
# Robots of the coloured picture: place along y and height of the base above the ground [m].
ROBOTS = {"quadruped": (0.0, 0.56), "scout": (1.7, 0.15), "arm": (-1.6, 0.0)}


def heat(share: np.ndarray) -> np.ndarray:
    """Colours from near (yellow) over red to far (dark blue)."""
    stops = np.array([[255, 236, 120], [240, 110, 60], [150, 40, 100], [30, 20, 80]], float)
    place = np.clip(share, 0, 1) * (len(stops) - 1)
    low = np.minimum(place.astype(int), len(stops) - 2)
    part = (place - low)[..., None]
    return (stops[low] * (1 - part) + stops[low + 1] * part).astype(np.uint8)


def depth_picture(depth: np.ndarray) -> np.ndarray:
    """Grey where nothing was measured."""
    seen = np.isfinite(depth)
    picture = np.full((*depth.shape, 3), 128, np.uint8)
    picture[seen] = heat((depth[seen] - 0.3) / 5.5)
    return picture


def lidar_picture(points: np.ndarray, size: int, reach: float) -> np.ndarray:
    """The points from above, forward is up; colours tell heights."""
    picture = np.full((size, size, 3), 24, np.uint8)
    pixel = np.round(size / 2 * (1 - points[:, :2] / reach)).astype(int)
    inside = ((pixel >= 0) & (pixel < size)).all(axis=1)
    order = np.argsort(points[inside, 2])
    row, column = pixel[inside][order].T
    picture[row, column] = heat(1 - (points[inside, 2][order] + 0.7) / 2.2)
    return picture


def draw_room() -> None:
    """Let the room come to rest, measure, draw."""
    world = World(resource("worlds/sensor_room.xml"))
    robot = world.get_object("scout")
    assert robot is not None
    head = robot.get_sensor_set("head")
    assert head is not None
    head.get_sensor("color").light = Light(shadows=True)
    world.integrate(1000)
    for sensor in head:
        sensor.update()
    color = head.get_sensor("color").get_image_buffer()
    height = color.shape[0]
    panels = {
        "colour camera": color,
        "depth camera": depth_picture(head.get_sensor("depth").get_depth_array()),
        "lidar, from above": lidar_picture(head.get_sensor("lidar").get_scan(), height, 5.3),
    }
    total = sum(panel.shape[1] for panel in panels.values()) + GAP * (len(panels) + 1)
    canvas = Image.new("RGB", (total, height + LABEL + GAP), "white")
    draw, x = ImageDraw.Draw(canvas), GAP
    for label, panel in panels.items():
        draw.text((x, 5), label, fill="black")
        canvas.paste(Image.fromarray(panel), (x, LABEL))
        x += panel.shape[1] + GAP
    canvas.save(IMAGES / "sensors.png", optimize=True)


def colored_terrain(world: World) -> HeightMap:
    """Hills, green below and grey above."""
    size = {"x_size": 14.0, "y_size": 14.0, "x_samples": 71, "y_samples": 71}
    terrain = world.add_height_map(TerrainProperties(frequency=0.35, z_scale=0.5, seed=3, **size))
    heights = terrain.get_data().heights
    share = ((heights - heights.min()) / np.ptp(heights))[..., None]
    terrain.set_color((1 - share) * [0.30, 0.46, 0.22] + share * [0.66, 0.62, 0.58])
    return terrain


def draw_robots() -> None:
    """Robots on a terrain; the links have the colours of their files."""
    world = World()
    terrain = colored_terrain(world)
    for name, (y, height) in ROBOTS.items():
        robot = world.add_articulated_system(resource(f"robots/{name}.urdf"))
        robot.set_base_pos((3.0, y, terrain.get_height(3.0, y) + height))
    eye = world.add_sphere(0.01, 1.0)
    eye.set_position(0, 0, 1.7)
    down = np.array([[np.cos(0.28), 0, np.sin(0.28)], [0, 1, 0], [-np.sin(0.28), 0, np.cos(0.28)]])
    model = RGBCameraModel("color", width=720, height=400, horizontal_fov=1.3, far=30.0)
    camera = world.add_sensor_set(eye, SensorSetModel("eye", Pose(rotation=down), (model,))).get_sensor("color")
    camera.light = Light(shadows=True)
    camera.update()
    Image.fromarray(camera.get_image_buffer()).save(IMAGES / "sensors_color.png", optimize=True)


def main() -> None:
    """Draw both."""
    draw_room()
    draw_robots()


if __name__ == "__main__":
    main()

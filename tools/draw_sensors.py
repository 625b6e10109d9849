"""Draw what the robot in the demo room sees: docs/images/sensors.png.

    python tools/draw_sensors.py

Every pixel is measured: the colour image, the depth image, and the lidar's points seen from above.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from raisim_ros import World
from raisim_ros.description.resources import resource

GAP, LABEL = 8, 22
TARGET = Path(__file__).resolve().parents[1] / "docs" / "images" / "sensors.png"


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


def main() -> None:
    """Let the room come to rest, measure, draw."""
    world = World(resource("worlds/sensor_room.xml"))
    robot = world.get_object("scout")
    assert robot is not None
    head = robot.get_sensor_set("head")
    assert head is not None
    head.get_sensor("color").light = type(head.get_sensor("color").light)(shadows=True)
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
    canvas.save(TARGET, optimize=True)
    print(f"{TARGET}: {canvas.width} x {canvas.height}")


if __name__ == "__main__":
    main()

"""Cloth and grains in the viewer and in recordings."""

import numpy as np
import pytest

from raisim_ros import Recording, World
from raisim_ros.viewer.comparison import ComparisonFeed
from raisim_ros.viewer.recording import RecordingFeed
from raisim_ros.viewer.scene import Wanted
from raisim_ros.viewer.world_feed import WorldFeed

TEXT = """
<raisim>
  <objects>
    <ground/>
    <deformable name="cloth" total_mass="0.2" damping="0.2" appearance="red">
      <rectangle x="1" y="1" x_cells="5" y_cells="5"/>
      <pin vertices="0 5"/>
      <state pos="0 0 2"/>
    </deformable>
    <granular name="grains">
      <grain normal_stiffness="2e3" normal_damping="2"/>
      <emit_box min="1 0 0.1" max="1.2 0.2 0.3" radius="0.03"/>
    </granular>
    <granular name="unseen" appearance="hidden"><grains pos="4 4 4" radius="0.1"/></granular>
  </objects>
</raisim>"""


@pytest.fixture
def world(tmp_path):
    file = tmp_path / "world.xml"
    file.write_text(TEXT)
    return World(file)


def test_a_feed_has_their_looks_and_where_they_are(world):
    feed = WorldFeed(world)
    items = {item.name: item for item in feed.model().items}
    assert np.array_equal(items["cloth"].soft.triangles, world["cloth"].get_triangles())
    assert items["cloth"].soft.color[0] > 2.0 * items["cloth"].soft.color[1]
    assert items["grains"].soft.triangles is None
    assert items["unseen"].soft is None
    for _ in range(3):
        moment = feed.moment(Wanted(centres=True))
        for name in ("cloth", "grains"):
            assert moment.soft[name].points == pytest.approx(world[name].get_positions(), abs=1e-6)
        assert moment.soft["grains"].radii == pytest.approx(world["grains"].get_radii())
        feed.step(5)
    world["grains"].add_particle([0, 0, 3], 0.2)
    assert len(feed.moment(Wanted()).soft["grains"].points) == world["grains"].get_num_particles()
    assert "particles | 28" in feed.describe("grains")
    feed.move("cloth", np.array([0.0, 0.0, 1.0]))
    assert feed.moment(Wanted()).soft["cloth"].points[0, 2] == pytest.approx(3.0, abs=1e-6)


def test_a_recording_holds_and_plays_them(world, tmp_path):
    seen = []
    world.start_recording(tmp_path / "run.raisim", 50.0)
    for number in range(30):
        world.integrate(4)
        seen.append((world.get_world_time(), *(world[name].get_positions().copy() for name in ("cloth", "grains"))))
        if number == 15:
            world["grains"].emit_box([1, 0, 1], [1.2, 0.2, 1.1], 0.05)
    world.stop_recording()
    recording = Recording(tmp_path / "run.raisim")
    feed = RecordingFeed(recording)
    checked = 0
    for time, cloth, grains in seen:
        frame = recording.frame_at(time)
        if abs(recording.times[frame] - time) > 1e-9:
            continue
        moment = recording.moment(frame)
        if moment.soft["grains"].points.shape == grains.shape:  # not the frame in which some came
            checked += 1
            assert moment.soft["cloth"].points == pytest.approx(cloth, abs=1e-5)
            assert moment.soft["grains"].points == pytest.approx(grains, abs=1e-5)
            assert len(moment.soft["grains"].radii) == len(grains)
            again = recording.world(frame)
            assert again["grains"].get_positions() == pytest.approx(grains, abs=1e-5)
            assert again["cloth"].get_pinned_vertices() == [0, 5]
            feed.seek(time)
            feed.model()
            assert feed.moment(Wanted()).soft["cloth"].points == pytest.approx(cloth, abs=1e-5)
    assert checked > 20
    speed = np.linalg.norm(recording.world(10)["cloth"].get_velocities(), axis=1)
    assert 0.5 < speed.max() < 5.0  # it falls
    both = ComparisonFeed(recording, recording)
    seen_names = {item.name for item in both.model().items if item.soft is not None}
    assert len(seen_names) == 4  # each twice
    assert seen_names < set(both.moment(Wanted()).soft)


def test_recording_does_not_change_the_run(world, tmp_path):
    other = world.copy()
    world.start_recording(tmp_path / "run.raisim", 200.0)
    world.integrate(60)
    world.stop_recording()
    other.integrate(60)
    assert world.get_state_hash() == other.get_state_hash()

"""The command line, as people call it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from PIL import Image

from raisim_ros import Recording, World
from raisim_ros.cli.main import main
from raisim_ros.description.resources import resource

SMALL = ("--size", "64x36", "--quality", "draft")


@pytest.fixture
def crane(tmp_path):
    """A short recording of a world with wires."""
    out = tmp_path / "run.raisim"
    assert main(["run", str(resource("worlds/crane.xml")), "--seconds", "0.3", "--record", str(out)]) == 0
    return out


def test_a_recording_is_known_whatever_its_name(crane, tmp_path, capsys):
    renamed = crane.rename(tmp_path / "run.rec")
    assert main(["info", str(renamed)]) == 0
    assert "5 wires" in capsys.readouterr().out


def test_python_m_raisim_ros_helps():
    done = subprocess.run([sys.executable, "-m", "raisim_ros", "--help"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    for command in ("view", "info", "check", "run", "render", "convert", "bench"):
        assert command in done.stdout


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("worlds/default.xml", ["46 objects", "box_0_0", "2 kg", "gravity 0 0 -9.81"]),
        ("worlds/crane.xml", ["5 wires"]),
        ("worlds/cloth_over_ball.xml", [": deformable, ", " particles, at "]),
        ("robots/arm.urdf", ["6 degrees of freedom", "elbow (revolute", "fixed base"]),
        ("robots/quadruped.urdf", ["18 degrees of freedom", "floating base"]),
        ("meshes/unit_sphere.obj", ["1 mesh"]),
    ],
)
def test_info_tells_what_is_in_a_file(capsys, file, expected):
    assert main(["info", str(resource(file))]) == 0
    shown = capsys.readouterr().out
    for text in expected:
        assert text in shown


def test_check_reports_on_robots(tmp_path, capsys):
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    robot = tmp_path / "slider.urdf"
    robot.write_text(
        f'<robot name="r"><link name="world"/><link name="cart">{mass}</link><joint name="rail" type="prismatic">'
        '<parent link="world"/><child link="cart"/><axis xyz="1 0 0"/></joint></robot>'
    )
    assert main(["check", str(robot)]) == 0
    shown = capsys.readouterr().out
    assert "sliding joints without limits: rail" in shown
    assert "2 findings" in shown  # and nothing holds it
    assert main(["check", str(resource("worlds/default.xml"))]) == 0
    assert "0 findings" in capsys.readouterr().out


def test_check_counts_what_it_prints(tmp_path, capsys):
    model = tmp_path / "model.xml"
    model.write_text('<mujoco><worldbody><geom type="plane" size="1 1 1"/><body><freejoint/><geom size=".1"/><camera mode="track"/></body></worldbody></mujoco>')
    assert main(["check", str(model)]) == 0
    shown = capsys.readouterr()
    assert shown.err.count("warning: ") == 1
    assert shown.out.endswith(": 0 findings, 1 warning\n")


def test_only_recordings_are_compared(crane, capsys):
    assert main(["view", str(crane), "--compare", str(resource("worlds/crane.xml"))]) == 2
    assert "--compare takes two recordings" in capsys.readouterr().err


def test_a_run_is_recorded_and_described(crane, capsys):
    assert main(["info", str(crane)]) == 0
    assert "recording of 0.3" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["a.png", "a.gif"])
def test_worlds_and_recordings_are_drawn(crane, tmp_path, name):
    out = tmp_path / name
    for source in (crane, resource("worlds/default.xml"), resource("robots/arm.urdf")):
        assert main(["render", str(source), str(out), "--seconds", "0.2", "--rate", "10", *SMALL]) == 0
        with Image.open(out) as picture:
            assert picture.size == (64, 36)
            if "default" in str(source) and name.endswith("gif"):
                assert picture.n_frames == 3


def test_a_film_is_written(tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="the extra 'record' is not installed")
    out = tmp_path / "a.mp4"
    assert main(["render", str(resource("worlds/crane.xml")), str(out), "--seconds", "0.2", *SMALL]) == 0
    assert out.stat().st_size > 500
    assert next(ffmpeg.read_frames(str(out)))["size"] == (64, 36)


def test_a_page_plays_a_recording_without_a_server(crane, tmp_path, capsys):
    pytest.importorskip("viser", reason="the viewer's extra is not installed")
    out = tmp_path / "a.html"
    assert main(["render", str(crane), str(out), "--rate", "10"]) == 0
    assert "<html" in out.read_text(encoding="utf-8")[:2000].lower()
    assert main(["render", str(resource("worlds/crane.xml")), str(out)]) == 2
    assert "recording" in capsys.readouterr().err


def test_files_are_converted(tmp_path):
    robot, world, mesh = tmp_path / "a.urdf", tmp_path / "a.xml", tmp_path / "a.obj"
    assert main(["convert", str(resource("robots/arm.urdf")), str(robot)]) == 0
    assert World().add_articulated_system(robot).get_dof() == 6
    assert main(["convert", str(resource("worlds/crane.xml")), str(world)]) == 0
    assert len(World(world).get_wires()) == 5
    assert main(["convert", str(resource("meshes/unit_sphere.obj")), str(mesh)]) == 0
    assert World().add_mesh(mesh, 1.0).get_mesh().is_closed


def test_commands_are_completed(tmp_path):
    pytest.importorskip("argcomplete", reason="tab completion needs argcomplete")
    out = tmp_path / "offered"
    line = {"COMP_LINE": "raisim_ros re", "COMP_POINT": "13", "_ARGCOMPLETE": "1", "_ARGCOMPLETE_STDOUT_FILENAME": str(out)}
    subprocess.run([sys.executable, "-m", "raisim_ros"], env={**os.environ, **line}, check=True, timeout=60)
    assert out.read_text().split() == ["render"]


def test_a_file_is_not_converted_into_itself(tmp_path, capsys):
    robot = tmp_path / "a.urdf"
    robot.write_bytes(resource("robots/arm.urdf").read_bytes())
    assert main(["convert", str(robot), str(tmp_path / "." / "a.urdf")]) == 2
    assert "another name" in capsys.readouterr().err
    assert robot.read_bytes() == resource("robots/arm.urdf").read_bytes()


def test_robots_go_to_mujoco_and_back(tmp_path, capsys):
    mujoco = pytest.importorskip("mujoco")
    there, back, other = tmp_path / "a.mjcf.xml", tmp_path / "b.urdf", tmp_path / "c.xml"
    assert main(["convert", str(resource("robots/quadruped.urdf")), str(there)]) == 0
    assert "not part of MJCF" in capsys.readouterr().err
    assert mujoco.MjModel.from_xml_path(str(there)).nv == 18
    assert main(["convert", str(there), str(back)]) == 0
    assert "not part of URDF and left out: actuators" in capsys.readouterr().err
    original = World().add_articulated_system(resource("robots/quadruped.urdf"))
    again = World().add_articulated_system(back)
    assert again.get_movable_joint_names() == original.get_movable_joint_names()
    assert again.get_total_mass() == pytest.approx(original.get_total_mass(), rel=1e-12)
    assert main(["convert", str(resource("worlds/robots.xml")), str(other), "--to", "mjcf"]) == 0
    assert mujoco.MjModel.from_xml_path(str(other)).nbody > 10


def test_a_recording_becomes_a_bag_that_others_read(tmp_path):
    pytest.importorskip("mcap_ros2", reason="the extra 'record' is not installed")
    from mcap_ros2.reader import read_ros2_messages

    run, bag = tmp_path / "run.raisim", tmp_path / "run.mcap"
    assert main(["run", str(resource("worlds/robots.xml")), "--seconds", "0.1", "--record", str(run)]) == 0
    assert main(["convert", str(run), str(bag)]) == 0
    recording = Recording(run)
    frames = [message.ros_msg for message in read_ros2_messages(str(bag), topics=["/tf"])]
    assert len(frames) == len(recording)
    last = {one.child_frame_id: one.transform for one in frames[-1].transforms}
    row = [handle.get_name() for handle in recording.world(0).get_obj_list()].index("ball")
    assert last["ball"].translation.z == recording.array("poses", len(recording) - 1)[row, 2]
    joints = [message.ros_msg for message in read_ros2_messages(str(bag), topics=["/arm/joint_states"])]
    assert len(joints[-1].name) == len(joints[-1].position) == 6
    assert main(["convert", str(run), str(tmp_path / "a.obj")]) == 2


def test_parameters_reach_the_file(capsys):
    assert main(["info", str(resource("worlds/default.xml")), "--param", "layers=2", "--param", "balls=1"]) == 0
    assert "5 objects" in capsys.readouterr().out


def test_bench_tells_where_the_time_goes(capsys):
    assert main(["bench", "--seconds", "0.1"]) == 0
    shown = capsys.readouterr().out
    assert "steps per second" in shown
    assert "narrow phase" in shown


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["info", "/nowhere/a.xml"], "/nowhere/a.xml"),
        (["render", str(resource("worlds/crane.xml")), "a.bmp"], "a.bmp"),
        (["render", str(resource("worlds/crane.xml")), "a.png", "--to", "0,0,1"], "--to needs --from"),
        (["convert", str(resource("worlds/crane.xml")), "a.urdf"], "0 robots"),
        (["convert", str(resource("worlds/crane.xml")), "a.obj"], "a.obj"),
        (["run", str(resource("worlds/terrain/steps.txt"))], "steps.txt"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(capsys, arguments, told):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert told in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("run", "w.xml", "--seconds", "nan"), "'nan' is not a number of at least 0"),
        (("run", "w.xml", "--seconds", "-1"), "'-1' is not a number"),
        (("run", "w.xml", "--rate", "0"), "'0' is not a number above 0"),
        (("bench", "--seconds", "inf"), "'inf' is not a number"),
        (("render", "w.xml", "o.gif", "--rate", "0"), "'0' is not a number above 0"),
        (("render", "w.xml", "o.gif", "--seconds", "soon"), "'soon' is not a number"),
        (("render", "w.xml", "o.png", "--size", "wide"), "'wide' is not WIDTHxHEIGHT"),
        (("render", "w.xml", "o.png", "--from", "1,2"), "'1,2' is not X,Y,Z"),
        (("view", "w.xml", "--port", "99999"), "'99999' is not a port"),
        (("run", "w.xml", "--param=--"), "argument --param: expected a value"),
    ],
)
def test_options_that_make_no_sense_are_told(capsys, arguments, told):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert told in capsys.readouterr().err


def test_view_serves_a_page(capsys):
    pytest.importorskip("viser", reason="the viewer's extra is not installed")
    assert main(["view", str(resource("robots/arm.urdf")), "--port", "0", "--seconds", "0.3"]) == 0
    assert "http://127.0.0.1:" in capsys.readouterr().out


def test_view_tells_of_a_host_that_is_not_this_machine(capsys):
    pytest.importorskip("viser", reason="the viewer's extra is not installed")
    for host in ("nan", "-1", "192.0.2.1", "\ud800"):
        assert main(["view", str(resource("robots/arm.urdf")), "--host", host, "--port", "0", "--seconds", "0.1"]) == 2
        assert "expected an address of this machine" in capsys.readouterr().err


@pytest.mark.parametrize("link", [False, True])
def test_nothing_is_written_over_the_file_that_is_read(tmp_path, capsys, crane, link):
    world = tmp_path / "world.xml"
    world.write_bytes(resource("worlds/crane.xml").read_bytes())
    for source, arguments in (
        (world, ("run", "--seconds", "0.01", "--record")),
        (crane, ("run", "--seconds", "0.01", "--record")),
        (crane, ("render",)),
        (crane, ("convert", "--to", "mcap")),
    ):
        before, out = source.read_bytes(), source
        if link:
            out = tmp_path / f"link_{source.name}"
            out.unlink(missing_ok=True)
            out.symlink_to(source)
        options = arguments[1:]
        given = (source, *options, out) if arguments[0] == "run" else (source, out, *options)
        assert main([arguments[0], *map(str, given)]) == 2
        assert "the file that is read" in capsys.readouterr().err
        assert source.read_bytes() == before


def test_films_have_a_rate_that_a_film_can_have(tmp_path, capsys):
    out = tmp_path / "film.gif"
    assert main(["render", str(resource("worlds/crane.xml")), str(out), *SMALL, "--seconds", "0.01", "--rate", "1e-320"]) == 2
    assert "pictures per second" in capsys.readouterr().err
    assert not out.exists()


def run_in_shell(command, **options):
    python = f"'{sys.executable}' -m raisim_ros"
    return subprocess.run(command.replace("raisim_ros", python, 1), shell=True, capture_output=True, timeout=60, **options)


def test_a_reader_that_has_enough_is_no_error():
    done = run_in_shell(f"(raisim_ros info '{resource('worlds/default.xml')}'; echo $? >&2) | true")
    assert done.stderr.split() == [b"141"]


def test_closed_streams_and_names_that_are_no_text(tmp_path):
    world = resource("worlds/crane.xml")
    assert run_in_shell(f"raisim_ros run '{world}' --seconds 0.01 2>&-").returncode == 0
    odd = os.fsencode(tmp_path) + b"/bad\xff.xml"
    with open(odd, "wb") as file:
        file.write(world.read_bytes())
    done = subprocess.run([sys.executable, "-m", "raisim_ros", "info", odd], capture_output=True, timeout=60)
    assert done.returncode == 2
    assert b"not Unicode" in done.stderr
    assert b"Traceback" not in done.stderr


def test_ctrl_c_while_python_imports_is_no_traceback():
    """The signal comes at the moment at which the command line is imported."""
    code = """
import os, signal, sys
class Interrupted:
    def find_spec(self, name, *rest):
        if name == "raisim_ros.cli.main":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupted())
from raisim_ros.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")

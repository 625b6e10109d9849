"""Files are replaced whole or not at all."""

import errno
import multiprocessing
import os
import resource
import signal
import stat
import threading
import time

import numpy as np
import pytest

from raisim_ros import World
from raisim_ros.description import atomic_file
from raisim_ros.description.atomic_file import GrowingFile, write_beside, write_file, writing
from raisim_ros.description.errors import FileWriteError
from raisim_ros.description.resources import resource as package_file
from raisim_ros.viewer.export import write_film

FORK = multiprocessing.get_context("fork")


def in_process(function, *arguments):
    process = FORK.Process(target=function, args=arguments)
    process.start()
    return process


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_new_file_in_new_folder(tmp_path):
    write_file(tmp_path / "a" / "b.txt", b"text")
    assert (tmp_path / "a" / "b.txt").read_bytes() == b"text"
    assert names(tmp_path / "a") == ["b.txt"]


def test_permissions_and_links_stay(tmp_path):
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)
    write_file(link, b"new")
    assert link.is_symlink()
    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def by_a_library(path):
    with writing(path) as temporary:
        temporary.write_bytes(b"new")


def bit_by_bit(path):
    file = GrowingFile(path)
    file.stream.write(b"new")
    file.publish()
    file.close()


def in_one_go(path):
    write_file(path, b"new")


@pytest.mark.parametrize("write", [by_a_library, bit_by_bit, in_one_go])
def test_private_files_stay_private(tmp_path, monkeypatch, write):
    """A recording that only its owner could read could be read by everybody after the next one, and a film by whoever
    opened it before it was finished."""
    file = tmp_path / "file"
    file.write_text("old")
    file.chmod(0o600)
    modes = set()

    def watched(path, *arguments, **keywords):
        descriptor = os_open(path, *arguments, **keywords)
        modes.add(os.fstat(descriptor).st_mode)
        return descriptor

    os_open = os.open
    with monkeypatch.context() as patches:
        patches.setattr(os, "open", watched)
        write(file)
    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {stat.S_IMODE(mode) for mode in modes if stat.S_ISREG(mode)} == {0o600}  # from the first moment on


def test_files_for_others_stay_so_whatever_the_umask(tmp_path):
    file = tmp_path / "file"
    file.write_text("old")
    file.chmod(0o664)
    before = os.umask(0o077)
    try:
        for write in (by_a_library, bit_by_bit, in_one_go):
            write(file)
            assert stat.S_IMODE(file.stat().st_mode) == 0o664
    finally:
        os.umask(before)


@pytest.mark.parametrize("suffix", [".gif", ".mp4"])
def test_private_films_are_private_while_they_are_written(tmp_path, suffix):
    film = tmp_path / f"film{suffix}"
    film.write_text("old")
    film.chmod(0o600)
    modes = []

    def pictures():
        for _ in range(4):
            modes.extend(stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir())
            yield np.zeros((32, 32, 3), np.uint8)

    write_film(film, pictures(), 10.0)
    assert set(modes) == {0o600}
    assert len(modes) == 8  # the old one and the new one
    assert stat.S_IMODE(film.stat().st_mode) == 0o600


def test_processes_of_other_containers_are_not_known_by_their_numbers(tmp_path, monkeypatch):
    """Containers may share a folder and the name of the host; what one of them writes counted as left by the dead."""
    ended = in_process(os._exit, 0)
    ended.join()
    for place in ("elsewhere~1", atomic_file._processes()):
        (tmp_path / f".{place}~{ended.pid}~00{atomic_file._SUFFIX}").touch()
    write_file(tmp_path / "file", b"new")
    assert names(tmp_path) == [f".elsewhere~1~{ended.pid}~00{atomic_file._SUFFIX}", "file"]


def save_with_size_limit(path, limit):
    """Exits with 0 when the write was refused in our words."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    world = World()
    for _ in range(500):
        world.add_sphere(1.0, 1.0)
    try:
        world.export_to_xml(path)
    except FileWriteError as error:
        os._exit(0 if str(path) in str(error) else 2)
    os._exit(1)


def test_a_full_disk_leaves_the_old_world(tmp_path):
    path = tmp_path / "world.xml"
    World().export_to_xml(path)
    before = path.read_bytes()
    process = in_process(save_with_size_limit, path, 5000)
    process.join()
    assert process.exitcode == 0
    assert path.read_bytes() == before
    assert names(tmp_path) == ["world.xml"]


@pytest.mark.parametrize("make", [lambda p: p, lambda p: p / ("x" * 300), lambda p: "/dev/null"])
def test_places_that_cannot_be_written(tmp_path, make):
    with pytest.raises(FileWriteError):
        World().export_to_xml(make(tmp_path))


def save_again_and_again(path, bodies, until):
    world = World()
    for _ in range(bodies):
        world.add_sphere(1.0, 1.0)
    while not until.is_set():
        world.export_to_xml(path)


def test_two_savers_and_a_loader(tmp_path):
    path, end = tmp_path / "world.xml", FORK.Event()
    World().export_to_xml(path)
    savers = [in_process(save_again_and_again, path, count, end) for count in (30, 90)]
    seen = set()
    try:
        for _ in range(20):
            seen.add(len(World(path).get_obj_list()))
    finally:
        end.set()
        for saver in savers:
            saver.join()
    assert seen <= {0, 30, 90}
    assert names(tmp_path) == ["world.xml"]


def test_killed_savers_leave_a_whole_world(tmp_path):
    path, never = tmp_path / "world.xml", FORK.Event()
    World().export_to_xml(path)
    for number in range(5):
        saver = in_process(save_again_and_again, path, 60, never)
        time.sleep(0.03 + 0.005 * number)
        saver.kill()
        saver.join()
        assert len(World(path).get_obj_list()) in (0, 60)
    World().export_to_xml(path)  # removes what the killed ones left
    assert names(tmp_path) == ["world.xml"]


def test_files_beside_are_never_changed(tmp_path):
    path = tmp_path / "robot.urdf"
    first = write_beside(path, b"one")
    second = write_beside(path, b"two")
    assert first == path
    assert second != path
    assert (first.read_bytes(), second.read_bytes()) == (b"one", b"two")
    assert write_beside(path, b"one") == first
    assert write_beside(path, b"two") == second
    assert len(names(tmp_path)) == 2


def test_files_beside_from_several_threads(tmp_path):
    contents = [b"%d" % (number % 5) for number in range(40)]
    answers = {}
    threads = [
        threading.Thread(target=lambda at=at, text=text: answers.update({at: write_beside(tmp_path / "m.obj", text)}))
        for at, text in enumerate(contents)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answers[at].read_bytes() for at in range(len(contents))] == contents
    assert len(names(tmp_path)) == 5


def test_a_second_save_does_not_touch_the_robots_of_the_first(tmp_path):
    """Killed between the two files, the old world still finds its own robot."""
    world = World()
    world.add_articulated_system(_robot(1.0))
    world.export_to_xml(tmp_path / "world.xml")
    old = {path.name: path.read_bytes() for path in tmp_path.glob("*.urdf")}
    other = World()
    other.add_articulated_system(_robot(2.0))
    other.export_to_xml(tmp_path / "world.xml")
    for name, content in old.items():
        assert (tmp_path / name).read_bytes() == content
    assert World(tmp_path / "world.xml").get_object(0).get_total_mass() == pytest.approx(2.0)


def _robot(mass):
    return (
        f'<robot name="r"><link name="a"><inertial><mass value="{mass}"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
def test_worlds_are_saved_where_there_are_no_hard_links(tmp_path, monkeypatch, number):
    """As on FAT, the file system of memory sticks."""

    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refuse)
    first, second = tmp_path / "a.obj", b"v 1 2 3\n"
    assert write_beside(first, second) == first
    assert write_beside(first, second) == first
    other = write_beside(first, b"v 4 5 6\n")
    assert other != first
    assert (first.read_bytes(), other.read_bytes()) == (second, b"v 4 5 6\n")
    world = World()
    world.add_articulated_system(package_file("robots/arm.urdf")).set_name("arm")
    for _ in range(2):
        world.export_to_xml(tmp_path / "world.xml")
        assert len(World(tmp_path / "world.xml").get_obj_list()) == 1
    assert not [path for path in tmp_path.iterdir() if "raisim_ros_tmp" in path.name]

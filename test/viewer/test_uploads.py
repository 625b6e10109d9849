"""Archives that strangers give the page."""

import gzip
import io
import os
import shutil
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.limits import FileLimits
from raisim_ros.viewer.uploads import KEPT_FOR, Uploads

ROBOT = b'<robot name="r"><link name="a"/></robot>'


@pytest.fixture
def uploads():
    """What is given to the page; nothing may be left of what is refused."""
    kept = Uploads()
    yield kept
    kept.close()


def left(uploads):
    return [path.name for path in uploads._folder.rglob("*") if path.is_file()]


def tar(*entries, mode="w"):
    """An archive of entries, each a name or TarInfo with its content."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, content in entries:
            entry = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            if entry.isreg():
                entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def zipped(*entries):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return out.getvalue()


def link(name, to, kind=tarfile.SYMTYPE):
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, to
    return entry


def sparse(size):
    """A file in the PAX format that is said to be far longer than what the archive holds of it."""
    entry = tarfile.TarInfo("huge.urdf")
    entry.pax_headers = {"GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.size": str(size), "GNU.sparse.map": "0,0"}
    return entry


def chained_names(count):
    """Long names of long names, which Python's reader follows by calling itself."""
    block = tarfile.TarInfo("././@LongLink")
    block.type, block.size = tarfile.GNUTYPE_LONGNAME, 0
    return block.tobuf(tarfile.GNU_FORMAT) * count


REFUSED = {
    "outside by dots": ("r.zip", zipped(("../../out.urdf", ROBOT))),
    "outside by backslashes": ("r.zip", zipped(("..\\..\\out.urdf", ROBOT))),
    "outside by its whole name": ("r.tar", tar(("/tmp/raisim_out.urdf", ROBOT))),
    "through a link": ("r.tar", tar((link("d", "../.."), b""), ("d/../../out.urdf", ROBOT))),
    "a robot that is a link": ("r.tar", tar((link("a.urdf", "/etc/passwd"), b""))),
    "a robot that is a hard link": ("r.tar", tar((link("a.urdf", "/etc/passwd", tarfile.LNKTYPE), b""))),
    "a pipe": ("r.tar", tar((link("a.urdf", "", tarfile.FIFOTYPE), b""))),
    "a sparse file": ("r.tar", tar((sparse(10**13), b""), mode="w")),
    "chained names": ("r.tar", chained_names(5000)),
    "a file where a folder is": ("r.tar", tar(("a", ROBOT), ("a/b.urdf", ROBOT))),
    "a zero byte in a name": ("r.zip", zipped(("x.urdf", ROBOT)).replace(b"x.urdf", b"\0.urdf")),
    "a very long name": ("r.tar", tar(("a" * 3000 + ".urdf", ROBOT))),
    "a broken stream": ("r.tar.gz", gzip.compress(tar(("a.urdf", ROBOT)))[:-20]),
    "no tar": ("r.tar.gz", gzip.compress(b"\xff" * 5000)),
    "nothing": ("r.tar.xz", b""),
}


@pytest.mark.parametrize("name", REFUSED)
def test_hostile_archives_are_refused_and_leave_nothing(uploads, name):
    before = set(uploads._folder.parent.iterdir())
    with pytest.raises(InvalidValueError):
        uploads.keep(*REFUSED[name])
    assert not left(uploads)
    assert set(uploads._folder.parent.iterdir()) == before
    assert not Path("/tmp/raisim_out.urdf").exists()
    assert [file.name for file in uploads.keep("r.zip", zipped(("a.urdf", ROBOT)))] == ["a.urdf"]


@pytest.mark.parametrize("name", ["r.zip", "r.tar", "r.tar.gz", "r.tar.bz2", "r.tar.xz"])
def test_archives_beyond_the_limits(uploads, monkeypatch, name):
    pack = zipped if name == "r.zip" else lambda *entries: tar(*entries, mode="w" + name[5:].replace(".", ":"))
    monkeypatch.setattr("raisim_ros.description.limits._limits", FileLimits(max_archive_bytes=1_000_000, max_archive_files=50))
    if name != "r.tar":  # which is as large as what it holds
        with pytest.raises(InvalidValueError, match="max_archive_bytes"):
            uploads.keep(name, pack(("a.urdf", ROBOT), ("zeros", bytes(2_000_000))))
    with pytest.raises(InvalidValueError, match="max_archive_files"):
        uploads.keep(name, pack(*((f"{number}.urdf", ROBOT) for number in range(60))))
    assert not left(uploads)
    assert len(uploads.keep(name, pack(*((f"{number}.urdf", ROBOT) for number in range(50))))) == 50


def test_a_bomb_is_refused_soon(uploads):
    """It was unpacked to 2 GB, on the disk, too."""
    packed = gzip.compress(bytes(1 << 28), 1)
    start = time.process_time()
    with pytest.raises(InvalidValueError, match="max_archive_bytes"):
        uploads.keep("r.tgz", packed)
    assert time.process_time() - start < 2.0


def test_a_mesh_keeps_its_materials_and_images(uploads):
    """Each file was taken for one of its own: the mesh lost its colours, and the others were errors."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in {"a.obj": b"mtllib a.mtl\n", "a.mtl": b"newmtl red\n", "a.png": b"picture"}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    (mesh,) = uploads.keep("dropped.tar", out.getvalue())
    assert mesh.name == "a.obj"
    assert sorted(left(uploads)) == ["a.mtl", "a.obj", "a.png"]


def test_what_was_given_outlives_the_page_for_a_month(uploads):
    """A node has the robot although its viewer was started anew: that one drew nothing of it."""
    (robot,) = uploads.keep("robot.urdf", ROBOT)
    uploads.close()
    Uploads().close()
    assert robot.read_bytes() == ROBOT
    old = time.time() - KEPT_FOR - 10.0
    os.utime(robot.parent.parent, (old, old))
    other = Uploads()
    assert not robot.parent.parent.exists()
    other.close()
    assert not other._folder.exists()  # nobody gave it anything


@pytest.mark.parametrize("name", ["..", ".", "", "a" * 300, "a\0b.urdf", "\ud800.urdf", "x/.."])
def test_names_that_no_file_can_have(uploads, name):
    with pytest.raises(InvalidValueError, match="cannot be kept"):
        uploads.keep(name, ROBOT)
    assert not left(uploads)


def test_a_folder_that_another_viewer_forgot_is_made_again(uploads):
    shutil.rmtree(uploads._folder)
    (file,) = uploads.keep("r.urdf", ROBOT)
    assert file.read_bytes() == ROBOT


def test_a_place_that_cannot_be_written_to(uploads, tmp_path):
    (tmp_path / "file").write_text("no folder")
    uploads._folder = tmp_path / "file"
    with pytest.raises(InvalidValueError, match=r"r\.urdf.* cannot be kept"):
        uploads.keep("r.urdf", ROBOT)


def test_more_robots_than_anybody_could_choose_from(uploads):
    with pytest.raises(InvalidValueError, match="600 robots, worlds or meshes"):
        uploads.keep("r.zip", zipped(*((f"{number}.urdf", ROBOT) for number in range(600))))


def test_models_do_not_lead_out_of_the_archive(uploads, tmp_path):
    """Files that it includes are read to see whether something moves: only those of the archive."""
    (tmp_path / "secret.xml").write_text('<mujoco><body><freejoint/></body></mujoco>')
    part = f'<mujoco><include file="{tmp_path}/secret.xml"/><worldbody/></mujoco>'.encode()
    robot = b"<mujoco><worldbody><body><freejoint/></body></worldbody></mujoco>"
    assert [file.name for file in uploads.keep("r.zip", zipped(("part.xml", part), ("robot.xml", robot)))] == ["robot.xml"]


def test_descriptions_that_are_no_xml_are_passed_over(uploads):
    """An element of a million attributes, deep nesting and an entity of a file."""
    many = b"<mujoco " + b" ".join(b'a%d="1"' % number for number in range(5000)) + b"/>"
    entity = b'<!DOCTYPE r [<!ENTITY e SYSTEM "/etc/passwd">]><mujoco><worldbody>&e;</worldbody></mujoco>'
    found = uploads.keep("r.zip", zipped(("a.xml", many), ("b.xml", entity), ("c.xml", b"<a>" * 5000), ("robot.urdf", ROBOT)))
    assert "robot.urdf" in [file.name for file in found]

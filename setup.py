"""`pip install .`: the Python API and the engine, without ROS. ROS users build with CMakeLists.txt.

With SOURCE_DATE_EPOCH in the environment, the same files give the same archives, byte by byte.
"""

import gzip
import os
import runpy
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

BUILD_SCRIPT = "csrc/build_engine.py"
EPOCH = os.environ.get("SOURCE_DATE_EPOCH")


def package_version() -> str:
    """The version of package.xml, the only place where it is written."""
    version = ElementTree.parse(Path(__file__).parent / "package.xml").findtext("version")
    if version is None:
        raise SystemExit("package.xml: no <version>")
    return version


class BuildEngine(build_ext):
    """Compiles the files of an extension on all cores, and each extension in a folder of its own.

    The extensions are the same C files with other flags: in one folder their objects would overwrite each other.
    """

    def build_extension(self, ext: Extension) -> None:
        """Build one extension."""
        shared, compile_all = self.build_temp, self.compiler.compile
        self.build_temp = os.path.join(shared, ext.name)

        def compile_on_all_cores(sources: list[str], **options: Any) -> list[str]:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                compiled = pool.map(lambda source: compile_all([source], **options), sources)
                return [made for one in compiled for made in one]

        self.compiler.compile = compile_on_all_cores
        try:
            super().build_extension(ext)
        finally:
            self.build_temp, self.compiler.compile = shared, compile_all


def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """An entry of an archive without the traces of who packed it when."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = int(EPOCH or 0)
    member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    return member


class ReproducibleSdist(sdist):
    """The source archive; setuptools alone writes times and users into it."""

    def make_archive(
        self, base_name: str, format: str, root_dir: str | None = None, base_dir: str | None = None, **others: object
    ) -> str:
        """A .tar.gz whose bytes depend on the files alone."""
        if format != "gztar" or EPOCH is None:
            return super().make_archive(base_name, format, root_dir, base_dir, **others)
        name = f"{base_name}.tar.gz"
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        with (
            open(name, "wb") as raw,
            gzip.GzipFile("", "wb", mtime=int(EPOCH), fileobj=raw) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            archive.add(base_dir or ".", filter=anonymous)
        return name


setup(
    version=package_version(),
    # rsc/ lies beside the package in the source and inside it once installed.
    packages=[*find_packages(include=["raisim_ros", "raisim_ros.*"]), "raisim_ros.rsc"],
    package_dir={"raisim_ros.rsc": "rsc"},
    cffi_modules=[f"{BUILD_SCRIPT}:{module}" for module in runpy.run_path(BUILD_SCRIPT)["builders"]],
    cmdclass={"build_ext": BuildEngine, "sdist": ReproducibleSdist},
)

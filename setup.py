"""`pip install .`: the Python API and the engine, without ROS. ROS users build with CMakeLists.txt."""

from pathlib import Path
from xml.etree import ElementTree

from setuptools import setup


def package_version() -> str:
    """The version of package.xml, the only place where it is written."""
    version = ElementTree.parse(Path(__file__).parent / "package.xml").findtext("version")
    if version is None:
        raise SystemExit("package.xml: no <version>")
    return version


setup(version=package_version(), cffi_modules=["csrc/build_engine.py:ffibuilder"])

"""`pip install .`: the Python API and the engine, without ROS. ROS users build with CMakeLists.txt."""

from pathlib import Path
from xml.etree import ElementTree

from setuptools import find_packages, setup


def package_version() -> str:
    """The version of package.xml, the only place where it is written."""
    version = ElementTree.parse(Path(__file__).parent / "package.xml").findtext("version")
    if version is None:
        raise SystemExit("package.xml: no <version>")
    return version


setup(
    version=package_version(),
    # rsc/ lies beside the package in the source and inside it once installed.
    packages=[*find_packages(include=["raisim_ros", "raisim_ros.*"]), "raisim_ros.rsc"],
    package_dir={"raisim_ros.rsc": "rsc"},
    cffi_modules=["csrc/build_engine.py:ffibuilder"],
)

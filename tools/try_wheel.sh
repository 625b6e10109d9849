#!/bin/bash
# Install a wheel into an empty environment and run it there: a world falls, the command line answers.
#   tools/try_wheel.sh WHEEL [PYTHON]
set -euo pipefail

unset PYTHONPATH PYTHONHOME PYTHONSAFEPATH  # of `make shell`: the package must come from the wheel
wheel="$(realpath "$1")"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
"${2:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --disable-pip-version-check -q "$wheel"
cd "$folder"
venv/bin/python - <<'PYTHON'
import raisim_ros

world = raisim_ros.World()
world.add_ground()
ball = world.add_sphere(0.1, 1.0)
ball.set_position(0.0, 0.0, 1.0)
world.integrate(600)
height = ball.get_position()[2]
assert abs(height - 0.1) < 1e-4, f"the ball lies at {height} m"
print(f"    engine for {raisim_ros.info().isa}, a ball falls and lies still")
PYTHON
venv/bin/raisim_ros --help > help.txt
echo "    $(basename "$wheel"): installs and runs"

# The environment of the built package, for bash and zsh:   source tools/env.sh
#
# With ROS 2 sourced, it lays the build over that installation. Otherwise it uses the ROS 2 wheels of the
# virtual environment that `make` created; ROS_DISTRO (jazzy by default, or kilted) says which. Sourcing it
# again, also for the other distribution, replaces what it set before.

raisim_root="$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")/.." && pwd)"

# The entries of a colon-separated list that do not lie in this checkout.
raisim_outside_checkout() {
    printf '%s' "$1" | tr ':' '\n' | awk -v root="$raisim_root/" 'length && index($0, root) != 1' | paste -s -d : -
}

# The folders of that name at most three levels below another, as a colon-separated list.
raisim_folders() {
    { find "$1" -maxdepth 3 -name "$2" -type d 2>/dev/null || true; } | sort | paste -s -d : -
}

AMENT_PREFIX_PATH="$(raisim_outside_checkout "${AMENT_PREFIX_PATH:-}")"
CMAKE_PREFIX_PATH="$(raisim_outside_checkout "${CMAKE_PREFIX_PATH:-}")"
LD_LIBRARY_PATH="$(raisim_outside_checkout "${LD_LIBRARY_PATH:-}")"
PYTHONPATH="$(raisim_outside_checkout "${PYTHONPATH:-}")"
PATH="$(raisim_outside_checkout "$PATH")"

# A workspace without ROS 2 below it (an overlay of something else, a left-over variable) is not an installation.
raisim_has_rclpy() {
    printf '%s' "$1" | tr ':' '\n' | while read -r prefix || [ -n "$prefix" ]; do
        [ -d "$prefix/share/rclpy" ] && echo yes
    done
}

if [ -n "$(raisim_has_rclpy "$AMENT_PREFIX_PATH")" ]; then
    RAISIM_FLAVOUR="system-${ROS_DISTRO:-unknown}"
    raisim_venv="$raisim_root/.venv-$RAISIM_FLAVOUR"
else
    ROS_DISTRO="${ROS_DISTRO:-jazzy}"
    RAISIM_FLAVOUR="$ROS_DISTRO"
    raisim_venv="$raisim_root/.venv"
    [ "$ROS_DISTRO" = jazzy ] || raisim_venv="$raisim_root/.venv-$ROS_DISTRO"
    AMENT_PREFIX_PATH="$raisim_venv${AMENT_PREFIX_PATH:+:$AMENT_PREFIX_PATH}"
    CMAKE_PREFIX_PATH="$raisim_venv${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"
    # The wheels would otherwise start Python a second time to set the library path themselves.
    raisim_libs="$(raisim_folders "$raisim_venv/lib" 'ros_*.libs')"
    LD_LIBRARY_PATH="$raisim_venv/lib${raisim_libs:+:$raisim_libs}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
    ROS_VERSION=2
    ROS_PYTHON_VERSION=3
    export _ROS_WHEELS_BOOTSTRAP_COMPLETE ROS_VERSION ROS_PYTHON_VERSION
fi

raisim_install="$raisim_root/install/$RAISIM_FLAVOUR"
raisim_site="$(raisim_folders "$raisim_install/lib" '*-packages')"
AMENT_PREFIX_PATH="$raisim_install:$AMENT_PREFIX_PATH"
CMAKE_PREFIX_PATH="$raisim_install${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"
LD_LIBRARY_PATH="$raisim_install/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
PYTHONPATH="$raisim_site${raisim_site:+${PYTHONPATH:+:}}$PYTHONPATH"
PATH="$raisim_venv/bin:$PATH"
VIRTUAL_ENV="$raisim_venv"

# `python -m …` in the checkout must find the installed package (with the generated messages), not ./raisim_ros.
PYTHONSAFEPATH=1
RMW_IMPLEMENTATION="${RMW_IMPLEMENTATION:-rmw_fastrtps_cpp}"
# A larger shared-memory segment: with the default one most large images are lost.
# FastDDS 2 (up to Jazzy) knows only the old name of the variable, FastDDS 3 warns about it.
if [ "${ROS_DISTRO:-}" = jazzy ] || [ "${ROS_DISTRO:-}" = humble ]; then
    export FASTRTPS_DEFAULT_PROFILES_FILE="${FASTRTPS_DEFAULT_PROFILES_FILE:-$raisim_root/config/fastdds.xml}"
else
    export FASTDDS_DEFAULT_PROFILES_FILE="${FASTDDS_DEFAULT_PROFILES_FILE:-$raisim_root/config/fastdds.xml}"
fi

export AMENT_PREFIX_PATH CMAKE_PREFIX_PATH LD_LIBRARY_PATH PYTHONPATH PATH VIRTUAL_ENV PYTHONSAFEPATH
export ROS_DISTRO RMW_IMPLEMENTATION RAISIM_FLAVOUR
unset raisim_root raisim_venv raisim_install raisim_site raisim_libs
unset -f raisim_outside_checkout raisim_folders raisim_has_rclpy

#!/usr/bin/env bash
# The node and its page until either is told to end:   tools/run_nodes.sh FOLDER_OF_PROGRAMS yes|no ROS_ARGUMENTS…
#
# The page is a process of its own that ends with the node. Both end with this script, also when it is killed.
set -uo pipefail
programs="${1:?folder of the programs}" viewer="${2:?yes or no}"
shift 2
export RAISIM_ROS_LAUNCHER_PID=$$

nodes=()
end_nodes() {
    trap '' INT TERM HUP
    kill -TERM "${nodes[@]}" 2>/dev/null
    wait "${nodes[@]}" 2>/dev/null
}
trap end_nodes EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Each gets its own parameters: one that it does not know it would take for a mistake. All else is for both.
world_arguments=() page_arguments=()
while [ $# -gt 0 ]; do
    case "$1 ${2-}" in
        "-p host:="* | "-p port:="* | "-p open_browser:="*) page_arguments+=("$1" "$2") ;;
        "-p "?*) world_arguments+=("$1" "$2") ;;
        *) world_arguments+=("$1") page_arguments+=("$1"); shift; continue ;;
    esac
    shift 2
done

if [ "$viewer" = yes ]; then
    "$programs/viewer_node" --ros-args "${page_arguments[@]}" &
    nodes+=($!)
fi
"$programs/world_node" --ros-args "${world_arguments[@]}" &
nodes+=($!)
wait $!

#!/bin/sh
# Whether a ROS package is installed outside this checkout: tools/has_package.sh <package>
root="$(cd "$(dirname "$0")/.." && pwd)"
found=1
IFS=:
for prefix in $AMENT_PREFIX_PATH; do
    case "$prefix" in
        "$root/install"/*) ;;
        *) [ -d "$prefix/share/$1" ] && found=0 ;;
    esac
done
exit $found

#!/usr/bin/env bash
# Build the engine with a sanitizer into build/instrumented/<kind>, as a package `raisim_ros` whose Python files are
# links to this checkout. Only what changed is compiled again. Prints the PYTHONPATH of the package.
#
#   tools/instrumented_engine.sh address|thread|none
set -euo pipefail
cd "$(dirname "$0")/.."

kind="${1:?address, thread or none}"
case "$kind" in
    address) flags="-O1 -g -DRS_DEBUG -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all" ;;
    thread) flags="-O1 -g -DRS_DEBUG -fno-omit-frame-pointer -fsanitize=thread" ;;
    none) flags="-O2 -g" ;;
    *) echo "unknown sanitizer '$kind'; expected address, thread or none" >&2; exit 2 ;;
esac
folder="build/instrumented/$kind"
package="$folder/raisim_ros"
mkdir -p "$folder/objects" "$package/engine"

# The package, with the compiled engine beside the links of its files.
for source in raisim_ros/*; do
    [ "$(basename "$source")" = engine ] || ln -sfn "$PWD/$source" "$package/$(basename "$source")"
done
find "$package/engine" -type l -delete
for source in raisim_ros/engine/*; do
    case "$source" in *.so | *__pycache__) ;; *) ln -sfn "$PWD/$source" "$package/engine/$(basename "$source")" ;; esac
done
ln -sfn "$PWD/rsc" "$folder/rsc"

python="${PYTHON:-python3}"
"$python" csrc/build_engine.py --emit "$folder/_engine.c.new" --module _engine > /dev/null
cmp -s "$folder/_engine.c.new" "$folder/_engine.c" || cp "$folder/_engine.c.new" "$folder/_engine.c"
includes="-Icsrc -Icsrc/include -I$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')"
common="$(grep -v '^#' csrc/flags.txt | tr '\n' ' ')"

newest_header="$(find csrc -name '*.h' -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2)"
stale=()
for source in $(grep -v '^#' csrc/sources.txt | sed 's,^,csrc/,') "$folder/_engine.c"; do
    object="$folder/objects/$(echo "$source" | tr '/' '_').o"
    if [ "$source" -nt "$object" ] || [ "$newest_header" -nt "$object" ]; then stale+=("$source" "$object"); fi
done
module="$package/engine/_engine$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')"
if [ "${#stale[@]}" -gt 0 ] || [ ! -e "$module" ]; then
    # shellcheck disable=SC2086
    printf '%s\n' "${stale[@]}" | xargs -P "$(nproc)" -n 2 sh -c "${CC:-gcc} $common $flags $includes -c \"\$0\" -o \"\$1\""
    # shellcheck disable=SC2086
    gcc -shared -pthread $flags "$folder"/objects/*.o -lm -o "$module"
fi
echo "$PWD/$folder"

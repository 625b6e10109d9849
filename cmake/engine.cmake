# raisim_engine_objects: the engine's C files, compiled once; the Python binding and the C tests link them.

# Lines of a list file in csrc/ without comments; CMake runs again when the file changes.
function(raisim_read_list file result)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/csrc/${file}")
  file(STRINGS "${PROJECT_SOURCE_DIR}/csrc/${file}" lines REGEX "^[^#]")
  list(TRANSFORM lines STRIP)
  set(${result} "${lines}" PARENT_SCOPE)
endfunction()

raisim_read_list(sources.txt raisim_sources)
list(TRANSFORM raisim_sources PREPEND "${PROJECT_SOURCE_DIR}/csrc/")
raisim_read_list(flags.txt raisim_flags)

if(RAISIM_NATIVE_ARCH)
  list(APPEND raisim_flags -march=native)
  # Fused multiplication and addition where most of the time goes. Not in the geometry, which counts on products that
  # cancel, and not in portable builds, whose results are to agree between machines.
  set(raisim_fused ${raisim_sources})
  list(FILTER raisim_fused INCLUDE REGEX "/csrc/(dynamics|contact)/")
  set_source_files_properties(${raisim_fused} PROPERTIES COMPILE_OPTIONS -ffp-contract=fast)
endif()
set(raisim_link_flags -pthread)
if(RAISIM_SANITIZE)
  list(APPEND raisim_flags -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined
       -fno-sanitize-recover=all)
  list(APPEND raisim_link_flags -fsanitize=address,undefined)
endif()

set(raisim_warnings -Wall -Wextra -Wconversion -Wshadow)
if(RAISIM_WERROR)
  list(APPEND raisim_warnings -Werror)
endif()

add_library(raisim_engine_objects OBJECT ${raisim_sources})
target_include_directories(raisim_engine_objects PUBLIC "${PROJECT_SOURCE_DIR}/csrc"
                           "${PROJECT_SOURCE_DIR}/csrc/include")
target_compile_options(raisim_engine_objects PRIVATE ${raisim_flags} ${raisim_warnings})

# The engine's C files, compiled once for each instruction set; the Python bindings and the C tests link them.

include(CheckCCompilerFlag)

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

set(raisim_link_flags -pthread)
if(RAISIM_SANITIZE)
  list(APPEND raisim_flags -O1 -g -DRS_DEBUG -fno-omit-frame-pointer -fsanitize=address,undefined
       -fno-sanitize-recover=all)
  list(APPEND raisim_link_flags -fsanitize=address,undefined)
elseif(RAISIM_SANITIZE_THREADS)
  list(APPEND raisim_flags -O1 -g -DRS_DEBUG -fno-omit-frame-pointer -fsanitize=thread)
  list(APPEND raisim_link_flags -fsanitize=thread)
endif()

set(raisim_warnings -Wall -Wextra -Wconversion -Wshadow)
if(RAISIM_WERROR)
  list(APPEND raisim_warnings -Werror)
endif()

# raisim_engine_<level>: the objects for one instruction set; raisim_levels lists the levels.
set(raisim_levels)
function(raisim_add_level level)
  add_library(raisim_engine_${level} OBJECT EXCLUDE_FROM_ALL ${raisim_sources})
  target_include_directories(raisim_engine_${level} PUBLIC "${PROJECT_SOURCE_DIR}/csrc"
                             "${PROJECT_SOURCE_DIR}/csrc/include")
  target_compile_options(raisim_engine_${level} PRIVATE ${raisim_flags} ${raisim_warnings} ${ARGN})
  set(raisim_levels ${raisim_levels} ${level} PARENT_SCOPE)
endfunction()

raisim_add_level(base)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  raisim_read_list(isa_levels.txt raisim_isa_levels)
  foreach(line IN LISTS raisim_isa_levels)
    separate_arguments(flags UNIX_COMMAND "${line}")
    list(POP_FRONT flags level)
    check_c_compiler_flag("${flags}" RAISIM_COMPILER_HAS_${level})
    if(RAISIM_COMPILER_HAS_${level})
      raisim_add_level(${level} ${flags})
    endif()
  endforeach()
endif()
if(RAISIM_NATIVE_ARCH)
  raisim_add_level(native -march=native -ffp-contract=fast)
endif()

# One test executable per file test_*.c under test/c, run by ctest, with the engine built for RAISIM_TEST_LEVEL.

if(NOT RAISIM_TEST_LEVEL IN_LIST raisim_levels)
  message(FATAL_ERROR "RAISIM_TEST_LEVEL is ${RAISIM_TEST_LEVEL}; this build has ${raisim_levels}")
endif()

file(GLOB raisim_c_tests CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/test/c/test_*.c" "${PROJECT_SOURCE_DIR}/test/c/*/test_*.c")
foreach(source IN LISTS raisim_c_tests)
  cmake_path(GET source STEM name)
  add_executable(${name} "${source}")
  target_compile_options(${name} PRIVATE ${raisim_flags} ${raisim_warnings})
  target_link_options(${name} PRIVATE ${raisim_link_flags})
  target_link_libraries(${name} PRIVATE raisim_engine_${RAISIM_TEST_LEVEL} m)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/c_tests")
  add_test(NAME ${name} COMMAND ${name})
endforeach()

# Not a test: `make test-c-threads` looks whether ThreadSanitizer reports what it does.
add_executable(planted_race EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/test/c/planted_race.c")
target_compile_options(planted_race PRIVATE ${raisim_flags} ${raisim_warnings})
target_link_options(planted_race PRIVATE ${raisim_link_flags})
target_link_libraries(planted_race PRIVATE raisim_engine_${RAISIM_TEST_LEVEL} m)
set_target_properties(planted_race PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/c_tests")

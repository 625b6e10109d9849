# The ROS 2 side: interfaces, the Python binding of the engine, and what is installed.

find_package(ament_cmake REQUIRED)
find_package(ament_cmake_python REQUIRED) # defines PYTHON_INSTALL_DIR
find_package(rosidl_default_generators REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter Development.Module NumPy)

set(raisim_interface_packages builtin_interfaces diagnostic_msgs geometry_msgs nav_msgs rosgraph_msgs sensor_msgs
    std_msgs std_srvs tf2_msgs trajectory_msgs visualization_msgs)
foreach(package IN LISTS raisim_interface_packages)
  find_package(${package} REQUIRED)
endforeach()
include("${CMAKE_CURRENT_LIST_DIR}/relocate_ros_wheels.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/interfaces.cmake")

file(GLOB raisim_interfaces RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS
     "${PROJECT_SOURCE_DIR}/msg/*.msg" "${PROJECT_SOURCE_DIR}/srv/*.srv")
raisim_generate_interfaces(FILES ${raisim_interfaces} PACKAGES ${raisim_interface_packages})

# rosidl exports NumPy's headers with its Python library. CMake refuses to export a folder of the source tree,
# and that is where NumPy lies when the virtual environment of the Makefile is in use.
get_target_property(folders ${PROJECT_NAME}__rosidl_generator_py INTERFACE_INCLUDE_DIRECTORIES)
set(exported_folders)
foreach(folder IN LISTS folders)
  cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${folder}" in_source_tree)
  if(in_source_tree)
    set(folder "$<BUILD_INTERFACE:${folder}>")
  endif()
  list(APPEND exported_folders "${folder}")
endforeach()
set_target_properties(${PROJECT_NAME}__rosidl_generator_py PROPERTIES
                      INTERFACE_INCLUDE_DIRECTORIES "${exported_folders}")

# The Python binding: cffi writes its C file, which is compiled together with the engine; one module per level, of
# which Python loads the best that the processor has.
file(GLOB raisim_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/csrc/include/raisim_engine/*.h")
set(raisim_python_modules)
foreach(level IN LISTS raisim_levels)
  set(module _engine)
  if(NOT level STREQUAL base)
    set(module _engine_${level})
  endif()
  set(binding "${CMAKE_CURRENT_BINARY_DIR}/${module}.c")
  add_custom_command(
    OUTPUT "${binding}"
    COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/csrc/build_engine.py" --emit "${binding}" --module ${module}
    DEPENDS csrc/build_engine.py csrc/include/raisim_engine.h ${raisim_headers}
    COMMENT "Writing the Python binding of the engine: ${module}" VERBATIM)
  set(target raisim_engine_python_${level})
  python3_add_library(${target} MODULE WITH_SOABI "${binding}")
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${module})
  target_compile_options(${target} PRIVATE ${raisim_flags})
  target_link_options(${target} PRIVATE ${raisim_link_flags})
  target_link_libraries(${target} PRIVATE raisim_engine_${level} m)
  list(APPEND raisim_python_modules ${target})
endforeach()

# After rosidl's own rules: the installed raisim_ros/__init__.py must be ours. (ament_python_install_package
# would refuse the name, because rosidl has already used it for the generated half of the package.)
set(raisim_python_dir "${PYTHON_INSTALL_DIR}/${PROJECT_NAME}")
install(TARGETS ${raisim_python_modules} DESTINATION "${raisim_python_dir}/engine")
install(DIRECTORY raisim_ros/ DESTINATION "${raisim_python_dir}"
        PATTERN "__pycache__" EXCLUDE PATTERN "*.pyc" EXCLUDE PATTERN "*.so" EXCLUDE)
install(DIRECTORY launch config rsc DESTINATION "share/${PROJECT_NAME}" PATTERN "__pycache__" EXCLUDE)
install(PROGRAMS scripts/world_node scripts/viewer_node scripts/spawn_robot DESTINATION "lib/${PROJECT_NAME}")

ament_export_dependencies(rosidl_default_runtime)

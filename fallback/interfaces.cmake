# What every package below fallback/ does: interfaces of another project, for machines that lack them.
#   raisim_fallback_interfaces(<packages it depends on>)
find_package(ament_cmake REQUIRED)
find_package(rosidl_default_generators REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter Development.Module NumPy)

macro(raisim_fallback_interfaces)
  foreach(package IN ITEMS ${ARGN})
    find_package(${package} REQUIRED)
  endforeach()
  include("${CMAKE_CURRENT_SOURCE_DIR}/../../cmake/relocate_ros_wheels.cmake")
  include("${CMAKE_CURRENT_SOURCE_DIR}/../../cmake/interfaces.cmake")
  file(GLOB interfaces RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS
       "msg/*.msg" "srv/*.srv" "action/*.action")
  raisim_generate_interfaces(FILES ${interfaces} PACKAGES ${ARGN})
  ament_export_dependencies(rosidl_default_runtime)
  ament_package()
endmacro()

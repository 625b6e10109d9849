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
  include("${CMAKE_CURRENT_SOURCE_DIR}/../../cmake/python_interfaces.cmake")
  file(GLOB interfaces RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS
       "msg/*.msg" "srv/*.srv" "action/*.action")
  include("${CMAKE_CURRENT_SOURCE_DIR}/../../cmake/generate_interfaces.cmake")
  raisim_generate_interfaces("${interfaces}" "${ARGN}")
  # The generated C++ files differ by a few lines under the same large headers.
  foreach(kind IN ITEMS c fastrtps_c)
    if(TARGET ${PROJECT_NAME}__rosidl_typesupport_${kind})
      set_target_properties(${PROJECT_NAME}__rosidl_typesupport_${kind} PROPERTIES
                            UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
      target_compile_options(${PROJECT_NAME}__rosidl_typesupport_${kind} PRIVATE -Wno-redundant-decls)
    endif()
  endforeach()
  ament_export_dependencies(rosidl_default_runtime)
  ament_package()
endmacro()

# Interfaces of this package and of those below fallback/: generated, compiled quickly, and not again without need.

# For Python alone the C++ generators are left out, which halves the time that a build takes. For machines whose ROS 2
# comes from PyPI, where nothing in C++ could use them.
if(RAISIM_PYTHON_INTERFACES)
  set(kept)
  foreach(extension IN LISTS AMENT_EXTENSIONS_rosidl_generate_idl_interfaces)
    if(NOT extension MATCHES "_cpp:")
      list(APPEND kept "${extension}")
    endif()
  endforeach()
  set(AMENT_EXTENSIONS_rosidl_generate_idl_interfaces "${kept}")
endif()

#   raisim_generate_interfaces(FILES <.msg, .srv and .action files> PACKAGES <packages they use>)
macro(raisim_generate_interfaces)
  cmake_parse_arguments(raisim_interfaces "" "" "FILES;PACKAGES" ${ARGN})
  # rosidl writes all .idl files whenever CMake runs, and what is made from them would be made anew: those whose text is
  # the same keep their times.
  set(raisim_idl "${CMAKE_CURRENT_BINARY_DIR}/rosidl_adapter/${PROJECT_NAME}")
  set(raisim_idl_before "${CMAKE_CURRENT_BINARY_DIR}/idl_before")
  file(REMOVE_RECURSE "${raisim_idl_before}")
  if(EXISTS "${raisim_idl}")
    file(COPY "${raisim_idl}/" DESTINATION "${raisim_idl_before}")
  endif()
  rosidl_generate_interfaces(${PROJECT_NAME} ${raisim_interfaces_FILES} DEPENDENCIES ${raisim_interfaces_PACKAGES})
  file(GLOB_RECURSE raisim_idl_files RELATIVE "${raisim_idl_before}" "${raisim_idl_before}/*.idl")
  foreach(name IN LISTS raisim_idl_files)
    file(READ "${raisim_idl_before}/${name}" before)
    file(READ "${raisim_idl}/${name}" after)
    if(before STREQUAL after)
      cmake_path(GET name PARENT_PATH folder)
      file(COPY "${raisim_idl_before}/${name}" DESTINATION "${raisim_idl}/${folder}") # with its times
    endif()
  endforeach()
  # The C++ files differ by a few lines under the same large headers: compiled in batches they take a third of the time.
  # (rosidl_generator_c repeats names of static variables from file to file and cannot be batched.)
  foreach(kind IN ITEMS c cpp fastrtps_c fastrtps_cpp introspection_cpp)
    set(target ${PROJECT_NAME}__rosidl_typesupport_${kind})
    if(TARGET ${target}) # which ones exist depends on the installed middlewares
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
      target_compile_options(${target} PRIVATE -Wno-redundant-decls) # every file declares what it needs
    endif()
  endforeach()
endmacro()

# Interfaces for Python alone: the C++ generators are left out, which halves the time that a build takes. For machines
# whose ROS 2 comes from PyPI, where nothing in C++ could use them. To be included before rosidl_generate_interfaces().
if(RAISIM_PYTHON_INTERFACES)
  set(kept)
  foreach(extension IN LISTS AMENT_EXTENSIONS_rosidl_generate_idl_interfaces)
    if(NOT extension MATCHES "_cpp:")
      list(APPEND kept "${extension}")
    endif()
  endforeach()
  set(AMENT_EXTENSIONS_rosidl_generate_idl_interfaces "${kept}")
endif()

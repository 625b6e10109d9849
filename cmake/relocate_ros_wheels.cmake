# The ROS 2 wheels of PyPI export targets that name the Python and NumPy headers of the machine that built
# them, and CMake refuses include folders that do not exist. This puts this machine's headers in their place.
# With a ROS installation every folder exists and nothing changes.

get_property(raisim_imported_targets DIRECTORY PROPERTY IMPORTED_TARGETS)
foreach(target IN LISTS raisim_imported_targets)
  get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
  if(NOT folders)
    continue()
  endif()
  set(corrected)
  foreach(folder IN LISTS folders)
    if(IS_ABSOLUTE "${folder}" AND NOT EXISTS "${folder}")
      list(APPEND corrected ${Python3_INCLUDE_DIRS} ${Python3_NumPy_INCLUDE_DIRS})
    else()
      list(APPEND corrected "${folder}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES corrected)
  set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${corrected}")
endforeach()

# Gives libraries names, and on Linux versions of their symbols, that no other package and no other version of this one
# has. A loader takes a library of the wanted name that is already in the process, whoever brought it: under their own
# names, two copies of ggml crash each other.
function(lorekeep_name_libraries)
  file(READ "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../package.json" manifest)
  string(JSON version GET "${manifest}" version)
  set(script "${CMAKE_BINARY_DIR}/lorekeep-symbols.map")
  file(CONFIGURE OUTPUT "${script}" CONTENT "LOREKEEP_${version} { *; };\n" @ONLY)
  foreach(target IN LISTS ARGN)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME "lorekeep-${version}-${target}")
    if(UNIX AND NOT APPLE)
      target_link_options(${target} PRIVATE "-Wl,--version-script=${script}")
      set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${script}")
    endif()
  endforeach()
endfunction()

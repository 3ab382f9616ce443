# One static library per folder under native/. A module sees only its own headers and those of its dependencies: each
# module has an include root that contains only a link to its folder. So `#include "vector/..."` inside native/text is a
# compile error. (If links are not permitted, as on some Windows systems, native/ is the root and only
# scripts/check-layers.mjs enforces the rule.)

if(NOT MSVC)
  add_compile_options(-Wall -Wextra -Wno-unused-parameter)
endif()
set(LOREKEEP_COMPILE_OPTIONS "")
set(LOREKEEP_LINK_OPTIONS "")
if(LOREKEEP_SANITIZE STREQUAL "address")
  set(LOREKEEP_COMPILE_OPTIONS -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  set(LOREKEEP_LINK_OPTIONS -fsanitize=address,undefined)
elseif(LOREKEEP_SANITIZE STREQUAL "thread")
  set(LOREKEEP_COMPILE_OPTIONS -fsanitize=thread -fno-omit-frame-pointer -g1)
  set(LOREKEEP_LINK_OPTIONS -fsanitize=thread)
endif()

function(lorekeep_include_root name out)
  set(root "${CMAKE_BINARY_DIR}/include/${name}")
  file(MAKE_DIRECTORY "${root}")
  file(CREATE_LINK "${CMAKE_SOURCE_DIR}/native/${name}" "${root}/${name}" RESULT failed SYMBOLIC)
  if(failed)
    set(root "${CMAKE_SOURCE_DIR}/native")
  endif()
  set(${out} "${root}" PARENT_SCOPE)
endfunction()

# Precompiles the standard headers, whose parsing is 40 % of the time of our modules. Not with ccache, which would keep
# no object then. The trees of the native tests precompile nothing, so a missing include is an error there.
function(lorekeep_precompile target)
  if(NOT LOREKEEP_ADDON OR CMAKE_CXX_COMPILER_LAUNCHER)
    return()
  endif()
  if(TARGET lorekeep_core AND NOT target STREQUAL "lorekeep_core")
    target_precompile_headers(${target} REUSE_FROM lorekeep_core)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <atomic> <chrono> <cmath> <cstddef> <cstdint> <cstring> <filesystem> <functional> <limits>
    <memory> <mutex> <optional> <span> <string> <string_view> <utility> <vector>)
endfunction()

# lorekeep_module(NAME SOURCES a.cc ... [DEPENDS core ...]): static library lorekeep_NAME from native/NAME.
function(lorekeep_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(lorekeep_${name} STATIC ${ARG_SOURCES})
  lorekeep_include_root(${name} root)
  target_include_directories(lorekeep_${name} PUBLIC "${root}")
  set_target_properties(lorekeep_${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(lorekeep_${name} PRIVATE ${LOREKEEP_COMPILE_OPTIONS})
  target_link_options(lorekeep_${name} INTERFACE ${LOREKEEP_LINK_OPTIONS})
  lorekeep_precompile(lorekeep_${name})
  foreach(dependency IN LISTS ARG_DEPENDS)
    target_link_libraries(lorekeep_${name} PUBLIC lorekeep_${dependency})
  endforeach()
endfunction()

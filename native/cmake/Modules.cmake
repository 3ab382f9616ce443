# One static library per folder under native/. A module sees only its own headers and its dependencies' headers: each
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

# Compiles eight files of a target at a time: most of the time goes into headers. LOREKEEP_BATCHES=OFF compiles every file
# by itself, which shows missing includes. The kernels of different instruction sets share names.
function(lorekeep_batch_files target)
  if(NOT LOREKEEP_BATCHES)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  get_target_property(kernels ${target} SOURCES)
  list(FILTER kernels INCLUDE REGEX "_(scalar|neon|avx[0-9]*|avx[0-9]*_[a-z]+|amx_[a-z0-9]+)\\.cc$")
  set_source_files_properties(${kernels} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
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
  lorekeep_batch_files(lorekeep_${name})
  foreach(dependency IN LISTS ARG_DEPENDS)
    target_link_libraries(lorekeep_${name} PUBLIC lorekeep_${dependency})
  endforeach()
endfunction()

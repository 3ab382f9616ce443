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
# by itself, which shows missing includes.
function(lorekeep_batch_files target)
  if(LOREKEEP_BATCHES)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# lorekeep_kernels(FILE ... [AVX512 FILE ...]): the files of kernels for different instruction sets use the same names, so
# each is compiled by itself.
function(lorekeep_kernels)
  cmake_parse_arguments(ARG "" "" "AVX512" ${ARGN})
  set_source_files_properties(${ARG_UNPARSED_ARGUMENTS} ${ARG_AVX512} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12's AVX-512 headers initialise some results with an undefined register (GCC bug 105593).
    set_source_files_properties(${ARG_AVX512} PROPERTIES COMPILE_OPTIONS "-Wno-uninitialized;-Wno-maybe-uninitialized")
  endif()
endfunction()

# lorekeep_module(NAME [FOLDER folder] SOURCES a.cc ... [DEPENDS core ...]): static library lorekeep_NAME from
# native/NAME, or native/folder.
function(lorekeep_module name)
  cmake_parse_arguments(ARG "" "FOLDER" "SOURCES;DEPENDS" ${ARGN})
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER ${name})
  endif()
  add_library(lorekeep_${name} STATIC ${ARG_SOURCES})
  lorekeep_include_root(${ARG_FOLDER} root)
  target_include_directories(lorekeep_${name} PUBLIC "${root}")
  set_target_properties(lorekeep_${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(lorekeep_${name} PRIVATE ${LOREKEEP_COMPILE_OPTIONS})
  target_link_options(lorekeep_${name} INTERFACE ${LOREKEEP_LINK_OPTIONS})
  lorekeep_batch_files(lorekeep_${name})
  foreach(dependency IN LISTS ARG_DEPENDS)
    target_link_libraries(lorekeep_${name} PUBLIC lorekeep_${dependency})
  endforeach()
endfunction()

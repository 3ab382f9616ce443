# Builds llama.cpp from native/vendor as three shared libraries and CPU plugins, which ggml loads from the same folder.
#
# Reads     LOREKEEP_VENDOR           native/vendor
# Defines   lorekeep_llama_cpp        interface target for native/engine: the headers of llama.cpp, and its libraries
#           lorekeep_cpu_native       target: the CPU plugin for the building machine
#           lorekeep_cpu_all          target: one CPU plugin per CPU generation
# Writes    lorekeep-files-native.txt, lorekeep-files-all.txt: the paths of the files to ship with either
#
# Every build tree defines both targets, and building the addon builds neither. So a prebuild after a build compiles
# only the missing plugins, and a build after that compiles nothing.

include(LibraryNames)
set(LOREKEEP_OUTPUT "${CMAKE_BINARY_DIR}/bin")
set(LOREKEEP_X86 "^(x86_64|i686|AMD64|amd64)$")
# Libraries find each other in their own folder, in the build tree and in a published package.
if(APPLE)
  set(LOREKEEP_RPATH "@loader_path")
else()
  set(LOREKEEP_RPATH "$ORIGIN")
endif()

# Libraries of the own folder win over those of LD_LIBRARY_PATH, as DT_RPATH does and DT_RUNPATH does not.
function(lorekeep_prefer_own_folder target)
  if(UNIX AND NOT APPLE)
    target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  endif()
endfunction()

# Returns the GGML_* options of the building machine, from the macros that the compiler defines with -march=native.
# ggml refuses GGML_NATIVE with loadable backends on x86, because a plugin must know its instruction sets.
function(lorekeep_native_features out)
  if(MSVC)
    set(${out} AVX AVX2 PARENT_SCOPE)  # the compiler cannot be asked; every x64 CPU since 2015
    return()
  endif()
  execute_process(COMMAND "${CMAKE_C_COMPILER}" -march=native -dM -E -x c /dev/null
    OUTPUT_VARIABLE macros RESULT_VARIABLE failed ERROR_QUIET)
  if(failed)
    set(macros "")
    message(STATUS "lorekeep: ${CMAKE_C_COMPILER} does not support -march=native: the CPU plugin will be generic")
  endif()
  set(found "")
  foreach(pair
      SSE42:__SSE4_2__ AVX:__AVX__ AVX2:__AVX2__ FMA:__FMA__ F16C:__F16C__ BMI2:__BMI2__ AVX_VNNI:__AVXVNNI__
      AVX512:__AVX512BW__ AVX512_VBMI:__AVX512VBMI__ AVX512_VNNI:__AVX512VNNI__ AVX512_BF16:__AVX512BF16__
      AMX_TILE:__AMX_TILE__ AMX_INT8:__AMX_INT8__)
    string(REPLACE ":" ";" pair "${pair}")
    list(GET pair 0 feature)
    list(GET pair 1 macro)
    if(macros MATCHES "#define ${macro} 1")
      list(APPEND found ${feature})
    endif()
  endforeach()
  if(MINGW)
    list(FILTER found EXCLUDE REGEX "^AMX")  # see lorekeep_add_llama_cpp
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# Returns whether ggml has CPU variants for this platform.
function(lorekeep_has_cpu_variants out)
  set(known OFF)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "${LOREKEEP_X86}" OR APPLE OR
      (CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ppc64le|s390x|riscv64)$"))
    set(known ON)
  endif()
  set(${out} ${known} PARENT_SCOPE)
endfunction()

# A function, so that these settings do not affect our own code.
function(lorekeep_add_llama_cpp)
  set(BUILD_SHARED_LIBS ON)
  set(CMAKE_CXX_STANDARD 17)
  set(CMAKE_CXX_EXTENSIONS ON)
  set(CMAKE_C_VISIBILITY_PRESET hidden)
  set(CMAKE_CXX_VISIBILITY_PRESET hidden)
  set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

  foreach(off LLAMA_BUILD_COMMON LLAMA_BUILD_TESTS LLAMA_BUILD_TOOLS LLAMA_BUILD_EXAMPLES LLAMA_BUILD_SERVER
      LLAMA_BUILD_APP LLAMA_BUILD_MTMD LLAMA_USE_PREBUILT_UI LLAMA_OPENSSL LLAMA_SUBPROCESS LLAMA_BUILD_IS_DEV
      LLAMA_ALL_WARNINGS GGML_BUILD_TESTS GGML_BUILD_EXAMPLES
      GGML_NATIVE       # see lorekeep_native_features
      GGML_OPENMP       # libgomp is missing on slim systems, and its barriers collapse if another process needs the cores
      GGML_CCACHE       # scripts/ pass ccache as the compiler launcher, for our own code too
      GGML_METAL GGML_BLAS GGML_ACCELERATE)
    set(${off} OFF)
  endforeach()
  set(GGML_BACKEND_DL ON)
  lorekeep_has_cpu_variants(GGML_CPU_ALL_VARIANTS)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "${LOREKEEP_X86}")
    lorekeep_native_features(LOREKEEP_CPU_FEATURES)  # read by the patched CMake of ggml
    list(JOIN LOREKEEP_CPU_FEATURES " " features)
    message(STATUS "lorekeep: CPU features of this machine: ${features}")
  endif()

  if(CMAKE_CROSSCOMPILING)
    # What its plugin for the building machine would run there. That plugin is not built.
    foreach(feature dotprod i8mm sve sme)
      set(GGML_MACHINE_SUPPORTS_${feature} OFF)
      set(GGML_MACHINE_SUPPORTS_no${feature} OFF)
    endforeach()
  endif()

  # Its CMake asks git for the commit, which would be lorekeep's own and change the build with each commit.
  set(ENV{GIT_CEILING_DIRECTORIES} "${LOREKEEP_VENDOR}")
  set(LLAMA_BUILD_NUMBER 0)
  set(LLAMA_BUILD_COMMIT "unknown")

  unset(GGML_AVAILABLE_BACKENDS CACHE)  # otherwise it grows with each configuration and keeps old plugins
  add_subdirectory("${LOREKEEP_VENDOR}/llama.cpp" "${CMAKE_BINARY_DIR}/llama.cpp" EXCLUDE_FROM_ALL)

  lorekeep_name_libraries(llama ggml ggml-base)
  set(plugins ${GGML_AVAILABLE_BACKENDS})
  foreach(target llama ggml ggml-base ${plugins})
    # Unversioned names: versioned ones need symbolic links, which npm does not pack.
    set_property(TARGET ${target} PROPERTY VERSION)
    set_property(TARGET ${target} PROPERTY SOVERSION)
    set_target_properties(${target} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY "${LOREKEEP_OUTPUT}" RUNTIME_OUTPUT_DIRECTORY "${LOREKEEP_OUTPUT}"
      BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${LOREKEEP_RPATH}")
    lorekeep_prefer_own_folder(${target})
    if(NOT MSVC)
      target_compile_options(${target} PRIVATE -w)  # third-party warnings
    endif()
    if(MINGW)
      target_compile_options(${target} PRIVATE -include "${CMAKE_SOURCE_DIR}/native/engine/mingw_throttling.h")
    endif()
  endforeach()

  # ggml-cpu if it was compiled with -mcpu=native or similar: ggml loads a plugin of that name without checks, others by
  # their required features.
  set(native ggml-cpu-native)
  if(NOT TARGET ${native})
    set(native ggml-cpu)
  endif()
  # Cannon Lake was one laptop processor: the plugin for Skylake-X computes there, and the package is smaller.
  set(variants ${plugins})
  list(REMOVE_ITEM variants ${native} ggml-cpu-cannonlake)
  if(MINGW)
    # ggml's AMX code casts strides to `long`, which has 32 bits there, and takes the permission of Windows for granted.
    list(REMOVE_ITEM variants ggml-cpu-sapphirerapids)
  endif()
  if(NOT variants)
    set(variants ${native})
  elseif(CMAKE_CROSSCOMPILING AND NOT CMAKE_SYSTEM_PROCESSOR MATCHES "${LOREKEEP_X86}")
    list(SUBLIST variants 0 2 native)  # the building machine is another: without and with dot products
  endif()
  add_custom_target(lorekeep_cpu_native DEPENDS ${native})
  add_custom_target(lorekeep_cpu_all DEPENDS ${variants})
  set_property(GLOBAL PROPERTY LOREKEEP_FILES_NATIVE llama ggml ggml-base ${native})
  set_property(GLOBAL PROPERTY LOREKEEP_FILES_ALL llama ggml ggml-base ${variants})
endfunction()

lorekeep_add_llama_cpp()

add_library(lorekeep_llama_cpp INTERFACE)
target_include_directories(lorekeep_llama_cpp SYSTEM INTERFACE
  "${LOREKEEP_VENDOR}/llama.cpp/include" "${LOREKEEP_VENDOR}/llama.cpp/ggml/include")
target_link_libraries(lorekeep_llama_cpp INTERFACE llama ggml ggml-base)

# Writes the addon beside the libraries, where it finds them, and the production edition's addon into production/.
# Deferred until the including folder has defined them.
function(lorekeep_finish_addon)
  set_target_properties(lorekeep PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY "${LOREKEEP_OUTPUT}" RUNTIME_OUTPUT_DIRECTORY "${LOREKEEP_OUTPUT}")
  set_target_properties(lorekeep_production PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY "${LOREKEEP_OUTPUT}/production" RUNTIME_OUTPUT_DIRECTORY "${LOREKEEP_OUTPUT}/production")
  foreach(target lorekeep lorekeep_production)
    # Both editions have one name, and so would their import libraries on Windows.
    set_target_properties(${target} PROPERTIES ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/imports/${target}"
      BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${LOREKEEP_RPATH}")
    lorekeep_prefer_own_folder(${target})
  endforeach()
  foreach(kind NATIVE ALL)
    get_property(targets GLOBAL PROPERTY LOREKEEP_FILES_${kind})
    set(lines "$<TARGET_FILE:lorekeep>\n")
    foreach(target IN LISTS targets)
      string(APPEND lines "$<TARGET_FILE:${target}>\n")
    endforeach()
    string(TOLOWER ${kind} kind)
    file(GENERATE OUTPUT "${CMAKE_BINARY_DIR}/lorekeep-files-${kind}.txt" CONTENT "${lines}")
  endforeach()
endfunction()
cmake_language(DEFER CALL lorekeep_finish_addon)

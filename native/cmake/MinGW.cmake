# Import libraries that MinGW lacks. Included after project().

find_program(LOREKEEP_DLLTOOL x86_64-w64-mingw32-dlltool REQUIRED)

# lorekeep_import_library(OUT definitions.def DLL [DELAYED]): an import library of a DLL from a list of its functions.
# DELAYED: looked up at the first call of one.
function(lorekeep_import_library out definitions dll)
  get_filename_component(name "${definitions}" NAME_WE)
  set(library "${CMAKE_BINARY_DIR}/imports/lib${name}.a")
  file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/imports")
  set(kind --output-lib)
  if("DELAYED" IN_LIST ARGN)
    set(kind --output-delaylib)
  endif()
  execute_process(COMMAND "${LOREKEEP_DLLTOOL}" --input-def "${definitions}" --dllname ${dll} ${kind} "${library}"
    COMMAND_ERROR_IS_FATAL ANY)
  set(${out} "${library}" PARENT_SCOPE)
endfunction()

# MinGW's own exp, pow and others depend on the control word of the x87, which differs between threads by who started them,
# so that results differed in their last digit. Windows' mathematics gives all threads the same.
lorekeep_import_library(mathematics "${CMAKE_CURRENT_LIST_DIR}/windows_mathematics.def" ucrtbase.dll)
foreach(language C CXX)
  set(CMAKE_${language}_STANDARD_LIBRARIES "${mathematics} ${CMAKE_${language}_STANDARD_LIBRARIES}")
endforeach()

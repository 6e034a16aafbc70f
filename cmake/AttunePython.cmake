# The Python package: one extension module against CPython's limited API (3.9), so that one file serves all versions. It
# sees the inside of the library, as the program does, and takes the static one; nothing of that is visible outside.
set(ATTUNE_PYTHON AUTO CACHE STRING "Build the Python module: ON, OFF, or AUTO where Python's headers are here")
set_property(CACHE ATTUNE_PYTHON PROPERTY STRINGS AUTO ON OFF)
# A sanitizer's runtime would have to be loaded before the interpreter; what is cross built has no interpreter here.
if(ATTUNE_PYTHON STREQUAL "AUTO" AND (ATTUNE_SANITIZE OR CMAKE_CROSSCOMPILING))
  return()
endif()
if(NOT ATTUNE_PYTHON)
  return()
endif()
if(ATTUNE_PYTHON STREQUAL "AUTO")
  find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module)
else()
  find_package(Python 3.9 REQUIRED COMPONENTS Interpreter Development.Module)
endif()
if(NOT Python_Development.Module_FOUND)
  message(STATUS "Python's headers are not here, so its module is not built; 'tools/setup test' installs them")
  return()
endif()

file(GLOB ATTUNE_PYTHON_SOURCES CONFIGURE_DEPENDS python/src/*.c)
add_library(attune_python MODULE ${ATTUNE_PYTHON_SOURCES})
target_include_directories(attune_python SYSTEM PRIVATE ${Python_INCLUDE_DIRS})
target_compile_definitions(attune_python PRIVATE Py_LIMITED_API=0x03090000)
target_link_libraries(attune_python PRIVATE attune_static attune_flags)
target_link_options(attune_python PRIVATE -Wl,--exclude-libs,ALL)
set_target_properties(attune_python PROPERTIES PREFIX "" OUTPUT_NAME _attune SUFFIX .abi3.so
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/attune)

# build/python is the package as it will be installed: PYTHONPATH=build/python.
file(GLOB ATTUNE_PYTHON_FILES CONFIGURE_DEPENDS python/attune/*.py python/attune/*.pyi python/attune/py.typed)
set(copies "")
foreach(source ${ATTUNE_PYTHON_FILES})
  cmake_path(GET source FILENAME name)
  set(copy ${PROJECT_BINARY_DIR}/python/attune/${name})
  add_custom_command(OUTPUT ${copy} COMMAND ${CMAKE_COMMAND} -E copy ${source} ${copy} DEPENDS ${source} VERBATIM)
  list(APPEND copies ${copy})
endforeach()
add_custom_target(python ALL DEPENDS ${copies} attune_python attune_program)

# What pip takes; the rest of the tree is left to `make install`.
install(TARGETS attune_python LIBRARY DESTINATION attune COMPONENT python EXCLUDE_FROM_ALL)
install(TARGETS attune_program RUNTIME DESTINATION attune/bin COMPONENT python EXCLUDE_FROM_ALL)

# Variants of the shipped kernels, those of shipped programs too, compiled into the library for any CPU of the architecture: what the host runs where
# there is no compiler. Two steps: a program made of the library's own objects writes their C, which joins the library.
set(ATTUNE_BUILTIN_DIR ${CMAKE_CURRENT_BINARY_DIR}/compiled_in)
set(ATTUNE_NO_BUILTINS ${CMAKE_CURRENT_SOURCE_DIR}/tools/compiled_in/none.c)
add_library(attune_builtins OBJECT)
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(STATUS "no kernels are compiled into the library: what writes them cannot run here (cross-compiling)")
  target_sources(attune_builtins PRIVATE ${ATTUNE_NO_BUILTINS})
  target_link_libraries(attune_builtins PRIVATE attune_flags attune_dependencies)
  return()
endif()

set(wanted "")
set(sources "")
foreach(file ${ATTUNE_KERNELS} ${ATTUNE_PROGRAMS})
  cmake_path(GET file STEM name)
  file(READ ${file} text)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  string(REGEX MATCHALL "(^|\n)kernel " steps "${text}")
  list(LENGTH steps count)
  if(file IN_LIST ATTUNE_KERNELS AND text MATCHES "(^|\n)program ") # one kernel, made of those of its steps
    set(count 1)
  elseif(count EQUAL 0) # a program of shipped kernels
    continue()
  endif()
  math(EXPR last "${count} - 1")
  set(types as_described)
  if(text MATCHES "[ (]T[,) \n]")
    set(types SP DP SP2 DP2)
  endif()
  if(text MATCHES "\n    real *\n" OR file IN_LIST ATTUNE_PROGRAMS) # never complex
    list(REMOVE_ITEM types SP2 DP2)
  endif()
  foreach(type ${types})
    foreach(step RANGE ${last})
      list(APPEND wanted ${name}:${type}:${step})
      list(APPEND sources ${ATTUNE_BUILTIN_DIR}/${name}_${type}_${step}.c)
    endforeach()
  endforeach()
endforeach()

add_executable(attune_compile_in tools/compiled_in/make.c ${ATTUNE_NO_BUILTINS} $<TARGET_OBJECTS:attune_objects>)
target_link_libraries(attune_compile_in PRIVATE attune_flags attune_dependencies)
set_target_properties(attune_compile_in PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${ATTUNE_BUILTIN_DIR})
file(MAKE_DIRECTORY ${ATTUNE_BUILTIN_DIR})
# The files keep their time where they do not change, so only a mark of the whole is newer than what made it.
add_custom_command(OUTPUT ${ATTUNE_BUILTIN_DIR}/made BYPRODUCTS ${sources} ${ATTUNE_BUILTIN_DIR}/table.c
  COMMAND attune_compile_in ${ATTUNE_BUILTIN_DIR} ${wanted} COMMAND ${CMAKE_COMMAND} -E touch ${ATTUNE_BUILTIN_DIR}/made
  DEPENDS attune_compile_in COMMENT "Writing the kernels that are compiled in" VERBATIM)
add_custom_target(attune_builtin_sources DEPENDS ${ATTUNE_BUILTIN_DIR}/made)

# As generated code is compiled at run time (src/device/host_build.c), but for any CPU: see FLAGS there.
target_sources(attune_builtins PRIVATE ${sources} ${ATTUNE_BUILTIN_DIR}/table.c)
add_dependencies(attune_builtins attune_builtin_sources)
set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS
                            "-std=gnu17;-O3;-w;-fno-math-errno;-fno-trapping-math;-ffp-contract=fast;-fwrapv;-fsigned-char")
target_include_directories(attune_builtins PRIVATE src include ${CMAKE_CURRENT_BINARY_DIR}/include)

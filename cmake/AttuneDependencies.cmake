# What attune is built on. Required: a C compiler, threads, dlopen, xxHash, jansson, expat, SQLite, zlib. All else is used where it is
# found and named in the summary. OpenCL and CUDA are loaded at run time and never needed here.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

add_library(attune_dependencies INTERFACE)
target_link_libraries(attune_dependencies INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)

find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED) # used as a header only
target_include_directories(attune_dependencies SYSTEM INTERFACE $<BUILD_INTERFACE:${XXHASH_INCLUDE_DIR}>)

# attune_use(NAME module REQUIRED|OPTIONAL why): links a pkg-config module, defines ATN_HAVE_NAME.
set(ATTUNE_SUMMARY "")
function(attune_use name module need why)
  pkg_check_modules(${name} QUIET IMPORTED_TARGET ${module})
  if(${name}_FOUND)
    target_link_libraries(attune_dependencies INTERFACE PkgConfig::${name})
    target_compile_definitions(attune_dependencies INTERFACE ATN_HAVE_${name}=1)
    set(line "${module} ${${name}_VERSION}")
    set_property(GLOBAL APPEND PROPERTY ATTUNE_REQUIRES ${module})
    set_property(GLOBAL APPEND PROPERTY ATTUNE_LINK_FLAGS ${${name}_LDFLAGS})
  elseif(need STREQUAL REQUIRED)
    message(FATAL_ERROR "attune needs ${module} (${why}); 'tools/setup' installs it")
  else()
    set(line "${module} not found (${why})")
  endif()
  set(ATTUNE_SUMMARY "${ATTUNE_SUMMARY}\n  ${line}" PARENT_SCOPE)
endfunction()

attune_use(EXPAT expat REQUIRED "reads kernel descriptions")
attune_use(JANSSON jansson REQUIRED "reads and writes JSON")
attune_use(SQLITE sqlite3 REQUIRED "keeps what was measured")
attune_use(ZLIB zlib REQUIRED "reads recorded spaces, which come packed")
attune_use(PNG libpng OPTIONAL "reads PNG images")
attune_use(TIFF libtiff-4 OPTIONAL "reads TIFF images")

# LZF comes without a pkg-config file in most releases.
find_path(LZF_INCLUDE_DIR lzf.h PATH_SUFFIXES liblzf)
find_library(LZF_LIBRARY lzf)
mark_as_advanced(LZF_INCLUDE_DIR LZF_LIBRARY)
if(LZF_INCLUDE_DIR AND LZF_LIBRARY)
  target_include_directories(attune_dependencies SYSTEM INTERFACE $<BUILD_INTERFACE:${LZF_INCLUDE_DIR}>)
  target_link_libraries(attune_dependencies INTERFACE ${LZF_LIBRARY})
  target_compile_definitions(attune_dependencies INTERFACE ATN_HAVE_LZF=1)
  set_property(GLOBAL APPEND PROPERTY ATTUNE_LINK_FLAGS -llzf)
  string(APPEND ATTUNE_SUMMARY "\n  liblzf")
else()
  string(APPEND ATTUNE_SUMMARY "\n  liblzf not found (reads compressed PCD files)")
endif()

message(STATUS "attune ${PROJECT_VERSION} for ${CMAKE_SYSTEM_PROCESSOR}, ${CMAKE_BUILD_TYPE}, with:${ATTUNE_SUMMARY}")

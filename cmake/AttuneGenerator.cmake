# The generator's version: a hash over the sources of lowering and rendering, their preludes among them, so that nobody has
# to remember raising a number. Included, it leaves the C file that holds it in ATTUNE_GENERATOR_TABLE; run as a script (cmake -P) it
# writes OUTPUT.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  file(GLOB generator_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/lower/*.[ch]
       ${CMAKE_CURRENT_SOURCE_DIR}/src/render/*.[ch] ${CMAKE_CURRENT_SOURCE_DIR}/src/render/prelude/*.h)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/generator_version.c)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} "-DFILES=${generator_sources}" -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS ${generator_sources} ${CMAKE_CURRENT_LIST_FILE} COMMENT "Hashing the generator" VERBATIM)
  set(ATTUNE_GENERATOR_TABLE ${output})
  return()
endif()

set(hashes "")
foreach(file ${FILES})
  file(SHA256 ${file} hash)
  string(APPEND hashes ${hash})
endforeach()
string(SHA256 hash "${hashes}")
string(SUBSTRING ${hash} 0 16 version)
file(WRITE ${OUTPUT} "/* Made by the build from src/lower and src/render; do not edit. */
#include \"tune/key.h\"

const char ATN_GENERATOR_VERSION[] = \"${version}\";
")

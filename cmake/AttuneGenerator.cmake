# The version of the generator: a hash of the sources of lowering and rendering, including their preludes, so that nobody has to
# remember to raise a number. Comments and layout do not count: rewording one invalidates no measurement. Included, this file sets
# ATTUNE_GENERATOR_TABLE to the C file that contains the version; run as a script (cmake -P), it writes OUTPUT.
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
  file(READ ${file} text)
  # What is in quotes is kept as it is: /* in a string begins no comment.
  string(REGEX REPLACE [[(/\*[^*]*\*+([^/*][^*]*\*+)*/)*("([^"\]|\\.)*"|'([^'\]|\\.)*'|[^"'/]+|/)]] "\\3" text "${text}")
  string(REGEX REPLACE "\n//[^=\n][^\n]*" "" text "\n${text}")
  string(REGEX REPLACE "[ \t\n]+" " " text "${text}")
  string(SHA256 hash "${text}")
  string(APPEND hashes ${hash})
endforeach()
string(SHA256 hash "${hashes}")
string(SUBSTRING ${hash} 0 16 version)
file(WRITE ${OUTPUT} "/* Made by the build from src/lower and src/render; do not edit. */
#include \"tune/key.h\"

const char ATN_GENERATOR_VERSION[] = \"${version}\";
")

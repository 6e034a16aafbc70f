# The shipped spaces, spaces/*.lanai, as a table in C: the library needs no file at run time. Included, it makes the rule;
# run as a script (cmake -P) it writes OUTPUT.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  file(GLOB ATTUNE_SPACES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/spaces/*.lanai)
  set(ATTUNE_SPACE_TABLE ${CMAKE_CURRENT_BINARY_DIR}/shipped_spaces.c)
  add_custom_command(OUTPUT ${ATTUNE_SPACE_TABLE}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${ATTUNE_SPACE_TABLE} "-DSPACES=${ATTUNE_SPACES}" -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS ${ATTUNE_SPACES} ${CMAKE_CURRENT_LIST_FILE} COMMENT "Embedding the spaces" VERBATIM)
  return()
endif()

set(table "")
foreach(file ${SPACES})
  cmake_path(GET file STEM name)
  file(READ ${file} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  string(APPEND table "    {\"${name}\",\n     \"${text}\"},\n")
endforeach()
file(WRITE ${OUTPUT} "/* Made by the build from the files in spaces; do not edit. */
#include \"space/shipped.h\"

const atn_shipped_space ATN_SHIPPED_SPACES[] = {
${table}    {0},
};
")

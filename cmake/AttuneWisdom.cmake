# The shipped wisdom, wisdom/*.json, as a table in C: the library needs no file at run time. There may be none. Included,
# it makes the rule; run as a script (cmake -P) it writes OUTPUT.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  file(GLOB ATTUNE_WISDOM CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/wisdom/*.json)
  set(ATTUNE_WISDOM_TABLE ${CMAKE_CURRENT_BINARY_DIR}/shipped_wisdom.c)
  add_custom_command(OUTPUT ${ATTUNE_WISDOM_TABLE}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${ATTUNE_WISDOM_TABLE} "-DFILES=${ATTUNE_WISDOM}" -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS ${ATTUNE_WISDOM} ${CMAKE_CURRENT_LIST_FILE} COMMENT "Embedding the wisdom" VERBATIM)
  return()
endif()

set(table "")
foreach(file ${FILES})
  cmake_path(GET file STEM name)
  file(READ ${file} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  string(APPEND table "    {\"${name}\",\n     \"${text}\"},\n")
endforeach()
file(WRITE ${OUTPUT} "/* Made by the build from the files in wisdom; do not edit. */
#include \"wisdom/shipped.h\"

const atn_shipped_wisdom ATN_SHIPPED_WISDOM[] = {
${table}    {0},
};
")

# The shipped descriptions, kernels/*.xml, as a table in C: the library needs no file at run time. Included, it makes the
# rule; run as a script (cmake -P) it writes OUTPUT.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  file(GLOB ATTUNE_KERNELS CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/kernels/*.xml)
  set(ATTUNE_KERNEL_TABLE ${CMAKE_CURRENT_BINARY_DIR}/shipped_kernels.c)
  add_custom_command(OUTPUT ${ATTUNE_KERNEL_TABLE}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${ATTUNE_KERNEL_TABLE} "-DKERNELS=${ATTUNE_KERNELS}" -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS ${ATTUNE_KERNELS} ${CMAKE_CURRENT_LIST_FILE} COMMENT "Embedding the kernels" VERBATIM)
  return()
endif()

set(table "")
foreach(file ${KERNELS})
  cmake_path(GET file STEM name)
  file(READ ${file} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  string(APPEND table "    {\"${name}\",\n     \"${text}\"},\n")
endforeach()
file(WRITE ${OUTPUT} "/* Made by the build from the descriptions in kernels; do not edit. */
#include \"graph/shipped.h\"

const atn_shipped ATN_SHIPPED[] = {
${table}    {0},
};
")

# Shipped files as tables in C: the library needs none of them at run time. Included, it makes the function; run as a
# script (cmake -P) it writes OUTPUT.
#
# attune_embed(NAME PATTERN HEADER TABLE): what matches PATTERN, and there may be nothing, becomes `const atn_embedded TABLE[]`
# (base/embedded.h), rows of a stem and a text with a row of zeros at the end, which HEADER declares. Of C, lines
# that begin with // are comments and left out, and a line `//= MACRO` stands for the text that MACRO of HEADER is. The
# files are left in NAME, the C file in NAME_TABLE.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(ATTUNE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
  function(attune_embed name pattern header table)
    file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${pattern})
    cmake_path(GET pattern PARENT_PATH folder)
    string(REPLACE "/" "_" stem ${folder})
    set(output ${CMAKE_CURRENT_BINARY_DIR}/shipped_${stem}.c)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFOLDER=${folder} -DHEADER=${header} -DTABLE=${table}
              "-DFILES=${files}" -P ${ATTUNE_EMBED_SCRIPT}
      DEPENDS ${files} ${ATTUNE_EMBED_SCRIPT} COMMENT "Embedding ${pattern}" VERBATIM)
    set(${name} ${files} PARENT_SCOPE)
    set(${name}_TABLE ${output} PARENT_SCOPE)
  endfunction()
  return()
endif()

set(rows "")
foreach(file ${FILES})
  cmake_path(GET file STEM name)
  file(READ ${file} text)
  if(file MATCHES "\\.h$")
    string(REGEX REPLACE "\n//[^=\n][^\n]*" "" text "\n${text}")
    string(SUBSTRING "${text}" 1 -1 text)
  endif()
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  string(REGEX REPLACE "\"//= ([A-Z_]+)[^\n]*" "\\1" text "\"${text}\"")
  string(APPEND rows "    {\"${name}\",\n     ${text}},\n")
endforeach()
file(WRITE ${OUTPUT} "/* Made by the build from the files in ${FOLDER}; do not edit. */
#include \"${HEADER}\"

const atn_embedded ${TABLE}[] = {
${rows}    {0},
};
")

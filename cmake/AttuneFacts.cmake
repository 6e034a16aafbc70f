# What the kernels' own files say of their use, as tables in C. Included, it makes the function attune_facts(PREFIX FILES),
# which leaves the C file in ATTUNE_PREFIXFACTS_TABLE; run as a script (cmake -P) it writes OUTPUT. A prefix is that of the
# table of shapes, and the only one then. The lines are those that src/graph/notation_fact.c checks.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(ATTUNE_FACTS_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
  function(attune_facts prefix)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/shipped_${prefix}facts.c)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DPREFIX=${prefix} "-DFILES=${ARGN}" -P ${ATTUNE_FACTS_SCRIPT}
      DEPENDS ${ARGN} ${ATTUNE_FACTS_SCRIPT} COMMENT "Reading what kernels say of their use" VERBATIM)
    set(ATTUNE_${prefix}FACTS_TABLE ${output} PARENT_SCOPE)
  endfunction()
  return()
endif()

set(sets "")
set(against "")
set(seeds "")
set(tried "")
foreach(file ${FILES})
  cmake_path(GET file STEM name)
  file(STRINGS ${file} lines REGEX "^    (tuned|measured|begin|try) ")
  foreach(line IN LISTS lines)
    if(line MATCHES "measured against ([a-z]+)")
      string(APPEND against "    {\"${name}\", \"${CMAKE_MATCH_1}\"},\n")
      continue()
    endif()
    if(line MATCHES "begin on ([a-z]+) (as ([HSD]P) )?with ([^ #]+)")
      set(type NULL)
      if(CMAKE_MATCH_3)
        set(type "\"${CMAKE_MATCH_3}\"")
      endif()
      string(APPEND seeds "    {\"${name}\", ${type}, \"${CMAKE_MATCH_1}\", \"${CMAKE_MATCH_4}\"},\n")
      continue()
    endif()
    if(line MATCHES "^    try with ([^#]+)")
      string(REGEX MATCHALL "[A-Za-z0-9_]+=[-+.0-9e]+" values "${CMAKE_MATCH_1}")
      foreach(value ${values})
        string(REPLACE "=" "\", " value "${value}")
        string(APPEND tried "    {\"${name}\", \"${value}},\n")
      endforeach()
      continue()
    endif()
    set(where NULL)
    set(range 0)
    set(type NULL)
    if(line MATCHES " on (cpu|gpu) ")
      set(where "\"${CMAKE_MATCH_1}\"")
    endif()
    if(line MATCHES " as ([HSD]P) at ")
      set(type "\"${CMAKE_MATCH_1}\"")
    endif()
    if(line MATCHES "ranges of ([0-9]+)")
      set(range ${CMAKE_MATCH_1})
    endif()
    string(REGEX MATCHALL "[A-Za-z0-9_]+=[0-9x]+" sizes "${line}")
    list(JOIN sizes "\", \"" sizes)
    string(APPEND sets "    {\"${name}\", ${where}, ${type}, {\"${sizes}\"}, ${range}},\n")
  endforeach()
endforeach()
set(shapes "const atn_set ATN_${PREFIX}SETS[] = {
${sets}    {0},
};
")
if(PREFIX)
  file(WRITE ${OUTPUT} "/* Made by the build from the files of kernels; do not edit. */
#include \"bench/estimate.h\"

${shapes}")
  return()
endif()
file(WRITE ${OUTPUT} "/* Made by the build from the files in kernels; do not edit. */
#include \"tune/seeds.h\"
#include \"tune/sets.h\"

${shapes}
const atn_against ATN_AGAINST[] = {
${against}    {0},
};

const atn_seed ATN_SEEDS[] = {
${seeds}    {0},
};

const atn_tried ATN_TRIED[] = {
${tried}    {0},
};
")

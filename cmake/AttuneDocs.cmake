# The manual page and the completions for bash, zsh and fish: printed by the program itself, from the same tables as its help.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(STATUS "attune cannot run here, so its manual page and completion are not made")
  return()
endif()

foreach(pair "man;attune.1" "completion bash;attune.bash" "completion zsh;attune.zsh" "completion fish;attune.fish")
  list(GET pair 0 verb)
  separate_arguments(verb)
  list(GET pair 1 file)
  # written aside first: a failed run leaves no half of a file behind
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/${file}
    COMMAND attune_program ${verb} > ${PROJECT_BINARY_DIR}/${file}.part
    COMMAND ${CMAKE_COMMAND} -E rename ${PROJECT_BINARY_DIR}/${file}.part ${PROJECT_BINARY_DIR}/${file}
    DEPENDS attune_program COMMENT "Making ${file}" VERBATIM)
  list(APPEND ATTUNE_DOCS ${PROJECT_BINARY_DIR}/${file})
endforeach()
add_custom_target(attune_docs ALL DEPENDS ${ATTUNE_DOCS})

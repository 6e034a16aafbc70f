# Tests that are scripts: the house itself, and the Python package. Each counts one, but for the package, whose tests count.
function(attune_script_test name)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300)
endfunction()

set(here ${CMAKE_CURRENT_SOURCE_DIR})
attune_script_test(structure/tree sh ${here}/structure/check.sh ${PROJECT_SOURCE_DIR})
attune_script_test(structure/circles sh ${here}/structure/circles.sh ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
set_tests_properties(structure/circles PROPERTIES SKIP_RETURN_CODE 77)
attune_script_test(structure/planted sh ${here}/structure/selfcheck.sh ${here}/structure/check.sh)
attune_script_test(house/setup sh ${here}/house/setup.sh ${PROJECT_SOURCE_DIR}/tools/setup)
attune_script_test(house/arch sh ${here}/house/arch.sh ${PROJECT_SOURCE_DIR}/tools)
set_tests_properties(house/arch PROPERTIES SKIP_RETURN_CODE 77)
attune_script_test(house/presets sh ${here}/house/presets.sh ${PROJECT_SOURCE_DIR} ${CMAKE_COMMAND})
attune_script_test(house/generator sh ${here}/house/generator.sh ${PROJECT_SOURCE_DIR}/cmake/AttuneGenerator.cmake ${CMAKE_COMMAND})
attune_script_test(house/lint sh ${here}/house/lint.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
set_tests_properties(house/lint PROPERTIES SKIP_RETURN_CODE 77)
attune_script_test(house/count sh ${here}/house/count.sh ${PROJECT_SOURCE_DIR}/tools/run-tests)
attune_script_test(python/package bash ${here}/python.sh ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
set_tests_properties(python/package PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
attune_script_test(house/picture sh -c "command -v python3 >/dev/null || exit 77; python3 tools/draw-architecture --check . && exec python3 tools/draw-precision --check .")
set_tests_properties(house/picture PROPERTIES SKIP_RETURN_CODE 77 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
attune_script_test(abi/symbols sh ${here}/abi/symbols.sh ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
set_tests_properties(abi/symbols PROPERTIES SKIP_RETURN_CODE 77)
attune_script_test(house/readme bash ${here}/readme.sh ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
attune_script_test(browser/pages bash ${here}/browser.sh ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
set_tests_properties(browser/pages PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
attune_script_test(cli/process bash ${here}/cli/process.sh ${PROJECT_BINARY_DIR})
attune_script_test(cli/several bash ${here}/cli/several.sh ${PROJECT_BINARY_DIR})
set_tests_properties(cli/several PROPERTIES SKIP_RETURN_CODE 77)
attune_script_test(kernel/oclgrind bash ${here}/kernel/oclgrind.sh ${PROJECT_BINARY_DIR}/tests)
attune_script_test(kernel/sanitizer bash ${here}/kernel/sanitizer.sh ${PROJECT_BINARY_DIR}/tests)
set_tests_properties(kernel/oclgrind kernel/sanitizer PROPERTIES SKIP_RETURN_CODE 77)

# Several ranks under mpirun: tests/ranks/NAME.sh is one each.
file(GLOB ranks CONFIGURE_DEPENDS ${here}/ranks/*.sh)
list(FILTER ranks EXCLUDE REGEX "/kit\\.sh$")
foreach(script ${ranks})
  cmake_path(GET script STEM name)
  attune_script_test(ranks/${name} bash ${script} ${PROJECT_BINARY_DIR})
  set_tests_properties(ranks/${name} PROPERTIES SKIP_RETURN_CODE 77)
endforeach()

# Attacks: tests/attack/NAME.sh is one each. A library loaded in front of the C library does not go with sanitizers.
file(GLOB attacks CONFIGURE_DEPENDS ${here}/attack/*.sh)
list(FILTER attacks EXCLUDE REGEX "/kit\\.sh$")
foreach(script ${attacks})
  cmake_path(GET script STEM name)
  attune_script_test(attack/${name} bash ${script} ${PROJECT_BINARY_DIR})
endforeach()
add_library(attack_no_threads MODULE ${here}/attack/no_threads.c)
target_link_libraries(attack_no_threads PRIVATE attune_flags ${CMAKE_DL_LIBS})
set_target_properties(attack_no_threads PROPERTIES C_VISIBILITY_PRESET default LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
if(ATTUNE_SANITIZE)
  set_tests_properties(attack/no_threads PROPERTIES DISABLED ON)
endif()

if(TARGET attune_docs)
  attune_script_test(cli/completion bash ${here}/cli/completion.sh ${PROJECT_BINARY_DIR})
  # the consumer is linked as the library was, or a sanitizer's runtime would be missing
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  separate_arguments(flags UNIX_COMMAND "-Wall ${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}}")
  if(ATTUNE_SANITIZE)
    list(APPEND flags -fsanitize=${ATTUNE_SANITIZE})
  endif()
  attune_script_test(install/consumer sh ${here}/install/check.sh ${PROJECT_BINARY_DIR} ${here}/install
                     ${CMAKE_C_COMPILER} ${flags})
  set_tests_properties(install/consumer PROPERTIES RUN_SERIAL ON)
  if(CMAKE_CROSSCOMPILING) # a consumer would need the cross build's sysroot and pkg-config settings as its own
    set_tests_properties(install/consumer PROPERTIES DISABLED ON)
  endif()
endif()

# With ATTUNE_TEST_ALL set it compiles and measures once for each allocation.
set_tests_properties(cli/faults PROPERTIES TIMEOUT 1800)

# The long ones begin first, so that none of them is alone at the end.
set_tests_properties(kernel/shipped kernel/random_host kernel/integers_host kernel/oclgrind cli/faults apps/register/search python/package PROPERTIES COST 100)

# With ATTUNE_TEST_ALL set they build 2000 kernels each.
set_tests_properties(kernel/integers_host kernel/integers_opencl kernel/integers_cuda PROPERTIES TIMEOUT 7200)

# They race against limits of time, or count what a kill leaves.
set_tests_properties(tune/planted tune/resume tune/session PROPERTIES RUN_SERIAL ON)

# Builds each operation as several variants on each device.
set_tests_properties(kernel/operations PROPERTIES TIMEOUT 1200)

# The thread sanitizer knows nothing of code built at run time: what these do by way of
# memcpy and the like would look like races to it.
if(ATTUNE_SANITIZE MATCHES thread)
  get_property(all DIRECTORY PROPERTY TESTS)
  foreach(test ${all})
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT TSAN_OPTIONS=ignore_noninstrumented_modules=1)
  endforeach()
endif()

# An emulator takes ten times as long, or more.
if(CMAKE_CROSSCOMPILING)
  get_property(all DIRECTORY PROPERTY TESTS)
  foreach(test ${all})
    set_tests_properties(${test} PROPERTIES TIMEOUT 9000)
  endforeach()
endif()

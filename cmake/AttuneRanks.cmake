# Several ranks through MPI: a module that the program loads where mpirun or srun started it (src/ranks/join.c), so that who
# works alone never loads MPI. Open MPI or MPICH, whichever mpicc belongs to; attune works without.
find_package(MPI QUIET COMPONENTS C)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_FULL_BINDIR} OUTPUT_VARIABLE modules_folder)
set_source_files_properties(src/ranks/join.c PROPERTIES COMPILE_DEFINITIONS ATN_MODULES_FROM_PROGRAM="${modules_folder}/attune")
if(MPI_C_FOUND AND NOT CMAKE_CROSSCOMPILING)
  add_library(attune_mpi MODULE src/ranks/mpi.c)
  set_target_properties(attune_mpi PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  target_include_directories(attune_mpi SYSTEM PRIVATE ${MPI_C_INCLUDE_DIRS})
  target_link_libraries(attune_mpi PRIVATE attune_flags MPI::MPI_C)
  add_custom_command(TARGET attune_mpi POST_BUILD COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/tests
                     COMMAND ${CMAKE_COMMAND} -E create_symlink ../attune_mpi.so ${CMAKE_BINARY_DIR}/tests/attune_mpi.so)
  install(TARGETS attune_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/attune)
  message(STATUS "ranks through MPI ${MPI_C_VERSION}")
else()
  message(STATUS "MPI is not here: attune works alone; 'tools/setup' installs it")
endif()

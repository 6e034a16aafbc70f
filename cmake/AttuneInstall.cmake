# cmake --install: headers, both libraries, the program with its manual page and completion, and the two ways in
# which others find the library: pkg-config and find_package. Both follow the prefix wherever it is moved.
include(CMakePackageConfigHelpers)
set(ATTUNE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/attune)
get_property(ATTUNE_REQUIRES GLOBAL PROPERTY ATTUNE_REQUIRES)

install(DIRECTORY include/attune TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/include/attune/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/attune)
install(TARGETS attune_program)
if(TARGET attune_docs)
  install(FILES ${PROJECT_BINARY_DIR}/attune.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${PROJECT_BINARY_DIR}/attune.bash RENAME attune
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${PROJECT_BINARY_DIR}/attune.zsh RENAME _attune DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${PROJECT_BINARY_DIR}/attune.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# Who links the static library needs what it is built on. attuneConfig.cmake makes these targets.
target_link_libraries(attune_static INTERFACE $<INSTALL_INTERFACE:Threads::Threads> ${CMAKE_DL_LIBS} m)
foreach(module ${ATTUNE_REQUIRES})
  target_link_libraries(attune_static INTERFACE $<INSTALL_INTERFACE:PkgConfig::attune_${module}>)
endforeach()
if(LZF_INCLUDE_DIR AND LZF_LIBRARY)
  target_link_libraries(attune_static INTERFACE $<INSTALL_INTERFACE:lzf>)
endif()

# Two sets, so that the shared library can be used where the others' development files are not installed.
foreach(target shared static)
  install(TARGETS attune_${target} EXPORT attune-${target})
  install(EXPORT attune-${target} NAMESPACE attune:: DESTINATION ${ATTUNE_CMAKE_DIR})
endforeach()
configure_package_config_file(cmake/attuneConfig.cmake.in ${PROJECT_BINARY_DIR}/attuneConfig.cmake
                              INSTALL_DESTINATION ${ATTUNE_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/attuneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/attuneConfig.cmake ${PROJECT_BINARY_DIR}/attuneConfigVersion.cmake
        DESTINATION ${ATTUNE_CMAKE_DIR})

cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
           OUTPUT_VARIABLE ATTUNE_PC_PREFIX)
# Flags rather than Requires.private: the static libattune.a links the others' shared libraries, and pkg-config
# --static would ask for what their static ones are built on as well.
get_property(ATTUNE_LINK_FLAGS GLOBAL PROPERTY ATTUNE_LINK_FLAGS)
list(JOIN ATTUNE_LINK_FLAGS " " ATTUNE_PC_FLAGS)
configure_file(cmake/attune.pc.in attune.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/attune.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

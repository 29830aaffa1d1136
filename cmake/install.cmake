# The library, its headers, the command, a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)

install(TARGETS dkmap EXPORT dkmap-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS dkmap_mpi_profiler LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT command)
install(TARGETS dkmap_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
install(DIRECTORY include/dkmap DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/dkmap)
install(EXPORT dkmap-targets NAMESPACE dkmap:: DESTINATION ${package_dir})
# A program that links the static library links what that is built on too.
if(BUILD_SHARED_LIBS)
  set(DKMAP_STATIC OFF)
else()
  set(DKMAP_STATIC ON)
endif()
configure_package_config_file(cmake/dkmapConfig.cmake.in dkmapConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(dkmapConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/dkmapConfig.cmake ${PROJECT_BINARY_DIR}/dkmapConfigVersion.cmake
  DESTINATION ${package_dir})

# The file finds its prefix from where it stands, so that an installed tree can be moved.
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_to_prefix /prefix/${pc_dir} /prefix)
set(DKMAP_PC_REQUIRES)
set(DKMAP_PC_LIBS)
if(DKMAP_STATIC)
  list(JOIN DKMAP_PC_MODULES " " DKMAP_PC_REQUIRES)
  foreach(library ${DKMAP_PC_LIBRARIES})
    string(APPEND DKMAP_PC_LIBS " ${library}")
  endforeach()
  set(DKMAP_PC_REQUIRES "Requires.private: ${DKMAP_PC_REQUIRES}")
  set(DKMAP_PC_LIBS "Libs.private:${DKMAP_PC_LIBS}")
endif()
configure_file(cmake/dkmap.pc.in dkmap.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/dkmap.pc DESTINATION ${pc_dir})

# Manual pages and completion are made from the command's own tables.
set(manual_dir ${PROJECT_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${manual_dir}/dkmap.bash
  COMMAND ${CMAKE_COMMAND} -DDKMAP=$<TARGET_FILE:dkmap_command> -DDIR=${manual_dir}
    -P ${PROJECT_SOURCE_DIR}/cmake/manual.cmake
  DEPENDS dkmap_command ${PROJECT_SOURCE_DIR}/cmake/manual.cmake
  COMMENT "Writing manual pages" VERBATIM)
add_custom_target(manual ALL DEPENDS ${manual_dir}/dkmap.bash)
# A build of the library and the command alone has no pages, and installs none.
install(DIRECTORY ${manual_dir}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
install(FILES ${manual_dir}/dkmap.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME dkmap OPTIONAL)

# The job scripts that do not build anything. They find the command in PATH.
set(jobs_dir ${CMAKE_INSTALL_DATADIR}/dkmap/jobs)
install(DIRECTORY jobs/slurm jobs/study DESTINATION ${jobs_dir} USE_SOURCE_PERMISSIONS)
install(FILES jobs/common.sh jobs/README.md DESTINATION ${jobs_dir})

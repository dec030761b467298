# Installed files: headers, libraries, programs, examples' sources, pkg-config and CMake package files.
include(CMakePackageConfigHelpers)
install(DIRECTORY include/cuzk DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS cuzk_shared cuzk_static
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(program cuzk cuzk-bench cuzk-daemon)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)
  endif()
endforeach()
install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

# What a static link needs besides the archive; the shared library brings its own. By name and not by Requires.private:
# that would ask for everything that a static hwloc needs.
set(CUZK_STATIC_LIBS "")
foreach(dep YAJL JANSSON HWLOC)
  if(${dep}_FOUND)
    list(APPEND CUZK_STATIC_LIBS ${${dep}_LIBRARIES})
  endif()
endforeach()
set(CUZK_PC_LIBS "")
foreach(library ${CUZK_STATIC_LIBS})
  string(APPEND CUZK_PC_LIBS " -l${library}")
endforeach()
configure_file(cmake/cuzk.pc.in ${CMAKE_BINARY_DIR}/cuzk.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/cuzk.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
configure_package_config_file(cmake/cuzk-config.cmake.in ${CMAKE_BINARY_DIR}/cuzk-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cuzk
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cuzk-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/cuzk-config.cmake ${CMAKE_BINARY_DIR}/cuzk-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cuzk)

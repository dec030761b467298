# Installed files: headers, libraries, programs, pkg-config and CMake package files.
install(DIRECTORY include/cuzk DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

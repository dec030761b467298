# The installed tree: headers alone suffice, pkg-config and find_package lead to the libraries, the examples run.
add_test(NAME install/examples COMMAND ${CMAKE_SOURCE_DIR}/tests/install/check.sh ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}
  ${CMAKE_COMMAND})
set_tests_properties(install/examples PROPERTIES LABELS install TIMEOUT 300)

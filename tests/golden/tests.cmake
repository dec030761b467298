# Production circuits against golden digests: minutes of one core and some GiB each, so label golden (ctest -L golden),
# one process a file: tests/golden/golden_X.c is the case golden/X. They run one after another.
file(GLOB CUZK_GOLDEN_TESTS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/golden/golden_*.c)
foreach(file ${CUZK_GOLDEN_TESTS})
  get_filename_component(name ${file} NAME_WE)
  string(REPLACE "golden_" "" case ${name})
  add_executable(${name} ${file})
  target_link_libraries(${name} PRIVATE cuzk_test_support PkgConfig::CMOCKA)
  target_include_directories(${name} PRIVATE tests)
  target_compile_definitions(${name} PRIVATE CUZK_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME golden/${case} COMMAND ${name})
  set_tests_properties(golden/${case} PROPERTIES LABELS golden TIMEOUT 3600 RUN_SERIAL ON)
endforeach()

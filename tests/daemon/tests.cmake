# The daemon from outside: node's test runner with @grpc/grpc-js. tests/daemon/X.test.mjs is the case daemon/X.
find_program(NODE node)
if(TARGET cuzk-daemon AND NODE)
  file(GLOB CUZK_DAEMON_TESTS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/daemon/*.test.mjs)
  foreach(file ${CUZK_DAEMON_TESTS})
    get_filename_component(case ${file} NAME)
    string(REPLACE ".test.mjs" "" case ${case})
    add_test(NAME daemon/${case} COMMAND ${NODE} --test --test-concurrency=1 ${file})
    set_tests_properties(daemon/${case} PROPERTIES FIXTURES_REQUIRED srs LABELS daemon TIMEOUT 1800
      ENVIRONMENT "${CUZK_TEST_ENV};CUZK_DAEMON=$<TARGET_FILE:cuzk-daemon>;CUZK_PROTO=${CMAKE_SOURCE_DIR}/proto/proving.proto")
  endforeach()
endif()

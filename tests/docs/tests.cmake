# The documents: every link resolves; the page of options is the daemon's own.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
add_test(NAME docs/links COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/scripts/check-links)
set_tests_properties(docs/links PROPERTIES LABELS docs TIMEOUT 60)
if(TARGET cuzk AND TARGET cuzk-daemon)
  add_test(NAME docs/configuration
    COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/scripts/make-config-docs $<TARGET_FILE:cuzk> --check)
  set_tests_properties(docs/configuration PROPERTIES LABELS docs TIMEOUT 60)
endif()
# The script behind the table of docs/performance-daemon.md: one of its options, with as little load as there can be.
if(TARGET cuzk-bench AND TARGET cuzk-daemon)
  add_test(NAME docs/interventions COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/scripts/interventions ${CMAKE_BINARY_DIR}
    --proofs 1 --rounds 1 --only scheduler.order --srs ${CUZK_TEST_SRS_DIR} --cache ${CUZK_TEST_CACHE_DIR})
  set_tests_properties(docs/interventions PROPERTIES FIXTURES_REQUIRED srs LABELS docs TIMEOUT 1800)
endif()

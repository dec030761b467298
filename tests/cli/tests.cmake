# The shell tool from outside: Python's unittest drives it over golden cases. The 2 KiB test SRS are made once.
if(TARGET cuzk)
  find_package(Python3 COMPONENTS Interpreter REQUIRED)
  # Another build's test SRS serve as well: sanitized programs take long to make them.
  set(CUZK_TEST_SRS_DIR ${CMAKE_BINARY_DIR}/test-srs CACHE PATH "Folder of the tests' SRS")
  set(CUZK_TEST_CACHE_DIR ${CMAKE_BINARY_DIR}/test-cache CACHE PATH "Folder of the tests' compiled circuits")
  set(CUZK_TEST_ENV
    CUZK=$<TARGET_FILE:cuzk>
    CUZK_TEST_DATA=${CMAKE_SOURCE_DIR}/tests/data
    CUZK_TEST_SRS=${CUZK_TEST_SRS_DIR}
    CUZK_TEST_CACHE=${CUZK_TEST_CACHE_DIR}
    CUZK_NODE_MODULES=${CMAKE_SOURCE_DIR}/node_modules
    PYTHONDONTWRITEBYTECODE=1)
  add_test(NAME cli/srs COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/cli/make_srs.py)
  set_tests_properties(cli/srs PROPERTIES FIXTURES_SETUP srs LABELS cli TIMEOUT 1800 RUN_SERIAL ON
    ENVIRONMENT "${CUZK_TEST_ENV}")
  foreach(case proofs tools edges circom doctor)
    add_test(NAME cli/${case} COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/cli/test_${case}.py)
    set_tests_properties(cli/${case} PROPERTIES FIXTURES_REQUIRED srs LABELS cli TIMEOUT 1800
      ENVIRONMENT "${CUZK_TEST_ENV}")
  endforeach()
endif()

# The engine and the store below the RPC layer: tests/engine/test_X.c is the ctest case engine/X. They prove real 2 KiB
# requests with the test SRS. CUZK_KILLS and CUZK_JOBS lengthen the endurance cases (200 and 10000 in the long run).
if(TARGET cuzk_engine AND TARGET cuzk_test_support)
  add_library(cuzk_engine_support STATIC ${CMAKE_SOURCE_DIR}/tests/engine/support.c
    ${CMAKE_SOURCE_DIR}/tests/engine/postgres_server.c)
  target_link_libraries(cuzk_engine_support PUBLIC cuzk_engine cuzk_test_support)
  target_include_directories(cuzk_engine_support PUBLIC ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(cuzk_engine_support PUBLIC CUZK_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data")
  file(GLOB CUZK_ENGINE_TESTS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/engine/test_*.c)
  foreach(file ${CUZK_ENGINE_TESTS})
    get_filename_component(name ${file} NAME_WE)
    string(REPLACE "test_" "" case ${name})
    add_executable(engine_${case} ${file})
    target_link_libraries(engine_${case} PRIVATE cuzk_engine_support)
    set_target_properties(engine_${case} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME engine/${case} COMMAND engine_${case})
    set_tests_properties(engine/${case} PROPERTIES FIXTURES_REQUIRED srs LABELS engine TIMEOUT 1800
      ENVIRONMENT "${CUZK_TEST_ENV}")
  endforeach()
endif()

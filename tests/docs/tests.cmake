# The documents: every link resolves; the page of options is the daemon's own.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
add_test(NAME docs/links COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/scripts/check-links)
set_tests_properties(docs/links PROPERTIES LABELS docs TIMEOUT 60)
if(TARGET cuzk AND TARGET cuzk-daemon)
  add_test(NAME docs/configuration
    COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/scripts/make-config-docs $<TARGET_FILE:cuzk> --check)
  set_tests_properties(docs/configuration PROPERTIES LABELS docs TIMEOUT 60)
endif()

# Sources that scripts write must be what the scripts write.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME generated/ifma COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/scripts/generate_ifma.py --check)
  set_tests_properties(generated/ifma PROPERTIES LABELS unit)
endif()

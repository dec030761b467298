# Debian packages of this build, installed into an empty root and purged.
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
if(TARGET cuzk-daemon AND TARGET cuzk-bench AND DPKG_SHLIBDEPS AND NOT CUZK_SANITIZE)
  add_test(NAME package/deb COMMAND sh ${CMAKE_SOURCE_DIR}/tests/package/check.sh ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  set_tests_properties(package/deb PROPERTIES LABELS install TIMEOUT 600)
endif()

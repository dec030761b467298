enable_language(CXX)
add_subdirectory(tests/emu)

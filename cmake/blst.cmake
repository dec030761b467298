# blst 0.3.12, portable build: assembly for x86-64 and ARMv8 that picks ADX at run time.
if(NOT EXISTS ${CUZK_BLST_DIR}/src/server.c)
  message(FATAL_ERROR "blst is missing at ${CUZK_BLST_DIR}: run 'npm ci --ignore-scripts' in ${CMAKE_SOURCE_DIR}, or pass -DCUZK_BLST_DIR=DIR")
endif()
add_library(blst OBJECT ${CUZK_BLST_DIR}/src/server.c ${CUZK_BLST_DIR}/build/assembly.S)
target_compile_definitions(blst PRIVATE __BLST_PORTABLE__)
target_compile_options(blst PRIVATE -O2 -fvisibility=hidden -w)
target_include_directories(blst SYSTEM INTERFACE ${CUZK_BLST_DIR}/bindings)

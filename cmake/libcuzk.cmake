# libcuzk: everything below the daemon. Needs blst and pthreads; libyajl for C1 documents, jansson for circom's JSON.
find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(YAJL IMPORTED_TARGET yajl)
  pkg_check_modules(JANSSON IMPORTED_TARGET jansson)
  pkg_check_modules(HWLOC IMPORTED_TARGET hwloc)
endif()

file(GLOB CUZK_LIB_SOURCES CONFIGURE_DEPENDS
  src/base/*.c src/field/*.c src/curve/*.c src/poly/*.c src/msm/*.c src/r1cs/*.c src/gadgets/*.c
  src/filecoin/*.c src/filecoin/circuits/*.c src/circom/*.c src/groth16/*.c src/backend/*.c src/backend/cpu/*.c
  src/api/*.c)
cuzk_isa_flags(${CUZK_LIB_SOURCES})
# One set of objects serves the static archive, the shared library and the tests.
add_library(cuzk_objects OBJECT ${CUZK_LIB_SOURCES})
target_link_libraries(cuzk_objects PUBLIC cuzk_flags Threads::Threads blst)
target_include_directories(cuzk_objects PUBLIC ${CMAKE_SOURCE_DIR}/include PUBLIC ${CMAKE_SOURCE_DIR}/src)
target_compile_definitions(cuzk_objects PUBLIC CUZK_VERSION="${PROJECT_VERSION}")
target_link_libraries(cuzk_objects PUBLIC m dl)
foreach(dep YAJL JANSSON HWLOC)
  if(${dep}_FOUND)
    target_link_libraries(cuzk_objects PUBLIC PkgConfig::${dep})
    target_compile_definitions(cuzk_objects PUBLIC CUZK_HAVE_${dep}=1)
  else()
    message(STATUS "${dep} is not installed: libcuzk is built without it")
  endif()
endforeach()

add_library(cuzk_static STATIC $<TARGET_OBJECTS:cuzk_objects> $<TARGET_OBJECTS:blst>)
set_target_properties(cuzk_static PROPERTIES OUTPUT_NAME cuzk)
target_link_libraries(cuzk_static PUBLIC cuzk_objects)
add_library(cuzk_shared SHARED $<TARGET_OBJECTS:cuzk_objects> $<TARGET_OBJECTS:blst>)
set_target_properties(cuzk_shared PROPERTIES OUTPUT_NAME cuzk VERSION ${PROJECT_VERSION} SOVERSION 0)
target_link_libraries(cuzk_shared PRIVATE cuzk_objects)
# blst's assembly exports names whatever the visibility.
target_link_options(cuzk_shared PRIVATE "LINKER:--version-script=${CMAKE_SOURCE_DIR}/cmake/libcuzk.map")
set_target_properties(cuzk_shared PROPERTIES LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/libcuzk.map)

# What a program of this repository links: the archive with its internal headers.
add_library(cuzk_internal INTERFACE)
target_link_libraries(cuzk_internal INTERFACE cuzk_static cuzk_flags)

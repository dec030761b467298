# cuzk-daemon and the parts that only it needs: engine, store, server. Everything here stays out of libcuzk.
enable_language(CXX)
set(CMAKE_CXX_STANDARD 17)
pkg_check_modules(GRPC REQUIRED IMPORTED_TARGET grpc)
pkg_check_modules(PROTOBUF_C REQUIRED IMPORTED_TARGET libprotobuf-c)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
pkg_check_modules(PQ IMPORTED_TARGET libpq)
find_program(PROTOC_C protoc-c REQUIRED)

find_program(PROTOC protoc REQUIRED)

# Messages of our own service and of gRPC's health and reflection (v1alpha has the same bytes as v1), and the descriptors
# of all of them for reflection to hand out.
set(CUZK_PROTO_DIR ${CMAKE_BINARY_DIR}/proto)
set(CUZK_PROTO_C "")
foreach(proto proving grpc/health/v1/health grpc/reflection/v1/reflection)
  get_filename_component(folder ${proto} DIRECTORY)
  get_filename_component(name ${proto} NAME)
  set(from ${CMAKE_SOURCE_DIR}/proto/${folder})
  file(MAKE_DIRECTORY ${CUZK_PROTO_DIR})
  add_custom_command(
    OUTPUT ${CUZK_PROTO_DIR}/${name}.pb-c.c ${CUZK_PROTO_DIR}/${name}.pb-c.h
    COMMAND ${PROTOC_C} --c_out=${CUZK_PROTO_DIR} --proto_path=${from} ${from}/${name}.proto
    DEPENDS ${from}/${name}.proto
    COMMENT "${name}.proto")
  list(APPEND CUZK_PROTO_C ${CUZK_PROTO_DIR}/${name}.pb-c.c)
endforeach()
set(CUZK_PROTO_SERVED proving.proto grpc/health/v1/health.proto grpc/reflection/v1/reflection.proto
  grpc/reflection/v1alpha/reflection.proto)
list(TRANSFORM CUZK_PROTO_SERVED PREPEND ${CMAKE_SOURCE_DIR}/proto/ OUTPUT_VARIABLE CUZK_PROTO_FILES)
add_custom_command(
  OUTPUT ${CUZK_PROTO_DIR}/proto_descriptors.c
  COMMAND ${PROTOC} --proto_path=${CMAKE_SOURCE_DIR}/proto --descriptor_set_out=${CUZK_PROTO_DIR}/descriptors.bin
          ${CUZK_PROTO_SERVED}
  COMMAND ${CMAKE_COMMAND} -DIN=${CUZK_PROTO_DIR}/descriptors.bin -DOUT=${CUZK_PROTO_DIR}/proto_descriptors.c
          -DNAME=PROTO_DESCRIPTORS -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${CUZK_PROTO_FILES} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
  COMMENT "descriptors of the services")
add_library(cuzk_proto STATIC ${CUZK_PROTO_C})
target_include_directories(cuzk_proto SYSTEM PUBLIC ${CUZK_PROTO_DIR})
target_link_libraries(cuzk_proto PUBLIC PkgConfig::PROTOBUF_C)

file(GLOB CUZK_ENGINE_SOURCES CONFIGURE_DEPENDS src/engine/*.c src/engine/*.cpp src/store/*.c)
if(CUZK_ENGINE_SOURCES)
  add_library(cuzk_engine STATIC ${CUZK_ENGINE_SOURCES})
  target_link_libraries(cuzk_engine PUBLIC cuzk_internal PkgConfig::SQLITE)
  if(PQ_FOUND)
    target_link_libraries(cuzk_engine PUBLIC PkgConfig::PQ)
    target_compile_definitions(cuzk_engine PUBLIC CUZK_HAVE_PQ=1)
  endif()
endif()

file(GLOB CUZK_SERVER_SOURCES CONFIGURE_DEPENDS src/server/*.c)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/status_page.c
  COMMAND ${CMAKE_COMMAND} -DIN=${CMAKE_SOURCE_DIR}/web/index.html -DOUT=${CMAKE_BINARY_DIR}/status_page.c
          -DNAME=STATUS_PAGE -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${CMAKE_SOURCE_DIR}/web/index.html ${CMAKE_SOURCE_DIR}/cmake/embed.cmake)
add_library(cuzk_server STATIC ${CUZK_SERVER_SOURCES} ${CMAKE_BINARY_DIR}/status_page.c
  ${CUZK_PROTO_DIR}/proto_descriptors.c)
target_link_libraries(cuzk_server PUBLIC cuzk_internal cuzk_proto PkgConfig::GRPC PkgConfig::MICROHTTPD)
if(TARGET cuzk_engine)
  target_link_libraries(cuzk_server PUBLIC cuzk_engine)
  add_executable(cuzk-daemon cmd/cuzk-daemon.c)
  target_link_libraries(cuzk-daemon PRIVATE cuzk_server)
endif()

# The shell tool speaks to the daemon where gRPC is built.
file(GLOB CUZK_CLIENT_SOURCES CONFIGURE_DEPENDS cmd/client/*.c)
if(CUZK_CLIENT_SOURCES)
  target_sources(cuzk PRIVATE ${CUZK_CLIENT_SOURCES})
  target_link_libraries(cuzk PRIVATE cuzk_engine cuzk_proto PkgConfig::GRPC)
  target_compile_definitions(cuzk PRIVATE CUZK_HAVE_CLIENT=1)
endif()

# cuzk-bench daemon: the same client, a load of its own.
file(GLOB CUZK_BENCH_DAEMON_SOURCES CONFIGURE_DEPENDS cmd/bench_daemon/*.c)
if(TARGET cuzk-bench AND TARGET cuzk_engine)
  target_sources(cuzk-bench PRIVATE ${CUZK_BENCH_DAEMON_SOURCES} cmd/client/client.c cmd/cli/cli.c cmd/cli/request.c)
  target_link_libraries(cuzk-bench PRIVATE cuzk_engine cuzk_proto PkgConfig::GRPC)
  target_compile_definitions(cuzk-bench PRIVATE CUZK_HAVE_CLIENT=1)
endif()

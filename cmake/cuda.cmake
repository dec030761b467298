# libcuzk-cuda.so, loaded by dlopen: see src/backend/cuda/. Built where nvcc is found; needs neither blst nor libcuzk, and
# carries its own CUDA runtime. CUZK_CUDA_ARCHS lists compute capabilities; the last one is also embedded as PTX for later
# devices. One architecture takes about three minutes of one core to compile.
find_program(CUZK_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
if(NOT CUZK_NVCC)
  message(STATUS "nvcc is not installed: the CUDA plug-in is not built")
  return()
endif()
if(NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER ${CUZK_NVCC})
endif()
set(CMAKE_CUDA_FLAGS_RELWITHDEBINFO "-O3" CACHE STRING "Flags of the CUDA compiler")
set(CMAKE_CUDA_ARCHITECTURES ${CUZK_CUDA_ARCHS})
list(TRANSFORM CMAKE_CUDA_ARCHITECTURES APPEND -real)
list(GET CUZK_CUDA_ARCHS -1 newest)
list(APPEND CMAKE_CUDA_ARCHITECTURES ${newest}-virtual)
enable_language(CUDA)

file(GLOB CUZK_CUDA_SOURCES CONFIGURE_DEPENDS src/backend/cuda/*.cu)
find_package(Threads REQUIRED)
add_library(cuzk_cuda MODULE ${CUZK_CUDA_SOURCES})
set_target_properties(cuzk_cuda PROPERTIES OUTPUT_NAME cuzk-cuda PREFIX lib CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON
  CUDA_RUNTIME_LIBRARY Static CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
target_include_directories(cuzk_cuda PRIVATE include src/backend/cuda)
target_compile_options(cuzk_cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-O1 -Xcompiler=-Wall
  -Xcompiler=-Wextra -Xcompiler=-Wno-unknown-pragmas>)
target_link_libraries(cuzk_cuda PRIVATE Threads::Threads -static-libstdc++ -static-libgcc
  -Wl,-z,defs -Wl,--version-script=${CMAKE_SOURCE_DIR}/src/backend/cuda/plugin.map)
install(TARGETS cuzk_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

# libcuzk-cuda.so, loaded by dlopen: see src/backend/cuda/.

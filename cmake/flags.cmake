# Warnings, sanitizers, and the instruction sets that single files are compiled for. Nothing here raises the
# baseline of the whole build: a file whose name ends in _ifma, _avx2 or _shani is reached through the dispatch
# table of src/base/cpu.h only.
add_library(cuzk_flags INTERFACE)
target_compile_options(cuzk_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wshadow -Wstrict-prototypes -Wvla -Wno-missing-field-initializers>)
target_compile_options(cuzk_flags INTERFACE -fvisibility=hidden -fno-strict-aliasing)
target_compile_definitions(cuzk_flags INTERFACE _GNU_SOURCE)
if(CUZK_WERROR)
  target_compile_options(cuzk_flags INTERFACE -Werror)
endif()
if(CUZK_SANITIZE)
  target_compile_options(cuzk_flags INTERFACE -fsanitize=${CUZK_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(cuzk_flags INTERFACE -fsanitize=${CUZK_SANITIZE})
endif()

function(cuzk_isa_flags)
  foreach(file ${ARGN})
    if(file MATCHES "_ifma\\.c$")
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS
        "-mavx2;-mbmi;-mbmi2;-mlzcnt;-mpopcnt;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx512ifma;-mavx512vbmi")
    elseif(file MATCHES "_avx2\\.c$")
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "-mavx2;-mbmi;-mbmi2;-mlzcnt;-mpopcnt")
    elseif(file MATCHES "_shani\\.c$")
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "-msha;-mssse3;-msse4.1")
    endif()
  endforeach()
endfunction()

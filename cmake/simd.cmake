# Vector kernels are compiled once for each instruction set of the processor family and chosen at run
# time (src/core/simd.h), so that one binary runs at full speed on every machine of a cluster.
set(DKMAP_SIMD_LEVELS baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  list(APPEND DKMAP_SIMD_LEVELS avx2 avx512)
endif()
set(DKMAP_SIMD_FLAGS_baseline "")
set(DKMAP_SIMD_FLAGS_avx2 -mavx2 -mfma)
set(DKMAP_SIMD_FLAGS_avx512 -mavx2 -mfma -mavx512f -mavx512bw -mavx512dq -mavx512vl
  -mprefer-vector-width=512)

foreach(level ${DKMAP_SIMD_LEVELS})
  add_library(dkmap_simd_${level} OBJECT)
  target_include_directories(dkmap_simd_${level} PRIVATE ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(dkmap_simd_${level} PRIVATE DKMAP_SIMD_LEVEL=${level})
  target_compile_options(dkmap_simd_${level} PRIVATE ${DKMAP_SIMD_FLAGS_${level}})
  target_link_libraries(dkmap_simd_${level} PRIVATE MPI::MPI_C dkmap_flags)
  set_target_properties(dkmap_simd_${level} PROPERTIES C_VISIBILITY_PRESET hidden
    POSITION_INDEPENDENT_CODE ON)
  target_sources(dkmap PRIVATE $<TARGET_OBJECTS:dkmap_simd_${level}>)
  list(APPEND DKMAP_SIMD_OBJECTS $<TARGET_OBJECTS:dkmap_simd_${level}>)
endforeach()

# dkmap_simd_sources(FILE...): files of the folder at hand that hold vector kernels.
function(dkmap_simd_sources)
  foreach(level ${DKMAP_SIMD_LEVELS})
    foreach(file ${ARGN})
      target_sources(dkmap_simd_${level} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    endforeach()
  endforeach()
endfunction()

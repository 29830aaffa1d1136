# MPI, and whether other libraries belong to it. A library built on another MPI links without a
# complaint and aborts in MPI_Init() or later, so a small program is linked with each of them, and
# looked at: it may load one MPI library only. Nothing is run.
include(CheckCSourceCompiles)

# The launcher of a compiler wrapper that was named stands beside it: mpiexec.mpich beside mpicc.mpich.
if(MPI_C_COMPILER AND NOT MPIEXEC_EXECUTABLE)
  find_program(DKMAP_MPI_WRAPPER NAMES ${MPI_C_COMPILER})
  mark_as_advanced(DKMAP_MPI_WRAPPER)
  get_filename_component(folder "${DKMAP_MPI_WRAPPER}" DIRECTORY)
  get_filename_component(name "${DKMAP_MPI_WRAPPER}" NAME)
  string(REPLACE "mpicc" "mpiexec" name "${name}")
  find_program(MPIEXEC_EXECUTABLE NAMES ${name} HINTS ${folder} NO_DEFAULT_PATH)
endif()
find_package(MPI COMPONENTS C)
dkmap_need("${MPI_C_FOUND}" "MPI for C" "libopenmpi-dev openmpi-bin, or libmpich-dev mpich")

# dkmap_mpi_defines(VARIABLE CONDITION): whether mpi.h makes a condition of the preprocessor true.
function(dkmap_mpi_defines variable condition)
  set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
  check_c_source_compiles("#include <mpi.h>
#if !(${condition})
#error no
#endif
int main(void) { return 0; }" ${variable})
endfunction()

dkmap_mpi_defines(DKMAP_MPI_IS_OPENMPI "defined(OPEN_MPI)")
dkmap_mpi_defines(DKMAP_MPI_IS_MPICH "defined(MPICH_VERSION) || defined(MPICH)")
if(DKMAP_MPI_IS_OPENMPI)
  set(DKMAP_MPI openmpi)
  dkmap_mpi_defines(DKMAP_MPI_IS_OPENMPI_5 "OMPI_MAJOR_VERSION >= 5")
elseif(DKMAP_MPI_IS_MPICH)
  set(DKMAP_MPI mpich)
else()
  set(DKMAP_MPI other)
endif()

# Under the launcher of another MPI every rank is alone, and a test of three ranks is three tests of one.
execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE launcher ERROR_QUIET)
if(DKMAP_TESTS AND ((DKMAP_MPI STREQUAL "mpich" AND launcher MATCHES "Open MPI|OpenRTE|prterun")
    OR (DKMAP_MPI STREQUAL "openmpi" AND launcher MATCHES "HYDRA|MPICH")))
  message(FATAL_ERROR "${MPIEXEC_EXECUTABLE} does not start ranks of ${MPI_C_LIBRARIES}: set MPIEXEC_EXECUTABLE "
    "to the launcher of that MPI, or MPI_EXECUTABLE_SUFFIX to .mpich or .openmpi on Debian")
endif()

# dkmap_link_and_look(RESULT CALL LIBRARIES...): link a program that makes a call of the libraries.
# RESULT becomes "yes"; or "no: " and why it cannot be used with the MPI found.
function(dkmap_link_and_look result call)
  string(MD5 key "${call};${ARGN};${MPI_C_LIBRARIES}")
  set(known DKMAP_LOOKED_${key})
  if(NOT DEFINED ${known})
    set(program ${PROJECT_BINARY_DIR}/CMakeFiles/dkmap_look/program)
    file(WRITE ${program}.c "#include <mpi.h>
int ${call}();
int main(void)
{
    int here;
    MPI_Initialized(&here);
    return here ? ${call}() : 0;
}
")
    try_compile(linked ${PROJECT_BINARY_DIR}/CMakeFiles/dkmap_look/build ${program}.c
      LINK_LIBRARIES MPI::MPI_C ${ARGN} COPY_FILE ${program} OUTPUT_VARIABLE log)
    if(NOT linked)
      string(REGEX MATCH "[^\n]*(undefined reference|cannot find|No such file)[^\n]*" why "${log}")
      set(answer "no: it does not link (${why})")
    else()
      execute_process(COMMAND ${CMAKE_COMMAND} -DPROGRAM=${program}
        -P ${PROJECT_SOURCE_DIR}/cmake/mpi_of_program.cmake OUTPUT_VARIABLE libraries ERROR_VARIABLE log
        RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
      string(REPLACE "\n" ";" libraries "${libraries}")
      list(LENGTH libraries count)
      if(failed)
        message(WARNING "Cannot tell which MPI ${ARGN} belongs to: ${log}")
        set(answer yes)
      elseif(count GREATER 1)
        list(JOIN libraries " and " libraries)
        set(answer "no: a program with it would load ${libraries}")
      else()
        set(answer yes)
      endif()
    endif()
    set(${known} "${answer}" CACHE INTERNAL "")
  endif()
  set(${result} "${${known}}" PARENT_SCOPE)
endfunction()

# How tests start ranks: more ranks than cores, not bound to any. DKMAP_LAUNCH_ENV says the same to one rank
# that is started without a launcher, which otherwise probes every network for a third of a second;
# and hwloc looks for cores alone, not for graphics and buses.
set(DKMAP_LAUNCH ${MPIEXEC_EXECUTABLE} ${MPIEXEC_PREFLAGS})
set(DKMAP_LAUNCH_ENV HWLOC_COMPONENTS=-gl,-opencl,-pci,-x86,-cuda,-nvml,-linuxio)
if(DKMAP_MPI_IS_OPENMPI_5)
  list(APPEND DKMAP_LAUNCH --map-by :OVERSUBSCRIBE --bind-to none --mca pml ob1 --mca btl self,sm,tcp
    --mca mpi_yield_when_idle 1)
  list(APPEND DKMAP_LAUNCH_ENV OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,sm,tcp)
elseif(DKMAP_MPI_IS_OPENMPI)
  list(APPEND DKMAP_LAUNCH --oversubscribe --bind-to none --mca pml ob1 --mca btl self,vader,tcp
    --mca mpi_yield_when_idle 1)
  list(APPEND DKMAP_LAUNCH_ENV OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp)
elseif(DKMAP_MPI_IS_MPICH)
  list(APPEND DKMAP_LAUNCH -genv MPIR_CVAR_POLLS_BEFORE_YIELD 1) # give way while waiting
endif()
# The same line for the scripts of jobs/.
list(JOIN DKMAP_LAUNCH " " line)
file(WRITE ${PROJECT_BINARY_DIR}/launch "${line}\n")

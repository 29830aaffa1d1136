#!/usr/bin/env bash
# Installs what is missing (Debian), builds dkmap and runs its tests.
#
# usage: jobs/test.sh [--all] [options of ctest, such as -R krr or -L cli]
#   --all   all rank counts, every allocation that can fail, a SLURM cluster where its packages are there,
#           the address and undefined behaviour sanitizers, vector kernels without vector instructions, and
#           the checks of jobs/lint.sh. Takes more than an hour; without it the tests take a few minutes on
#           two cores, and every feature is met on 1, 2, 3 and 4 ranks.
#
# The campaigns of faults at every call, of fuzzing and of kills take hours and are started apart
# (docs/reference/reliability.md).
#
# The labels of tests, for -L and -LE, are listed in mpi_tests/CMakeLists.txt.
# Heeds: DKMAP_WERROR=ON (warnings of the compiler are errors), DKMAP_BUILD (another folder to build in),
# DKMAP_TEST_JOBS (tests at a time; by default two more than there are cores, as many wait).
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
all=0
case ${1:-} in
-h | --help)
    explain
    exit
    ;;
--all)
    all=1
    shift
    ;;
esac
tests=(ctest --output-on-failure -j "${DKMAP_TEST_JOBS:-$(($(cores) + 2))}")

# Tests compare support vector machines with LIBLINEAR's; dkmap itself does without it.
# shellcheck disable=SC2086
install_packages $packages $python_packages liblinear-dev
build_dkmap all -DDKMAP_WERROR="${DKMAP_WERROR:-OFF}" -DDKMAP_TESTS=ON
if [ "$all" = 0 ]; then
    cd "$build"
    exec "${tests[@]}" -LE '^(slow|cluster|campaign)$' "$@"
fi

failed=()
# part NAME COMMAND...: run it, and go on with the next whatever comes of it
part() {
    echo "== $1"
    shift
    "$@" || failed+=("$*")
}

# sanitized CTEST OPTIONS...: another build, in which a program that errs stops with a report
sanitized() {
    local build=$build-sanitize
    build_dkmap all -DCMAKE_BUILD_TYPE=Debug -DDKMAP_SANITIZE=address,undefined -DDKMAP_TESTS=ON
    (cd "$build" && "${tests[@]}" -R '_(1|3)$|^fuzz_|^cli_(bad_|krr|kde|jkm|model_files)' "$@")
}

export DKMAP_SWEEP=all DKMAP_CLUSTER=1
part "formats, scripts and static analysis" bash "$root/jobs/lint.sh"
part "all tests" env --chdir="$build" "${tests[@]}" -LE '^campaign$' "$@"
unset DKMAP_SWEEP
part "sanitizers" sanitized "$@"
part "without vector instructions" env --chdir="$build" DKMAP_SIMD=baseline "${tests[@]}" -R '^test_.*_(1|3)$' "$@"
[ ${#failed[@]} = 0 ] || fail "failed: ${failed[*]}"

#!/usr/bin/env bash
# The tests of each method on many ranks, however few cores there are: all of their cases must pass.
# 32 ranks on two cores take minutes a test.
#
#   jobs/study/many_ranks.sh [RANKS]            32 where none are given
#
# Needs a build with tests (jobs/test.sh). Heeds: DKMAP_BUILD, DKMAP_LAUNCH, TESTS (names of tests).
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "$0")/../common.sh"
case "${1:-}" in -h | --help) explain && exit ;; esac
ranks=${1:-32}
failed=0
for test in ${TESTS:-krr kpca kde jkm}; do
    program=$build/mpi_tests/test_$test
    [ -x "$program" ] || fail "no $program: run jobs/test.sh first"
    start=$(date +%s)
    # shellcheck disable=SC2086
    if $launch -np "$ranks" "$program" >"$build/scale_$test.log" 2>&1; then
        echo "test_$test on $ranks ranks: passed, $(($(date +%s) - start)) s"
    else
        echo "test_$test on $ranks ranks: FAILED, see $build/scale_$test.log"
        failed=1
    fi
done
exit "$failed"

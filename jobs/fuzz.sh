#!/usr/bin/env bash
# Runs the fuzz targets under libFuzzer with the address and undefined behaviour sanitizers, one
# after the other, and prints what came of it. Needs clang.
#
# usage: jobs/fuzz.sh [SECONDS] [TARGET...]
# SECONDS is the time of each target, 60 by default; TARGET is csv, kernel, slices, ...; all by
# default. A target ends before that when it has run DKMAP_FUZZ_RUNS inputs, where that is set. Inputs
# that are worth keeping are gathered in FOLDER/corpus, inputs that broke something in FOLDER/found,
# where FOLDER is DKMAP_FUZZ_BUILD or build-fuzz. The inputs under version control are read and left
# alone. Exit status 1 when something was found.
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
case ${1:-} in -h | --help)
    explain
    exit
    ;;
esac
seconds=${1:-60}
[[ $seconds =~ ^[0-9]+$ ]] || fail "'$seconds' is no number of seconds"
shift $(($# > 0))
folder=${DKMAP_FUZZ_BUILD:-$root/build-fuzz}
source=$root/mpi_tests/fuzz
targets=("$@")
if ((${#targets[@]} == 0)); then
    for file in "$source"/fuzz_*.c; do
        name=${file##*/fuzz_}
        targets+=("${name%.c}")
    done
fi
command -v clang >/dev/null || fail "clang is needed: apt-get install clang"

cmake -S "$root" -B "$folder" -DCMAKE_C_COMPILER=clang -DDKMAP_FUZZ=ON -DDKMAP_ELPA=OFF >"$folder.log" 2>&1 ||
    fail "cmake: see $folder.log"
cmake --build "$folder" -j "${CMAKE_BUILD_PARALLEL_LEVEL:-$(cores)}" --target "${targets[@]/#/fuzz_}" >>"$folder.log" 2>&1 ||
    fail "the build failed: see $folder.log"

# fuzz_one NAME: one line of the table; 1 when something was found
fuzz_one() {
    local name=$1 log=$folder/$1.log found=$folder/found/$1 kept=$folder/corpus/$1
    local runs crashes hangs leaks large speed
    mkdir -p "$found" "$kept"
    rm -f "$found"/*
    mkdir -p "$source/corpus/$name"
    local asan=malloc_context_size=4:detect_leaks=0:quarantine_size_mb=8
    ASAN_OPTIONS=$asan:max_malloc_fill_size=0:allocator_may_return_null=1 \
        OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        "$folder/mpi_tests/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=10 \
        -runs="${DKMAP_FUZZ_RUNS:--1}" -rss_limit_mb=2048 -detect_leaks=0 -print_final_stats=1 \
        -max_len=1024 -artifact_prefix="$found/" \
        "$kept" "$source/corpus/$name" >"$log" 2>&1 || true
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    speed=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
    hangs=$(find "$found" -name 'timeout-*' -o -name 'slow-unit-*' | wc -l)
    leaks=$(grep -c '^fuzz: LEAK' "$log" || true)
    large=$(grep -c '^fuzz: LARGE' "$log" || true)
    crashes=$(($(find "$found" -name 'crash-*' -o -name 'oom-*' | wc -l) - leaks - large))
    printf '%-12s %12s %8s %8s %6s %6s %6s %s\n' "$name" "${runs:--}" "${speed:--}" "$crashes" "$hangs" \
        "$leaks" "$large" "$(sed -n 's/^fuzz: .*largest block \([0-9]*\) bytes/\1/p' "$log")"
    ((crashes + hangs + leaks + large == 0)) && [[ -n $runs ]]
}

status=0
printf '%-12s %12s %8s %8s %6s %6s %6s %s\n' target executions per-sec crashes hangs leaks large largest-block
for name in "${targets[@]}"; do
    fuzz_one "$name" || status=1
done
exit $status

#!/usr/bin/env bash
# Every bench on tiny sizes: it tells a small residual, leaves one whole record line a repeat, and
# refuses what makes no sense.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# refused STATUS TEXT ARGUMENTS...: a run that fails with the text on stderr and tells nothing.
refused() {
    on 0 bench "${@:3}"
    expect "$1" "bench ${*:3}"
    says err "$2" "bench ${*:3}"
    [ -s out ] && fail "bench ${*:3}: something on stdout"
}

# has FIELDS...: every line of runs.jsonl is one object with these fields, all of them numbers > 0.
has() {
    local field
    grep -qvE '^\{.*\}$' runs.jsonl && fail "not one object a line: $(head -c 300 runs.jsonl)"
    for field in "$@"; do
        [ "$(grep -cE "\"$field\":[0-9.e+-]*[1-9]" runs.jsonl)" = "$(wc -l <runs.jsonl)" ] ||
            fail "$field is not in every line: $(head -c 1000 runs.jsonl)"
    done
}

# measure RANKS BOUND TOPIC OPTIONS...: two repeats whose residual is below the bound.
measure() {
    rm -f runs.jsonl
    good "$1" bench "${@:3}" --repeat 2 --record runs.jsonl --verbose
    below "$(value residual)" "$2" "residual of ${*:3} on $1 ranks"
    below 0 "$(value best_seconds)" "seconds of ${*:3}"
    [ "$(value ranks) $(value repeats)" = "$1 2" ] || fail "${*:3}: $(cat out)"
    [ "$(wc -l <runs.jsonl)" = 2 ] || fail "${*:3}: $(wc -l <runs.jsonl) lines in the record"
    grep -q 'not given back' err && fail "${*:3}: $(grep 'not given back' err)"
    has n ranks block seconds
    says runs.jsonl '"peak_resident_bytes":{' "peak memory of ${*:3}"
    says runs.jsonl '"residual":' "residual of ${*:3}"
    says runs.jsonl "\"grid\":\"$(value grid)\"" "grid of ${*:3}"
}

normal 70 5 1 >x.csv
tiny=(--n 67 --d 9 --gemm 32)
dense="d flop_rate gemm_rate ratio"
for ranks in 1 3; do
    # shellcheck disable=SC2086
    {
        measure "$ranks" 1e-14 gram "${tiny[@]}"
        has $dense matrix_bytes memory_ratio
        measure "$ranks" 1e-5 gram --x x.csv --n 50 --gemm 32 --precision single --sigma 2
        has $dense
        [ "$(value n) $(value d) $(value precision)" = "50 5 single" ] || fail "rows of a file: $(cat out)"
        measure "$ranks" 1e-13 cholesky "${tiny[@]}" --block 8
        has $dense condition
        measure "$ranks" 1e-12 ridge "${tiny[@]}" --outputs 3
        has $dense gram_seconds factor_seconds refine_seconds
        [ "$(value solved_in)" = mixed ] || fail "ridge is not mixed: $(cat out)"
        measure "$ranks" 1e-12 ridge --x x.csv --gemm 32 --precision double --gamma 0.1
        measure "$ranks" 1e-9 eigen "${tiny[@]}" --components 4
        has $dense rounds products
        [ "$(value components)" = 4 ] || fail "four components: $(cat out)"
        measure "$ranks" 1e-13 eigen "${tiny[@]}" --full --center
        has $dense direct_scalapack over_direct
        [ "$(value components)" = 67 ] || fail "all components: $(cat out)"
        below "$(value direct_difference)" 1e-13 "eigenvalues of direct calls"
        measure "$ranks" 1e-12 string --n 23 --length 30 --shortest 1 --r 4
        has pairs_rate cells_rate letters
        measure "$ranks" 0.1 jkm --n 60 --d 5 --classes 3
        has d rounds constraints support primal dual oracle_seconds
    }
done
measure 2 0.9 jkm --n 4 --shape 12x10
[ "$(value outputs) $(value d)" = "sphere 120" ] || fail "pairs of images: $(cat out)"
refused 2 "at least 10 each" jkm --n 4 --shape 12

# What is in single precision is less exact: the residuals are measured and not made up.
measure 2 1e-5 gram "${tiny[@]}" --precision single
below 1e-9 "$(value residual)" "residual of a gram matrix in single precision"
measure 2 1e-5 cholesky "${tiny[@]}" --precision single
below 1e-9 "$(value residual)" "residual of a factor in single precision"

# The strings do not depend on the ranks, and are those that were measured.
good 1 bench string --n 11 --length 8 --shortest 3 --letters 2 --repeat 1 --out one.txt
good 3 bench string --n 11 --length 8 --shortest 3 --letters 2 --repeat 1 --out three.txt
cmp one.txt three.txt || fail "strings differ on 1 and 3 ranks"
[ "$(grep -cE '^[AC]{3,8}$' one.txt)" = 11 ] || fail "not 11 strings of A and C: $(cat one.txt)"
good 2 gram --x one.txt --kx 'normalize(ssk(r=3, lambda=0.5))' -o g.npy

# Matrices of one row, and fewer rows than ranks.
measure 3 1e-14 gram --n 1 --d 1 --gemm 8
measure 3 1e-13 eigen --n 2 --d 3 --gemm 8

# Every instruction set that the processor has, on 1 and 3 ranks; others are refused.
for level in baseline avx2 avx512; do
    for ranks in 1 3; do
        rm -f runs.jsonl
        DKMAP_SIMD=$level on "$ranks" bench ridge "${tiny[@]}" --outputs 3 --threads 1 --record runs.jsonl --verbose
        if grep -q 'this processor has' err; then
            expect 2 "DKMAP_SIMD=$level"
            [ "$level" = baseline ] && fail "every processor has the baseline: $(cat err)"
            continue
        fi
        expect 0 "DKMAP_SIMD=$level on $ranks ranks"
        below "$(value residual)" 1e-12 "residual with DKMAP_SIMD=$level"
        says runs.jsonl "\"simd\":\"$level\"" "the record names the instruction set"
        says err "vector kernels for $level" "the log names the instruction set"
        says err "rank $((ranks - 1)): 1 thread(s) on cores " "the log tells where ranks run"
    done
done
DKMAP_SIMD=mmx on 3 bench gram "${tiny[@]}"
expect 2 "an unknown instruction set"
says err "DKMAP_SIMD=mmx: use baseline, avx2 or avx512" "an unknown instruction set"

refused 2 "bench needs a method: gram"
refused 2 "unknown method 'grams'" grams --n 5
refused 2 "--n expects an integer of at least 1" gram --n 0
refused 2 "--repeat expects" gram --n 5 --repeat 0
refused 2 "--precision expects one of double, single" gram --n 5 --precision half
refused 2 "did you mean" eigen --n 5 --component 3
refused 2 "--letters expects" string --n 5 --letters 27
refused 2 "Give --n N" gram
refused 2 "x.csv has 70 objects" gram --x x.csv --n 71
refused 1 "nowhere.npy" gram --x nowhere.npy
refused 2 "--sigma must be > 0" gram --n 5 --sigma -1
refused 2 "--gamma must be > 0" ridge --n 5 --d 2 --gamma 0
refused 2 "lambda" string --n 5 --lambda 2
refused 2 "needs dense rows, not strings" gram --x one.txt
refused 1 "GiB" gram --n 2000000 --d 1

# Without a residual there is no number.
printf 'nan\n1\n2\n' >bad.csv
on 0 bench gram --x bad.csv --gemm 8 --record bad.jsonl
expect 1 "a matrix of undefined numbers"
[ -e bad.jsonl ] && fail "a number was recorded without a residual"
finish

#!/usr/bin/env bash
# Kernel alignment and clipped Gram matrices from the command line.
# shellcheck disable=SC2016
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# Three groups of points far from each other, and which of them each point is in.
normal 45 2 1 | awk -F, '{ printf "%f,%f\n", $1 + 20 * (NR % 3), $2 - 30 * (NR % 3 == 1) }' >x.csv
awk '{ print 7 * (NR % 3) - 3 }' x.csv >labels.csv
head -9 labels.csv >nine.csv

# oracle SIGMA: the alignment of an rbf with the labels, by plain loops.
oracle() {
    paste -d, x.csv labels.csv | awk -F, -v s="$1" '
        { a[NR] = $1; b[NR] = $2; l[NR] = $3 }
        END {
            for (i = 1; i <= NR; i++)
                for (j = 1; j <= NR; j++) {
                    k = exp(-((a[i] - a[j]) ^ 2 + (b[i] - b[j]) ^ 2) / (2 * s * s))
                    t = l[i] == l[j]
                    kk += k * k; kt += k * t; tt += t
                }
            printf "%.6f", kt / sqrt(kk * tt)
        }'
}

# row SETTING: the alignment of a setting in the table of the last run.
row() {
    awk -v name="$1" '$1 == name { print $2 }' out
}

# near A B WHAT: equal to what is printed.
near() {
    awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(a != "" && b != "" && d * d < 4e-12) }' ||
        fail "$3: $1 is not $2"
}

# A table of settings: as by plain loops, the same on any ranks and grid.
good 4 align --x x.csv --kx 'rbf(sigma=$s)' --try s=0.5,9,60 --labels labels.csv --record runs.jsonl
for s in 0.5 9 60; do
    near "$(row "s=$s")" "$(oracle "$s")" "the alignment of sigma = $s"
done
[ "$(value best)" = "s=9" ] || fail "the best setting: $(cat out)"
[ "$(value kernel)" = "rbf(sigma=9)" ] || fail "the best kernel: $(cat out)"
near "$(value alignment)" "$(oracle 9)" "the best alignment"
says runs.jsonl '"trials":[{"setting":"s=0.5"' "the record of the trials"
says runs.jsonl '"best":"s=9"' "the record of the best"
grep -v '^seconds\|^grid' out >four
good 3 align --x x.csv --kx 'rbf(sigma=$s)' --try s=0.5,9,60 --labels labels.csv --grid 3x1 --block 4
grep -v '^seconds\|^grid' out | cmp -s - four || fail "3 ranks tell another table than 4"

# Clusters find the groups; they are 30 when nothing is said; a grid of two names.
good 2 align --x x.csv --kx 'rbf(sigma=$s)' --try s=2 --clusters 3
near "$(row s=2)" "$(oracle 2)" "clusters that are the groups"
good 0 align --x x.csv --kx 'poly(degree=$d, c=$c_1)' --try d=1,2 --try c_1=0,1
[ "$(value clusters)" = 30 ] || fail "30 clusters when no target is given"
[ "$(awk '$1 ~ /^d=/ { print $1 }' out | paste -sd' ')" = "d=1,c_1=0 d=1,c_1=1 d=2,c_1=0 d=2,c_1=1" ] ||
    fail "a grid of settings: $(cat out)"

# A matrix and a kernel as target, centred and not.
good 0 align --x x.csv --kx linear --kz 'scale(linear, by=3)'
near "$(value alignment)" 1 "a kernel and three times itself"
good 0 gram --x x.csv --kx 'rbf(sigma=5)' -o t.npy
good 0 gram --x x.csv --kx 'rbf(sigma=5)' --center -o tc.npy
good 3 gram --x x.csv --kx linear --center -o kc.npy
good 2 align --x x.csv --kx linear --kz 'rbf(sigma=5)' --center
centered=$(value alignment)
good 3 align --x x.csv --kx linear --gram t.npy --center
near "$(value alignment)" "$centered" "a matrix in place of its kernel"
good 0 align --x kc.npy --x-type gram --kx gram --gram tc.npy
near "$(value alignment)" "$centered" "matrices centred before"

# What no features have is clipped: eigenvalues 1 and -1, then distances that no points have.
printf '0,1\n1,0\n' >swap.csv
good 0 gram --x swap.csv --x-type gram --kx gram --clip -o half.csv
[ "$(value clipped) $(value clipped_share)" = "1 0.5" ] || fail "what was clipped: $(cat out)"
near "$(awk -F, '{ for (i = 1; i <= 2; i++) s += ($i - 0.5) ^ 2 } END { print s }' half.csv)" 0 \
    "the clipped matrix"
printf '0,1,1,1\n1,0,2,2\n1,2,0,2\n1,2,2,0\n' >star.csv
good 3 gram --x star.csv --x-type distance --kx distance --clip -o star.npy
[ "$(value clipped)" = 1 ] || fail "a star has one negative eigenvalue: $(cat out)"
below "$(value smallest)" 0 "the smallest eigenvalue of a star"
good 0 gram --x star.npy --x-type gram --kx gram --clip -o again.npy
[ "$(value clipped)" = 0 ] || fail "what is clipped stays clipped: $(cat out)"
good 0 score --truth star.npy --pred again.npy --loss mse
below "$(value rmse)" 1e-12 "a clipped matrix clipped again"

# bad RANKS TEXT ARGUMENTS...: exit 2, one line that holds the text, nothing on standard output.
bad() {
    local text=$2
    on "$1" "${@:3}"
    expect "${ends:-2}" "dkmap ${*:3}"
    [ "$(grep -c '^dkmap: ' err)" = 1 ] || fail "dkmap ${*:3}: $(cat err)"
    says err "$text" "dkmap ${*:3}"
    [ -s out ] && fail "dkmap ${*:3}: results on stdout: $(head -2 out)"
}
align() {
    bad "$1" "$2" align --x x.csv --kx 'rbf(sigma=$s)' "${@:3}"
}
align 0 'no --try says what $s is'
align 0 "--try s: write NAME=V1,V2" --try s
align 0 "--try 2=1: write NAME=V1,V2" --try 2=1
align 0 "--try s=1,,2: a value is missing" --try s=1,,2
align 0 "--try s=: a value is missing" --try s=
align 0 "--try s is given twice" --try s=1 --try s=2
align 0 'no $t in --kx' --try s=1 --try t=2
align 0 "^" --try s=1,x
align 0 "greater than 0" --try s=1,0
align 0 "--labels and --kz are two targets" --try s=1 --labels labels.csv --kz linear
align 3 "45 rows cannot make 46 clusters" --try s=1 --clusters 46
align 0 "x.csv has 45 objects and swap.csv 2" --try s=1 --gram swap.csv
align 0 "x.csv has 45 objects and nine.csv 9" --try s=1 --labels nine.csv
bad 0 "a name must follow" align --x x.csv --kx 'rbf(sigma=$)'
bad 0 "x.csv" align --x x.csv --kx ssk --labels labels.csv
ends=1 bad 0 "when centered" align --x x.csv --kx linear --clusters 1 --center
echo word >s.txt
bad 3 "s.txt: clusters are made of dense rows, not of strings" align --x s.txt --kx ssk
bad 0 "leave --z out" gram --x x.csv --z x.csv --kx linear --clip -o none.npy
[ -e none.npy ] && fail "a failed run left a file"
finish

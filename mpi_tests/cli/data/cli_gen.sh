#!/usr/bin/env bash
# Generated problems: what their rows are, and that they do not depend on the number of ranks.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# numbers FILE COLUMNS: rows of an npy file of doubles as text
numbers() {
    tail -c +129 "$1" | od -An -v -t f8 -w$((8 * $2))
}

# alike PROBLEM FILES OPTIONS...: 1 and 6 ranks make the same files, and another seed others.
alike() {
    local problem=$1 files=$2 file
    shift 2
    good 1 gen "$problem" "$@" --seed 5 --out-dir "$problem"
    good 6 gen "$problem" "$@" --seed 5 --out-dir "$problem.6"
    good 0 gen "$problem" "$@" --seed 6 --out-dir "$problem.other"
    for file in $files; do
        cmp -s "$problem/$file" "$problem.6/$file" || fail "$problem: 6 ranks make another $file"
    done
    # shellcheck disable=SC2086
    set -- $files
    cmp -s "$problem/$1" "$problem.other/$1" && fail "$problem: two seeds make the same $1"
}

alike regression "x.npy y.npy" --n 101 --dim 7
good 2 gen regression --n 101 --dim 7 --noise 0 --seed 5 --out-dir plain
cmp -s plain/x.npy regression/x.npy || fail "the noise changes the inputs"
paste <(numbers plain/x.npy 7) <(numbers plain/y.npy 1) <(numbers regression/y.npy 1) | awk '
    { y = 10 * sin(3.14159265358979 * $1 * $2) + 20 * ($3 - 0.5)^2 + 10 * $4 + 5 * $5
      for (j = 1; j <= 7; j++) if ($j < 0 || $j >= 1) exit 1
      if ((y - $8)^2 > 1e-20) exit 1; noise += ($9 - $8)^2 }
    END { exit !(NR == 101 && noise > 60 && noise < 150) }' || fail "regression: rows are wrong"

alike identity "x.npy y.npy" --n 30 --dim 4
cmp -s identity/x.npy identity/y.npy || fail "identity: x is not y"
numbers identity/x.npy 4 | awk '{ s = $1^2 + $2^2 + $3^2 + $4^2; if ((s - 1)^2 > 1e-20) exit 1 }' ||
    fail "identity: not on the sphere"

alike swissroll "x.npy t.npy" --n 40
paste <(numbers swissroll/x.npy 3) <(numbers swissroll/t.npy 2) | awk '
    { if (($4 * cos($4) - $1)^2 + ($5 - $2)^2 + ($4 * sin($4) - $3)^2 > 1e-18) exit 1 }' ||
    fail "swissroll: not where the sheet says"

alike strings "x.txt y.txt labels.npy" --n 300
# label FILE: class labels of an npy file as text
label() {
    tail -c +129 "$1" | od -An -v -t d8 -w8 | tr -d ' '
}
paste <(label strings/labels.npy) strings/x.txt strings/y.txt | awk '
    { n = length($2); seen[$1]++; long[n]++; more[length($3)]++
      if (n < 10 || n > 15 || $2 !~ /^[abcd]+$/ || ($1 == 2 && $2 !~ /^[cd]+$/)) exit 1
      for (k = 2; k <= n; k++) { pairs[$1]++; same[$1] += substr($2, k, 1) == substr($2, k - 1, 1) }
      plain += $3 == ($1 == 0 ? "abad" : $1 == 1 ? "dbbd" : "abc") }
    END { for (c = 0; c < 3; c++) if (seen[c] < 70) exit 1
          for (k = 10; k <= 15; k++) if (long[k] < 25) exit 1
          if (same[0] / pairs[0] > 0.3 || same[1] / pairs[1] < 0.65 || same[2] / pairs[2] < 0.65) exit 1
          exit !(plain > 75 && plain < 140) }' || fail "strings: not as they should be"

alike switching "x.txt y.txt labels.npy" --n 60
paste <(label switching/labels.npy) switching/x.txt switching/y.txt | awk '
    BEGIN { may["11a"] = may["11b"] = "c"; may["11c"] = "a"; may["12a"] = may["12b"] = "ab"
            may["12c"] = "b"; may["21a"] = may["21b"] = "ab"; may["21c"] = "bc"
            may["22a"] = "a"; may["22b"] = may["22c"] = "b" }
    { n = length($2); if (n != length($3) || n < 10 || n > 20) exit 1
      for (k = 2; k <= n; k++) {
          if (!index(may[$1 substr($3, k, 1) substr($2, k - 1, 1)], substr($2, k, 1))) exit 1
          pairs++; same += substr($3, k, 1) == substr($3, k - 1, 1) } }
    END { exit !(same / pairs > 0.75 && same / pairs < 0.85) }' || fail "switching: wrong transitions"

# A film that is the same from both ends but for the side: it is turned, and lies between 0 and 1.
alike faces "x.npy y.npy" --n 5 --shape 8x6
good 2 gen rotating --n 3 --shape 6x6 --out-dir film
good 3 gen rotating --n 3 --shape 6x6 --out-dir film3
cmp -s film/frames.npy film3/frames.npy || fail "rotating: 3 ranks make another film"
[ "$(numbers film/t.npy 1 | tr -d ' ' | tr '\n' ' ')" = "0 90 180 " ] || fail "rotating: t"
numbers film/frames.npy 36 | awk '{ for (j = 1; j <= 36; j++) { if ($j < 0 || $j > 1.2) exit 1
    s[NR] = s[NR] $j } } END { exit !(NR == 3 && s[1] != s[2] && s[1] != s[3]) }' ||
    fail "rotating: frames"

# Smoothing a single bright pixel in a corner gives products of mirrored Gaussians.
{ echo 1,0,0,0,0,0,0,0,0,0,0,0; echo 1,1,1,1,1,1,1,1,1,1,1,1; } >spot.csv
good 2 gen smooth --x spot.csv --shape 3x4 --width 0.75 -o smooth.csv
awk -F, 'function g(k) { return exp(-k * k / 1.125) }
    function w(k) { return g(k) / (1 + 2 * (g(1) + g(2) + g(3))) }
    function far(i, n,   s, k) { s = 0 # all pixels that are mirrored into the first one
        for (k = -3; k <= 3; k++) { a = (i + k) % (2 * n); if (a < 0) a += 2 * n
            if (a == 0 || a == 2 * n - 1) s += w(k) } return s }
    NR == 1 { for (i = 0; i < 3; i++) for (j = 0; j < 4; j++)
        if (($(4 * i + j + 1) - far(i, 3) * far(j, 4))^2 > 1e-20) exit 1 }
    NR == 2 { for (j = 1; j <= 12; j++) if (($j - 1)^2 > 1e-20) exit 1 }' smooth.csv ||
    fail "smooth: $(cat smooth.csv)"
good 1 gen smooth --x spot.csv --shape 3x4 --width 0.75 --background 1 -o flat.csv
[ "$(sed -n 2p flat.csv | tr ',' '\n' | awk '{ s += ($1 - 1)^2 } END { print NR, s < 1e-20 }')" = "12 1" ] ||
    fail "smooth: an image like its background: $(cat flat.csv)"
good 1 gen smooth --x spot.csv --shape 3x4 --width 0.75 --background 0 -o dark.csv
awk -F, 'function g(k) { return exp(-k * k / 1.125) }
    function w(k) { return g(k) / (1 + 2 * (g(1) + g(2) + g(3))) }
    NR == 1 { for (i = 0; i < 3; i++) for (j = 0; j < 4; j++)
        if (($(4 * i + j + 1) - w(i) * w(j))^2 > 1e-20) exit 1 }' dark.csv || fail "smooth: $(cat dark.csv)"
good 1 gen noise --x plain/x.npy --sd 2 --seed 3 -o noisy.npy
good 6 gen noise --x plain/x.npy --sd 2 --seed 3 -o noisy6.npy
cmp -s noisy.npy noisy6.npy || fail "noise: 6 ranks make other noise"
good 1 score --truth plain/x.npy --pred noisy.npy --loss mse
below "$(value mse)" 4.6 "noise of variance 4"
below 3.4 "$(value mse)" "noise of variance 4"
on 2 gen smooth --x spot.csv --shape 4x4 --width 1 -o none.csv
expect 2 "images of another shape"
says err "12 columns, and images of --shape 4x4 have 16" "images of another shape"

# Samples: the first two of each class, and folds that hold every row once.
printf '%s\n' a0 a1 b0 a2 b1 c0 b2 c1 c2 a3 >s.txt
printf '%s\n' 1 1 2 1 2 3 2 3 3 1 >l.csv
good 2 gen sample --rows s.txt --rows l.csv --labels l.csv --per-class 2 --out-dir first
[ "$(tr '\n' ' ' <first/s.txt)" = "a0 a1 b0 b1 c0 c1 " ] || fail "sample: $(cat first/s.txt)"
good 1 gen sample --rows s.txt --labels l.csv --per-class 2 --pick random --seed 4 --out-dir any
[ "$(cut -c1 any/s.txt | sort | tr -d '\n')" = aabbcc ] || fail "a random sample: $(cat any/s.txt)"
good 3 gen sample --rows s.txt --labels l.csv --folds 3 --out-dir three
good 1 gen sample --rows s.txt --labels l.csv --folds 3 --train one --out-dir one
[ "$(cat three/?/test_s.txt | sort | tr '\n' ' ')" = "$(sort s.txt | tr '\n' ' ')" ] ||
    fail "folds: $(cat three/?/test_s.txt)"
for f in 0 1 2; do
    [ "$(cat three/$f/t*_s.txt | sort | tr -d '\n')" = "$(sort s.txt | tr -d '\n')" ] ||
        fail "fold $f is not whole"
    cmp -s three/$f/train_s.txt one/$f/test_s.txt || fail "fold $f: --train one is not the reverse"
    [ "$(cut -c1 three/$f/test_s.txt | sort -u | tr -d '\n')" = abc ] || fail "fold $f lacks a class"
done
on 2 gen sample --rows s.txt --per-class 2 --out-dir none
expect 2 "classes of nothing"
says err "--per-class needs --labels" "classes of nothing"
on 2 gen sample --rows s.txt --rows 'l.csv[0:3]' --out-dir none
expect 2 "files of other lengths"
says err "10 rows" "files of other lengths"

on 2 gen regression --n 5 --dim 2 --out-dir none
expect 2 "too few columns"
on 2 gen regression --n 5 --out-dir plain/x.npy/inside
expect 1 "a folder inside a file"
says err "cannot make this folder" "a folder inside a file"
finish

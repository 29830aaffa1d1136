#!/usr/bin/env bash
# Pictures: what is in them, the same on any number of ranks; texts that gnuplot must not take for commands;
# a gnuplot that is missing or fails.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"
command -v gnuplot >/dev/null || { echo "no gnuplot"; exit 77; }

# drawn NAME TEXTS ARGUMENTS...: a picture on 1 and 3 ranks, the same, with all texts ('|' between) in it.
drawn() {
    local name=$1 texts=$2 text
    shift 2
    good 1 "$@" --plot "$name.svg"
    good 3 "$@" --plot "$name.3.svg"
    cmp -s "$name.svg" "$name.3.svg" || fail "$name: 3 ranks draw another picture"
    grep -q '</svg>' "$name.svg" || fail "$name.svg is no whole picture"
    while read -r -d '|' text; do
        says "$name.svg" "$text" "$name"
    done <<<"$texts|"
}

# marks FILE: how many points are drawn.
marks() {
    grep -o "xlink:href='#gpPt[0-9]*' transform='translate" "$1" | wc -l
}

normal 40 2 1 >x.csv
awk -F, '{ print $1 + 0.3 * $2 }' x.csv >y.csv
# shellcheck disable=SC2016
drawn curve ">mse<|>gamma<|>best: s=|>0.5<|>1e-3<" cv krr --x x.csv --y y.csv --kx 'rbf(sigma=$s)' \
    --try s=0.5,2,8 --gamma 1e-3,1e-1,10 --folds 4
grep -q "mean" out && fail "no result belongs in the picture's line"
# The best of three values in both panels, the best of all, and those of nine trials that are near enough
count=$(marks curve.svg)
if [ "$count" -lt 14 ] || [ "$count" -gt 26 ]; then
    fail "the curve has $count marks"
fi

# Names that would be commands
cat >truth.txt <<'END'
it's
`touch owned`
@x "EOD"
it's
END
sed '4s/.*/@x "EOD"/' truth.txt >pred.txt
drawn names ">it's<|>\`touch owned\`<|>@x |>predicted<" score --truth truth.txt --pred pred.txt --loss accuracy --confusion
[ -e owned ] && fail "a name was run as a command"

awk 'BEGIN { for (i = 0; i < 6000; i++) print i % 7, i % 3, i % 3 }' >pairs
cut -d' ' -f1 pairs >true.csv
cut -d' ' -f2 pairs >guess.csv
drawn scatter ">5000 of 6000 rows<|>predicted<|>true<" score --truth true.csv --pred guess.csv --loss mse
[ "$(marks scatter.svg)" = 5000 ] || fail "the scatter plot has $(marks scatter.svg) points"
paste -d, guess.csv <(sed 's/.*/2/' guess.csv) >normals.csv
drawn intervals ">Intervals<|>probability of the interval<" score --truth true.csv --pred normals.csv --std

# 0.9 is promised to 10 rows of which 9 have the class, 0.2 to 10 of which 2 do: nothing is amiss; turned round, 0.6 is.
awk 'BEGIN { for (i = 0; i < 20; i++) print (i < 9 || i >= 18) + 0 }' >label.csv
awk 'BEGIN { for (i = 0; i < 20; i++) print i < 10 ? "0.1,0.9" : "0.8,0.2" }' >proba.csv
awk 'BEGIN { for (i = 0; i < 20; i++) print i < 10 ? "0.8,0.2" : "0.1,0.9" }' >turned.csv
drawn reliable ">expected calibration error 0.0000<|>predicted probability of the greater class<" \
    score --truth label.csv --y-type labels --pred proba.csv --loss nll
drawn unreliable ">expected calibration error 0.7000<" score --truth label.csv --y-type labels --pred turned.csv --loss nll

good 2 fit kpca --x x.csv --kx linear --components 2 -o m.h5
awk 'BEGIN { for (i = 0; i < 40; i++) print i % 2 ? "odd" : "even" }' >parity.txt
drawn map ">first coordinate<|>odd<|>even<|>40 rows<" encode m.h5 --x x.csv --y parity.txt -o z.npy
[ "$(marks map.svg)" = 42 ] || fail "the map has $(marks map.svg) points, not 40 and two in the key"
good 2 encode m.h5 --x x.csv --y y.csv -o z.npy --plot map.png
[ "$(head -c 4 map.png | tail -c 3)" = PNG ] || fail "map.png is no PNG file"

# no_picture TEXT ARGUMENTS...: no picture, no result, one message.
no_picture() {
    on "$ranks" "${@:2}" --plot made/p.svg
    expect 2 "${*:2}"
    says err "$1" "${*:2}"
    [ -s out ] && fail "${*:2}: results all the same: $(head -2 out)"
    [ -z "$(ls -A made)" ] || fail "${*:2}: left behind $(ls -A made)"
}

wrong ".svg or .png" score --truth true.csv --pred guess.csv --plot made/p.pdf
ranks=3 no_picture "not label-sets" score --truth label.csv --pred label.csv --y-type label-sets
ranks=1 no_picture "add --confusion" score --truth truth.txt --pred pred.txt
ranks=3 no_picture "row 2 of the predictions holds no probabilities" score --truth label.csv --y-type labels --pred 'true.csv[:20]' --loss auc
ranks=1 no_picture "39 labels for 40 objects" encode m.h5 --x x.csv --y 'parity.txt[:39]' -o made/z.npy
wrong "give --plot too" encode m.h5 --x x.csv --y parity.txt -o made/z.npy
bad "nowhere/p.svg" score --truth true.csv --pred guess.csv --plot nowhere/p.svg

# without PATH TEXT: no picture and no result where the PATH of rank 0 has no gnuplot, or one that fails.
without() {
    local launch
    for launch in "" "$DKMAP_MPIRUN -np 3"; do
        # shellcheck disable=SC2086
        $launch env PATH="$1" "$DKMAP" score --truth true.csv --pred guess.csv --plot made/p.svg >out 2>err
        status=$?
        expect 1 "$2"
        says err "$2" "gnuplot on $1"
        [ -s out ] && fail "$2: results all the same: $(head -2 out)"
        [ -z "$(ls -A made)" ] || fail "$2: left behind $(ls -A made)"
    done
}
without /nowhere "Debian: gnuplot-nox"
mkdir bin
printf '#!/bin/sh\necho "line 3: out of paint" >&2\nexit 1\n' >bin/gnuplot
chmod +x bin/gnuplot
without "$PWD/bin" "gnuplot failed: line 3: out of paint"
finish

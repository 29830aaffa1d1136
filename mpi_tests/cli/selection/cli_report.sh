#!/usr/bin/env bash
# Pages about models and runs: what is in them, whole and harmless, the same on any number of ranks.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"
command -v gnuplot >/dev/null || { echo "no gnuplot"; exit 77; }

normal 60 3 1 >x.csv
awk -F, '{ print $1 + 0.3 * $2 }' x.csv >y.csv
good 2 fit krr --x x.csv --y y.csv -o krr.h5 --record runs.jsonl
residual=$(value residual)
good 1 fit kpca --x x.csv --kx 'rbf(sigma=1)' --components 4 -o kpca.h5 --record runs.jsonl
# shellcheck disable=SC2016
good 3 cv krr --x x.csv --y y.csv --kx 'rbf(sigma=$s)' --try s=0.5,1,2 --gamma 1e-3,1e-1 --folds 3 \
    --record runs.jsonl --table '<b>&.csv' --count-comm
best=$(value best)
echo '{"program":"another"}' >>runs.jsonl
echo 'torn {' >>runs.jsonl
good 1 report krr.h5 kpca.h5 runs.jsonl -o page.html
good 3 report krr.h5 kpca.h5 runs.jsonl -o page3.html
cmp -s page.html page3.html || fail "3 ranks write another page"
[ "$(value figures)" = 11 ] || fail "$(value figures) figures, not 11"
[ "$(grep -c '</svg>' page.html)" = 11 ] || fail "$(grep -c '</svg>' page.html) pictures in the page"
for text in 'krr.h5: a krr model' 'Spectrum' 'runs.jsonl: 3 runs' 'Path of ridges' 'Loss of the settings' ">best: $best<" \
    "<td>$residual</td>" 'Seconds by phase' 'Peak memory' '&lt;b&gt;&amp;.csv' '</html>'; do
    says page.html "$text" "the page"
done
grep -qE '<script|href="|src="|url\(http|<b>' page.html && fail "the page is not by itself: $(grep -oE '<script|href="|src="|<b>' page.html | head -3)"

# A run that never was: names and numbers that are none
printf '{"program":"dkmap","command":7,"phases":{"a<b":{}},"trials":[1,{"setting":"a=1"}],"path":{"gamma":[1,"x"],"loo":[1],"gcv":[]},"loss":3}\n' >odd.jsonl
good 2 report odd.jsonl -o odd.html
says odd.html 'a&lt;b' "odd records"

wrong "ends in .html" report krr.h5 -o made/page.txt
bad "neither a model nor records" report x.csv -o made/page.html
bad "nothing.jsonl" report nothing.jsonl -o made/page.html
head -c 3000 kpca.h5 >torn.h5
bad "torn.h5" report torn.h5 -o made/page.html
finish

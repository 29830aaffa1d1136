#!/usr/bin/env bash
# predict --approximate: candidates by an index, with the recall that was asked for; 1 is the exact answer.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

awk 'BEGIN { srand(3); for (i = 0; i < 60; i++) { x = rand(); print x >"x.csv"; print sin(6 * x) "," cos(4 * x) >"y.csv" } }'
echo 'grid -1:1:101 -1:1:91' >all.gen
good 1 fit kde --x x.csv --y y.csv --kx 'rbf(sigma=0.1)' --ky 'rbf(sigma=1)' --components 20 --gamma 0.001 -o m.h5
good 1 predict m.h5 --x x.csv --candidates all.gen --top 4 -o exact.csv
good 1 predict m.h5 --x x.csv --candidates all.gen -o chosen.csv
on 1 predict m.h5 --x x.csv --candidates all.gen --top 4 --approximate 1 -o p.csv
if grep -q 'built without' err; then
    expect 2 "an approximate search without faiss"
    says err libfaiss-dev "what to install"
    [ "$(grep -c '^dkmap: ' err)" = 1 ] || fail "more than one line: $(cat err)"
    [ "$failures" = 0 ] || finish
    echo "no faiss"
    exit 77
fi
for ranks in 1 3; do
    good "$ranks" predict m.h5 --x x.csv --candidates all.gen --top 4 --approximate 1 -o p.csv
    [ "$(value recall)/$(value recall_points)/$(value candidates)" = 1/60/9191 ] || fail "recall of all points: $(cat out)"
    below "$(value evaluated)" 9191 "candidates that were evaluated"
    paste -d, exact.csv p.csv | awk -F, '{ for (k = 1; k < 8; k += 2) if ($k != $(k + 8) || ($(k + 1) - $(k + 9)) ^ 2 > 1e-18) bad++ } END { exit bad > 0 }' ||
        fail "a recall of 1 on $ranks ranks is not the exact answer"
    good "$ranks" predict m.h5 --x x.csv --candidates all.gen --approximate 1 -o p.csv
    cmp -s chosen.csv p.csv || fail "objects chosen on $ranks ranks"
    good "$ranks" predict m.h5 --x x.csv --candidates all.gen --top 4 --approximate 0.5 -o p.csv
    awk -v r="$(value recall)" 'BEGIN { exit !(r >= 0.5) }' || fail "a recall below what was asked for: $(cat out)"
done
# Among training objects too, and more points than are measured.
awk 'BEGIN { srand(9); for (i = 0; i < 200; i++) print rand() }' >new.csv
good 3 predict m.h5 --x new.csv --preimage candidates --approximate 0.9 -o p.csv
[ "$(value recall_points)/$(value candidates)" = 64/60 ] || fail "64 points are measured: $(cat out)"
good 1 predict m.h5 --x new.csv --preimage candidates -o q.csv
cmp -s p.csv q.csv || fail "sixty candidates lie in one cell: all are found"

for wrong in 0 1.5 -1 nan; do
    on 2 predict m.h5 --x x.csv --candidates all.gen --approximate "$wrong" -o none.csv
    expect 2 "--approximate $wrong"
done
on 1 predict m.h5 --x x.csv --preimage gradient --approximate 0.9 -o none.csv
[ "$status" = 0 ] && fail "an index for descent"
on 1 predict m.h5 --x x.csv --scores --approximate 0.9 -o none.csv
[ "$status" = 0 ] && fail "scores of all candidates by an index"
[ -e none.csv ] && fail "a file was left"
finish

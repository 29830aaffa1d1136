#!/usr/bin/env bash
# Objects that a line of text generates: as data, and as candidates of pre-images, in memory and streamed.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

echo 'strings ab 1:3' >s.gen
echo 'label-sets 4 0:2' >l.gen
echo 'grid 0:1:3 5:6:2' >g.gen
good 2 gram --x g.gen --kx linear -o g.csv
[ "$(wc -l <g.csv)" = 6 ] || fail "rows of a grid"
good 1 gram --x 'g.gen[3:5]' --kx linear -o g.csv
[ "$(head -1 g.csv)" = 36.25,30.25 ] || [ "$(head -1 g.csv)" = 36.25,30.5 ] || fail "rows 3 and 4 of a grid: $(cat g.csv)"
good 1 info s.gen
says out '14 of them' "strings of 1 to 3 of two letters"
good 1 info l.gen
says out '11' "sets of 0 to 2 of four labels"

# The nearest of all strings of up to three letters (test_candidates streams more of them).
printf '%s\n' 0.1 0.2 0.3 0.4 0.5 0.6 >x.csv
printf '%s\n' abc ace bbd ccc dba eee >y.txt
echo 'strings abcde 1:3' >all.gen
good 1 fit kde --x x.csv --y y.txt --kx 'rbf(sigma=0.03)' --ky 'normalize(weighted-degree(degree=2, shift=0))' --components all --gamma 0.001 -o m.h5
for ranks in 1 3; do
    good "$ranks" predict m.h5 --x x.csv --candidates all.gen -o "p$ranks.txt"
    cmp -s y.txt "p$ranks.txt" || fail "strings that are found: $(paste -sd' ' "p$ranks.txt")"
done

for line in 'strings aa 1:2' 'strings ab 2:1' 'label-sets 2 0:3' 'grid 0:1' 'words 3' '' 'strings abcdefghij 1:60'; do
    echo "$line" >bad.gen
    on 2 info bad.gen
    [ "$status" != 0 ] || fail "'$line' was read"
    says err 'one line is needed' "'$line'"
done
finish

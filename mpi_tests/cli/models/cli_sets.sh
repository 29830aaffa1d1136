#!/usr/bin/env bash
# Prediction sets by split conformal prediction: intervals, classes and candidates, the same on any
# number of ranks, and the coverage that they have.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

normal 900 3 1 >all.csv
normal 900 2 2 >noise.csv
paste -d, all.csv noise.csv | awk -F, '{ print sin($1) + $2 + 0.4 * $4 "," $3 + 0.2 * $5 }' >y.csv
paste -d, all.csv noise.csv | awk -F, '{ v = $1 + 0.5 * $4; print (v > 0.4 ? 5 : (v < -0.4 ? 0 : 2)) }' >labels.csv
sed 's/^0/low/; s/^2/middle/; s/^5/high/' labels.csv >names.txt
awk '{ print ($1 == 5 ? "aaba" : ($1 == 2 ? "abab" : "bbab")) }' labels.csv >strings.txt
x=(--x 'all.csv[0:300]')
cal=(--calibration-x 'all.csv[300:600]')
rest='[600:900]'

# Intervals: two columns, each covered by itself.
good 1 fit krr "${x[@]}" --y 'y.csv[0:300]' --kx 'rbf(sigma=1.5)' --gamma 0.1 -o m.h5
for ranks in 1 3; do
    good "$ranks" predict m.h5 --x "all.csv$rest" "${cal[@]}" --calibration-y 'y.csv[300:600]' --coverage 0.9 -o "s$ranks.csv"
    [ "$(value calibration_rows)" = 300 ] || fail "calibration on $ranks ranks"
    says out 'guarantee                split conformal' "the guarantee"
done
good 1 score --truth s1.csv --pred s3.csv --loss mse --baseline none
below "$(value rmse)" 1e-10 "intervals on 1 and 3 ranks"
good 3 score --truth "y.csv$rest" --pred s1.csv --loss coverage
below 0.84 "$(value coverage)" "coverage of numbers"
below "$(value coverage)" 0.96 "coverage of numbers"

# The radius is the ceil((n + 1) c)-th smallest residual.
good 1 predict m.h5 --x 'all.csv[300:600]' -o f.csv
sed -n 301,600p y.csv | paste -d, - f.csv | awk -F, '{ d = $1 - $3; print (d < 0 ? -d : d) }' | sort -g | sed -n 271p >radius.txt
paste -d, s1.csv | awk -F, -v r="$(cat radius.txt)" '{ d = ($3 - $1) / 2 - r; if (d > 1e-5 || d < -1e-5) exit 1 }' ||
    fail "the radius of the first column"

# As many columns as need the kernel matrix in one piece: 15 times those two.
awk -F, '{ for (k = 0; k < 15; k++) printf "%s%s,%s", (k ? "," : ""), $1, $2; print "" }' y.csv >wide.csv
good 1 fit krr "${x[@]}" --y 'wide.csv[0:300]' --kx 'rbf(sigma=1.5)' --gamma 0.1 -o w.h5
good 2 predict w.h5 --x "all.csv$rest" "${cal[@]}" --calibration-y 'wide.csv[300:600]' --coverage 0.9 -o w.csv
cut -d, -f29,30,59,60 w.csv >last.csv
good 1 score --truth s1.csv --pred last.csv --loss mse --baseline none
below "$(value rmse)" 1e-10 "intervals of 2 columns and of 30"

# Classes, by number and by name, of krr and knn; with a share that the fit held out.
good 1 fit krr "${x[@]}" --y 'labels.csv[0:300]' --y-type labels --kx 'rbf(sigma=1.5)' --gamma 0.1 -o c.h5
good 1 fit knn "${x[@]}" --y 'labels.csv[0:300]' --y-type labels --kx 'rbf(sigma=1.5)' --k 15 -o k.h5
for m in c k; do
    for ranks in 1 3; do
        good "$ranks" predict $m.h5 --x "all.csv$rest" "${cal[@]}" --calibration-y 'labels.csv[300:600]' --y-type labels --coverage 0.8 -o "$m$ranks.csv"
    done
    cmp -s ${m}1.csv ${m}3.csv || fail "sets of $m on 1 and 3 ranks"
    good 3 score --truth "labels.csv$rest" --y-type labels --pred ${m}1.csv --loss coverage
    below 0.70 "$(value coverage)" "coverage of classes, $m"
    below "$(value set_size)" 2.5 "size of sets of classes, $m"
done
good 3 fit krr --x 'all.csv[0:600]' --y 'names.txt[0:600]' --kx 'rbf(sigma=1.5)' --gamma 0.1 --holdout 0.5 -o n.h5
good 1 predict n.h5 --x "all.csv$rest" --coverage 0.9 -o n.txt
good 1 score --truth "names.txt$rest" --pred n.txt --loss coverage
below 0.84 "$(value coverage)" "coverage of names"

# Of kde sets are of numbers of candidates, also where classes have names.
good 1 fit kde --x 'all.csv[0:100]' --y 'names.txt[0:100]' --kx 'rbf(sigma=1.5)' --ky class --components 2 --gamma 0.1 --holdout 0.5 -o o.h5
good 3 predict o.h5 --x "all.csv$rest" --coverage 0.9 -o o.csv
grep -qE '^[0-9]+([ ,][0-9]+)*$' o.csv || fail "numbers of candidates: $(head -2 o.csv)"
grep -q '[a-z]' o.csv && fail "names of candidates: $(head -2 o.csv)"

# Candidates inside the ball: kde, and knn with a kernel.
good 1 fit kde "${x[@]}" --y 'strings.txt[0:300]' --kx 'rbf(sigma=1.5)' --ky 'spectrum(p=2)' --components all --gamma 0.1 -o d.h5
good 1 fit knn "${x[@]}" --y 'strings.txt[0:300]' --kx 'rbf(sigma=1.5)' --ky 'spectrum(p=2)' --k 9 -o e.h5
printf 'bbab\nabab\nzzzz\naaba\n' >candidates.txt
awk '{ print ($1 == 5 ? 3 : ($1 == 2 ? 1 : 0)) }' labels.csv | sed -n 601,900p >truth.csv
for ranks in 1 3; do
    good "$ranks" predict d.h5 --x "all.csv$rest" "${cal[@]}" --calibration-y 'strings.txt[300:600]' --candidates candidates.txt --coverage 0.9 -o "d$ranks.csv"
    good "$ranks" predict e.h5 --x "all.csv$rest" "${cal[@]}" --calibration-y 'strings.txt[300:600]' --coverage 0.9 -o "e$ranks.csv"
done
cmp -s d1.csv d3.csv || fail "sets of kde on 1 and 3 ranks"
cmp -s e1.csv e3.csv || fail "sets of knn on 1 and 3 ranks"
good 1 score --truth truth.csv --y-type labels --pred d1.csv --loss coverage
below 0.84 "$(value coverage)" "coverage of strings"
below "$(value set_size)" 3 "size of sets of strings"
grep -q 2 d1.csv && fail "a string that never occurs is predicted"

# Joint kernel maps of classes.
good 1 fit jkm --x 'all.csv[0:60]' --y 'labels.csv[0:60]' --y-type labels --kx 'rbf(sigma=1.5)' --ky class --joint tensor --epsilon 0.1 --C 1 -o j.h5
for ranks in 1 3; do
    good "$ranks" predict j.h5 --x "all.csv$rest" "${cal[@]}" --calibration-y 'labels.csv[300:600]' --y-type labels --coverage 0.8 -o "j$ranks.csv"
done
cmp -s j1.csv j3.csv || fail "sets of jkm on 1 and 3 ranks"
good 1 score --truth "labels.csv$rest" --y-type labels --pred j1.csv --loss coverage
below 0.70 "$(value coverage)" "coverage of jkm"

# Classes far apart take no more memory than others; below 0 they are no label sets.
awk '{ print $1 == 5 ? 900000000 : $1 }' labels.csv >far.csv
awk '{ print $1 == 5 ? -1 : $1 }' labels.csv >minus.csv
for method in 'krr --gamma 0.1' 'knn --k 15' 'jkm --C 1 --epsilon 0.1'; do
    # shellcheck disable=SC2086
    good 1 fit $method --x 'all.csv[0:60]' --y 'far.csv[0:60]' --y-type labels --kx 'rbf(sigma=1.5)' --holdout 0.5 -o far.h5
    good 3 predict far.h5 --x "all.csv$rest" --coverage 0.6 -o far_sets.csv
    says far_sets.csv 900000000 "classes far apart, $method"
    # shellcheck disable=SC2086
    good 1 fit $method --x 'all.csv[0:60]' --y 'minus.csv[0:60]' --y-type labels --kx 'rbf(sigma=1.5)' --holdout 0.5 -o minus.h5
    on 3 predict minus.h5 --x "all.csv$rest" --coverage 0.6 -o made.csv
    [ "$status" != 0 ] || fail "a class -1, $method: exit 0"
    says err 'a class -1' "a class -1, $method"
done

# Too few examples: everything; none, and wrong values: one line.
good 1 predict m.h5 --x "all.csv$rest" --calibration-x 'all.csv[300:305]' --calibration-y 'y.csv[300:305]' --coverage 0.9 -o w.csv
says err 'too few' "five calibration examples"
for c in 0 1 1.5 -0.1 x; do
    on 1 predict m.h5 --x "all.csv$rest" "${cal[@]}" --calibration-y 'y.csv[300:600]' --coverage "$c" -o made.csv
    expect 2 "a coverage of $c"
done
on 3 predict m.h5 --x "all.csv$rest" --coverage 0.9 -o made.csv
[ "$status" != 0 ] || fail "no calibration"
says err 'give --calibration-x' "no calibration"
on 3 predict m.h5 --x "all.csv$rest" "${cal[@]}" --coverage 0.9 -o made.csv
[ "$status" != 0 ] || fail "half a calibration"
[ ! -e made.csv ] || fail "sets were written"
finish

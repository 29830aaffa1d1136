#!/usr/bin/env bash
# Examples added to and removed from a model that keeps its factor: the same as a fit to what is left.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

normal 130 3 1 >all.csv
normal 40 3 2 >new.csv
awk -F, '{ print 5 + sin($1) + $2 * $3 "," $1 - $2 }' all.csv >y.csv
awk -F, '{ print ($1 + $2 > 0.3 ? 4 : ($1 < -0.5 ? 2 : 1)) }' all.csv >labels.csv
awk -F, '{ print ($1 + $2 > 0.3 ? "up" : ($1 < -0.5 ? "down" : "even")) }' all.csv >names.txt
krr=(--kx 'rbf(sigma=1.5)' --gamma 0.01 --keep-factor)

# same MODEL OTHER WHAT: predictions and deviations agree to 1e-10.
same() {
    good 1 predict "$1" --x new.csv --std -o a.csv
    good 1 predict "$2" --x new.csv --std -o b.csv
    good 1 score --truth a.csv --pred b.csv --loss mse --baseline none
    below "$(value rmse)" 1e-10 "$3"
}

good 1 fit krr --x all.csv --y y.csv "${krr[@]}" --center -o all.h5
good 1 fit krr --x 'all.csv[0:100]' --y 'y.csv[0:100]' "${krr[@]}" --center -o part.h5
for ranks in 1 2 3 4; do
    good "$ranks" append part.h5 --x 'all.csv[100:]' --y 'y.csv[100:]' --block 8 -o grown.h5
    [ "$(value appended) $(value m)" = '30 130' ] || fail "report on $ranks ranks: $(cat out)"
    below "$(value residual)" 1e-12 "residual on $ranks ranks"
    same all.h5 grown.h5 "30 more on $ranks ranks"
    good "$ranks" forget grown.h5 --rows 100:130 --block 8 -o back.h5
    same part.h5 back.h5 "the last 30 forgotten on $ranks ranks"
done

# Scattered rows, by a list and a file, and what a fit to the others is.
awk 'NR != 1 && NR != 18 && NR != 19 && NR != 60 && NR != 101 && NR != 130' all.csv >rest_x.csv
awk 'NR != 1 && NR != 18 && NR != 19 && NR != 60 && NR != 101 && NR != 130' y.csv >rest_y.csv
printf '129\n0\n17\n18\n59\n100\n' >rows.csv
good 1 fit krr --x rest_x.csv --y rest_y.csv "${krr[@]}" --center -o rest.h5
for ranks in 1 2 3 4; do
    good "$ranks" forget all.h5 --rows 0,17:19,59,100,129 --block 5 -o left.h5
    [ "$(value forgotten)" = 6 ] || fail "report on $ranks ranks"
    below "$(value residual)" 1e-12 "residual on $ranks ranks"
    same rest.h5 left.h5 "6 rows on $ranks ranks"
done
good 3 forget all.h5 --rows rows.csv -o left.h5
same rest.h5 left.h5 "rows of a file"
good 1 info left.h5
says out history "what was done"
cp all.h5 in_place.h5
good 2 forget in_place.h5 --rows 0,17:19,59,100,129 -o in_place.h5
same rest.h5 in_place.h5 "a model in its own place"

# Weights: an example of weight 2 is the same one twice, in the means, the deviations, and what is added and
# forgotten.
awk '{ print 1 + (NR % 3 == 0) }' y.csv >w.csv
for f in all y; do awk 'NR % 3 == 0' $f.csv | cat $f.csv - >$f.twice.csv; done
good 1 fit krr --x all.twice.csv --y y.twice.csv "${krr[@]}" --center -o twice.h5
for ranks in 1 3; do
    good "$ranks" fit krr --x all.csv --y y.csv --weights w.csv "${krr[@]}" --center -o weighed.h5
    same twice.h5 weighed.h5 "weights on $ranks ranks"
    good "$ranks" fit krr --x all.csv --y y.csv --weights w.csv "${krr[@]:0:4}" --center -o plain.h5
    same twice.h5 plain.h5 "weights without a factor on $ranks ranks"
    good "$ranks" fit krr --x 'all.csv[0:100]' --y 'y.csv[0:100]' --weights 'w.csv[0:100]' "${krr[@]}" --center -o part.h5
    good "$ranks" append part.h5 --x 'all.csv[100:]' --y 'y.csv[100:]' --weights 'w.csv[100:]' --block 8 -o grown.h5
    below "$(value residual)" 1e-12 "residual of weights on $ranks ranks"
    same twice.h5 grown.h5 "30 more of some weight on $ranks ranks"
    good "$ranks" forget grown.h5 --rows 100:130 --block 8 -o back.h5
    same part.h5 back.h5 "weights of what is left on $ranks ranks"
done
for m in twice weighed; do
    good 3 predict "$m.h5" --x new.csv --std --noise 0.3 -o "$m.csv"
done
good 1 score --truth twice.csv --pred weighed.csv --loss mse --baseline none
below "$(value rmse)" 1e-10 "deviations of new outputs with weights"
# Without weights before: those that were there weigh 1.
good 1 fit krr --x 'all.csv[0:100]' --y 'y.csv[0:100]' "${krr[@]}" -o part.h5
awk 'NR <= 100 { print 1; next } { print $1 }' w.csv >late.csv
good 1 fit krr --x all.csv --y y.csv --weights late.csv "${krr[@]}" -o late.h5
good 3 append part.h5 --x 'all.csv[100:]' --y 'y.csv[100:]' --weights 'w.csv[100:]' -o grown.h5
same late.h5 grown.h5 "the first weights"
wrong "w.csv has 130 weights, and there are 30 examples" append part.h5 --x 'all.csv[100:]' --y 'y.csv[100:]' --weights w.csv -o made/m.h5

# Classes: one that is new, and names.
good 1 fit krr --x 'all.csv[0:100]' --y 'labels.csv[0:100]' --y-type labels "${krr[@]}" -o classes.h5
good 1 fit krr --x all.csv --y labels.csv --y-type labels "${krr[@]}" -o all_classes.h5
good 3 append classes.h5 --x 'all.csv[100:]' --y 'labels.csv[100:]' -o grown.h5
for m in grown all_classes; do
    good 1 predict "$m.h5" --x new.csv --scores -o "$m.csv"
done
good 1 score --truth all_classes.csv --pred grown.csv --loss mse --baseline none
below "$(value rmse)" 1e-10 "scores of classes"
good 1 fit krr --x 'all.csv[0:100]' --y 'names.txt[0:100]' "${krr[@]}" -o names.h5
good 1 append names.h5 --x 'all.csv[100:]' --y 'names.txt[100:]' -o grown.h5
good 1 predict grown.h5 --x new.csv -o p.txt
says p.txt up "names of classes"

# What cannot be done is said in one line, and nothing is written.
good 1 fit krr --x all.csv --y y.csv --kx 'rbf(sigma=1.5)' --gamma 0.01 -o plain.h5
refuse() {
    local text=$1
    shift
    rm -f made.h5
    on 3 "$@" -o made.h5
    [ "$status" != 0 ] || fail "dkmap $*"
    says err "$text" "dkmap $*"
    [ "$(grep -c '^dkmap: ' err)" = 1 ] || fail "dkmap $*: $(cat err)"
    [ ! -e made.h5 ] || fail "dkmap $* wrote a model"
}
refuse 'row 130 is not there' forget all.h5 --rows 5,130
refuse 'named twice' forget all.h5 --rows 5,5
refuse 'all of 130' forget all.h5 --rows 0:130
refuse 'list such as' forget all.h5 --rows 5,
refuse 'list such as' forget all.h5 --rows 9223372036854775807
refuse 'more than' forget all.h5 --rows 1,0:99999999999999999
refuse 'row -5 is not there' forget all.h5 --rows -5:3
refuse 'keep-factor' forget plain.h5 --rows 5
refuse 'keep-factor' append plain.h5 --x new.csv --y 'y.csv[0:40]'
refuse 'columns' append all.h5 --x 'all.csv[:, 0:2]' --y y.csv
refuse 'columns' append all.h5 --x all.csv --y all.csv
refuse 'must match' append all.h5 --x all.csv --y 'y.csv[0:9]'
finish

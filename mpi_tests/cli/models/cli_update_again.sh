#!/usr/bin/env bash
# Models that were changed before: examples added and forgotten again and again, with rows of the factor that
# stand for none, until gaps are closed; and where the factor of a changed model is kept.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

normal 130 3 1 >all.csv
normal 40 3 2 >new.csv
awk -F, '{ print 5 + sin($1) + $2 * $3 "," $1 - $2 }' all.csv >y.csv
awk '{ print 1 + (NR % 3 == 0) }' y.csv >w.csv
krr=(--kx 'rbf(sigma=1.5)' --gamma 0.01 --keep-factor --center)

# same MODEL OTHER WHAT: predictions and deviations agree to 1e-10.
same() {
    good "${on_ranks:-1}" predict "$1" --x new.csv --std -o a.csv
    good 1 predict "$2" --x new.csv --std -o b.csv
    good 1 score --truth a.csv --pred b.csv --loss mse --baseline none
    below "$(value rmse)" 1e-10 "$3"
}

# rest ROW...: a fit to examples without those rows (from 1), with and without weights.
rest() {
    local f pattern=" $* "
    for f in all y w; do
        awk -v gone="$pattern" 'index(gone, " " NR " ") == 0' $f.csv >rest_$f.csv
    done
    good 1 fit krr --x rest_all.csv --y rest_y.csv "${krr[@]}" -o rest.h5
    good 1 fit krr --x rest_all.csv --y rest_y.csv --weights rest_w.csv "${krr[@]}" -o rest_w.h5
}

good 1 fit krr --x 'all.csv[0:100]' --y 'y.csv[0:100]' "${krr[@]}" -o start.h5
good 1 fit krr --x 'all.csv[0:100]' --y 'y.csv[0:100]' --weights 'w.csv[0:100]' "${krr[@]}" -o start_w.h5
rest 1 8 51 99 100 116
for ranks in 1 2 3 4; do
    on_ranks=$ranks
    for w in '' _w; do
        weights=(${w:+--weights 'w.csv[100:]'})
        # The first and a scattered row; then the last but one and the last of what is left.
        good "$ranks" forget start$w.h5 --rows 0,7 --block 8 -o a.h5
        good "$ranks" forget a.h5 --rows 96:98 --block 5 -o b.h5
        # 30 more, and of all 126 that are there then one old and one new one.
        good "$ranks" append b.h5 --x 'all.csv[100:]' --y 'y.csv[100:]' "${weights[@]}" --block 8 -o c.h5
        below "$(value residual)" 1e-12 "residual after three changes on $ranks ranks"
        good "$ranks" forget c.h5 --rows 48,111 --block 8 -o d.h5
        [ "$(value m)" = 124 ] || fail "m on $ranks ranks: $(cat out)"
        below "$(value residual)" 1e-12 "residual after four changes on $ranks ranks"
        same d.h5 rest$w.h5 "four changes$w on $ranks ranks"
    done
done
on_ranks=1
good 1 info d.h5
says out forgotten_rows "rows that stand for no example"
says out history "what was done"

# All but a few: the gaps are closed, and nothing of the others is left.
good 1 fit krr --x 'all.csv[40:45]' --y 'y.csv[40:45]' "${krr[@]}" -o few.h5
good 1 fit krr --x 'all.csv[0:130]' --y 'y.csv[0:130]' "${krr[@]}" -o whole.h5
for ranks in 1 3; do
    good "$ranks" forget whole.h5 --rows 0:2 --block 8 -o a.h5
    good "$ranks" forget a.h5 --rows 0:38,43:128 --block 8 -o b.h5
    same b.h5 few.h5 "all but five on $ranks ranks"
    good 1 info b.h5
    if grep -q forgotten_rows out; then fail "gaps were not closed on $ranks ranks"; fi
done

# An example that is there twice, without noise to speak of: its rows are too near to one another to project.
cat <(head -60 all.csv) <(head -3 all.csv) >twice.csv
cat <(head -60 y.csv) <(head -3 y.csv) >twice_y.csv
good 1 fit krr --x 'all.csv[3:60]' --y 'y.csv[3:60]' --kx 'rbf(sigma=1.5)' --gamma 1e-3 --keep-factor -o once.h5
good 2 fit krr --x twice.csv --y twice_y.csv --kx 'rbf(sigma=1.5)' --gamma 1e-3 --keep-factor -o twice.h5
good 2 forget twice.h5 --rows 0,60 -o a.h5
good 2 forget a.h5 --rows 0,59 -o b.h5
good 2 forget b.h5 --rows 0,58 -o c.h5
same c.h5 once.h5 "examples that were there twice"

# --factor: where the rows are kept.
good 1 fit krr --x all.csv --y y.csv "${krr[@]}" -o whole.h5
rest 1 8
mkdir -p other
for ranks in 1 3; do
    on_ranks=$ranks
    good "$ranks" append start.h5 --x 'all.csv[100:]' --y 'y.csv[100:]' --factor refer -o grown.h5
    [ "$(stat -c %s grown.h5)" -lt "$(stat -c %s start.h5)" ] || fail "a model that refers is not small"
    same grown.h5 whole.h5 "rows in another file on $ranks ranks"
    good "$ranks" predict grown.h5 --x new.csv --std -o a.csv
    [ "$(value factor)" = model ] || fail "the factor was computed anew: $(cat out)"
    good "$ranks" forget grown.h5 --rows 0,7 --factor refer -o fewer.h5
    same fewer.h5 rest.h5 "rows in two files on $ranks ranks"
    good "$ranks" forget grown.h5 --rows 0,7 -o less.h5
    same less.h5 rest.h5 "rows gathered from two files on $ranks ranks"
    good "$ranks" append start.h5 --x 'all.csv[100:]' --y 'y.csv[100:]' --factor drop -o dropped.h5
    same dropped.h5 whole.h5 "a model without its factor on $ranks ranks"
    on "$ranks" forget dropped.h5 --rows 0 -o made.h5
    says err keep-factor "a model without its factor"
    on "$ranks" forget start.h5 --rows 0,7 --factor refer -o start.h5
    [ "$status" != 0 ] || fail "a model that refers to itself"
    says err 'is to refer to' "a model that refers to itself"
    on "$ranks" forget grown.h5 --rows 0,7 --factor refer -o start.h5
    says err 'is to refer to' "a model that replaces what it refers to"
    on "$ranks" forget start.h5 --rows 0,7 --factor refer -o other/fewer.h5
    [ "$status" != 0 ] || fail "a model that refers to another folder"
    says err 'in another folder' "a model that refers to another folder"
    # Both files moved, and a file of that name where they were: the one beside the model counts.
    mkdir moved
    cp grown.h5 start.h5 moved
    good "$ranks" predict moved/grown.h5 --x new.csv --std -o a.csv
    [ "$(value factor)" = model ] || fail "the factor of moved files was computed anew: $(cat out)"
    rm moved/start.h5
    good "$ranks" predict moved/grown.h5 --x new.csv --std -o a.csv
    [ "$(value factor)" = recomputed ] || fail "a file outside of the model's folder was taken: $(cat out)"
    rm -r moved
    cp grown.h5 planted.h5
    "$DKMAP_EDITOR" planted.h5 text factor_file '0 100 90000 0000000000000001 ../start.h5' || fail "the editor cannot"
    on "$ranks" predict planted.h5 --x new.csv --std -o a.csv
    [ "$status" = 1 ] || fail "a model that names a file elsewhere: $status"
    says err 'cannot be' "a model that names a file elsewhere"
    # Where the other file is gone, or another one of its name, the factor is computed anew.
    cp start.h5 kept.h5
    good 1 fit krr --x 'all.csv[0:100]' --y 'y.csv[0:100]' --kx 'rbf(sigma=1)' --gamma 0.01 --keep-factor -o start.h5
    good "$ranks" predict fewer.h5 --x new.csv --std -o a.csv
    [ "$(value factor)" = recomputed ] || fail "another file was taken: $(cat out)"
    same fewer.h5 rest.h5 "a factor computed anew on $ranks ranks"
    rm start.h5
    good "$ranks" forget grown.h5 --rows 0,7 -o less.h5
    same less.h5 rest.h5 "a file that is gone on $ranks ranks"
    mv kept.h5 start.h5
    # A byte of the rows is another one: that is seen.
    cp start.h5 kept.h5
    printf '\125' | dd of=start.h5 bs=1 seek=20000 conv=notrunc status=none
    on "$ranks" forget grown.h5 --rows 0,7 -o made.h5
    [ "$status" != 0 ] || fail "damaged rows were taken"
    says err checksum "damaged rows"
    mv kept.h5 start.h5
done
wrong 'expects one of copy, refer, drop' forget start.h5 --rows 0 --factor some -o made/m.h5
finish

#!/usr/bin/env bash
# fit krr and kde --tune: what a grid of 200 points finds, the same on several ranks; classes; what cannot be tuned.
# Several ranks are given --autotune, the same option: Open MPI's mpirun would look for a file after --tune.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

good 1 gen regression --n 80 --dim 5 --seed 1 --out-dir f
on 1 fit krr --x f/x.npy --y f/y.npy --kx 'rbf(sigma=median)' --tune -o m.h5
grep -q 'built without it' err && { echo "no NLopt"; exit 77; }
expect 0 "tune"
tuned=$(value loo)
below "$tuned" "$(value start_loo)" "the tuned error"
below "$(value tune_fits)" 101 "looks at the error"
[ "$(value tuned_parameters)" = 2 ] || fail "width and ridge are two numbers: $(cat out)"

# 10 widths x 20 ridges
best=1e9
gammas=$(awk 'BEGIN { for (k = 0; k < 20; k++) printf "%s%.3g", k ? "," : "", 10 ^ (-7 + 0.5 * k) }')
for sigma in 0.2 0.35 0.5 0.7 1 1.4 2 3 5 9; do
    good 1 fit krr --x f/x.npy --y f/y.npy --kx "rbf(sigma=$sigma)" --gamma "$gammas" -o g.h5
    best=$(awk -v a="$best" -v b="$(value loo)" 'BEGIN { print b + 0 < a + 0 ? b : a }')
done
below "$tuned" "$(awk -v b="$best" 'BEGIN { print 1.001 * b }')" "the error of the best of 200 points"

# Three ranks and other blocks find the same; a width per column finds that some do not matter.
few=(--kx 'rbf(sigma=1)' --gamma 0.1 --autotune --tune-starts 1)
good 1 fit krr --x f/x.npy --y f/y.npy "${few[@]}" --tune-fits 12 -o m1.h5
one=$(value loo)
good 3 fit krr --x f/x.npy --y f/y.npy "${few[@]}" --tune-fits 12 --block 16 -o m3.h5
awk -v a="$one" -v b="$(value loo)" 'BEGIN { exit !(a / b > 0.9999 && a / b < 1.0001) }' ||
    fail "3 ranks end at $(value loo), not $one"
good 1 fit krr --x f/x.npy --y f/y.npy "${few[@]}" --center --tune-widths columns --tune-fits 60 -o c.h5
[ "$(value tuned_parameters)" = 6 ] || fail "five widths and the ridge: $(cat out)"
below "$(value loo)" "$tuned" "the error with a width per column"
good 2 predict c.h5 --x f/x.npy -o p.npy
good 1 score --truth f/y.npy --pred p.npy --loss r2
awk -v r="$(value r2)" 'BEGIN { exit !(r > 0.9) }' || fail "the tuned model predicts: $(cat out)"

# A search that begins with some of the examples ends where one by all does, with few looks at all; on three ranks too.
# Both stop in a valley that is flat to a part in 1e3 along the width and the ridge.
good 1 gen regression --n 240 --dim 5 --seed 2 --out-dir b
good 1 fit krr --x b/x.npy --y b/y.npy --kx 'rbf(sigma=median)' --center --autotune -o all.h5
all=$(value loo) looks=$(value tune_fits)
[ -z "$(value tune_subset)" ] || fail "240 examples are no reason for a subset: $(cat out)"
for ranks in 1 3; do
    good "$ranks" fit krr --x b/x.npy --y b/y.npy --kx 'rbf(sigma=median)' --center --autotune --tune-subset 60 -o some.h5
    awk -v a="$all" -v b="$(value loo)" 'BEGIN { exit !(b < 1.001 * a) }' || fail "by a subset first: $(value loo), by all $all"
    [ "$(value tune_subset)" = 60 ] || fail "60 examples to begin with: $(cat out)"
    [ "$(value tune_full_fits)" -lt "$looks" ] || fail "$(value tune_full_fits) of $(value tune_fits) looks were at all examples"
    losses[ranks]=$(value loo)
done
awk -v a="${losses[1]}" -v b="${losses[3]}" 'BEGIN { exit !(a / b > 0.999 && a / b < 1.001) }' || fail "3 ranks end at ${losses[3]}, not ${losses[1]}"
good 2 fit krr --x b/x.npy --y b/y.npy --autotune --tune-widths columns --tune-subset 60 -o some.h5
[ "$(value tuned_parameters)" = 6 ] || fail "five widths and the ridge: $(cat out)"

# kde: coordinates of strings, of which vowels depend on the input
awk 'BEGIN { srand(2); for (i = 0; i < 40; i++) { x = rand(); print x "," rand() >"kx.csv"; print (x < 0.3 ? "aaba" : x < 0.6 ? "oobo" : "eebe") >"ky.txt" } }'
for ranks in 1 3; do
    good "$ranks" fit kde --x kx.csv --y ky.txt --kx 'rbf(sigma=3)' --ky 'normalize(spectrum(p=2))' --components all --gamma 1 --autotune \
        --tune-starts 1 --tune-fits 15 -o "kde$ranks.h5"
    below "$(value loo)" "$(value start_loo)" "the tuned error of kde"
    [ "$(value tune_fits)" -le 15 ] || fail "$(value tune_fits) looks, 15 were allowed"
done
good 1 predict kde3.h5 --x kx.csv -o ky.out.txt
[ "$(paste -d' ' ky.txt ky.out.txt | awk '$1 == $2' | wc -l)" -gt 32 ] || fail "the tuned kde predicts: $(paste ky.txt ky.out.txt | head -5)"

# Numbers of the output kernel too, under a loss that stays as it is: the same on one rank and on three.
for ranks in 1 3; do
    good "$ranks" fit kde --x kx.csv --y ky.txt --kx 'rbf(sigma=3)' --ky 'rbf(normalize(spectrum(p=2)), sigma=9)' --components all --gamma 1 \
        --tune-loss 'normalize(spectrum(p=2))' --autotune --tune-starts 1 --tune-fits 20 -o "both$ranks.h5"
    below "$(value decoding_loss)" "$(value start_decoding_loss)" "the tuned loss of decoding"
    [ "$(value decoding_parameters)" = 4 ] || fail "two widths, the ridge and the temperature: $(cat out)"
    [ "$(value decoding_fits)" -le 10 ] || fail "$(value decoding_fits) looks, 10 were allowed"
    [ "$(value tune_loss)" = 'normalize(spectrum(p=2))' ] || fail "the loss stays: $(cat out)"
    losses[ranks]=$(value decoding_loss)
done
awk -v a="${losses[1]}" -v b="${losses[3]}" 'BEGIN { exit !(a / b > 0.999 && a / b < 1.001) }' || fail "3 ranks end at ${losses[3]}, not ${losses[1]}"
good 1 predict both3.h5 --x kx.csv -o ky.both.txt
[ "$(paste -d' ' ky.txt ky.both.txt | awk '$1 == $2' | wc -l)" -gt 32 ] || fail "kde with both kernels tuned predicts"

# Label sets, which are found among candidates, are tuned for: the search by points stops where a second one begins.
awk 'BEGIN { srand(5); for (i = 0; i < 60; i++) { x = rand(); y = rand(); print x "," y >"lx.csv"; print (x > 0.5) "," 2 + (y > 0.5) "," 4 + (x > y) >"ly.txt" } }'
sed 's/,/ /g' ly.txt >ly.sets
sets=(--x lx.csv --y ly.sets --kx 'rbf(sigma=4)' --ky 'normalize(set)' --components all --autotune --tune-starts 1 --tune-fits 24)
good 1 fit kde "${sets[@]}" --tune-for points -o points.h5
[ "$(value tune_fits)/$(value decoding_fits)" = "$(value tune_fits)/" ] || fail "--tune-for points looked at outputs: $(cat out)"
for ranks in 1 3; do
    good "$ranks" fit kde "${sets[@]}" -o "sets$ranks.h5"
    [ "$(value decoding_parameters)" = 3 ] || fail "a width, the ridge and the temperature: $(cat out)"
    [ "$(value tune_loss)" = 'normalize(set)' ] || fail "the loss is that of ky: $(cat out)"
    below "$(value decoding_loss)" "$(value start_decoding_loss)" "the tuned loss of sets"
    awk -v a="$(value nearest_loss)" -v b="$(value start_nearest_loss)" 'BEGIN { exit !(a <= b) }' || fail "nearest sets are worse than at the start: $(cat out)"
    losses[ranks]=$(value decoding_loss)
done
awk -v a="${losses[1]}" -v b="${losses[3]}" 'BEGIN { exit !(a / b > 0.999 && a / b < 1.001) }' || fail "3 ranks end at ${losses[3]}, not ${losses[1]}"
good 1 fit kde --x lx.csv --y lx.csv --kx 'rbf(sigma=4)' --ky linear --components all --autotune --tune-starts 1 --tune-fits 6 -o dense.h5
[ -z "$(value decoding_fits)" ] || fail "dense outputs of a linear kernel are points themselves: $(cat out)"
good 1 fit kde --x lx.csv --y lx.csv --kx 'rbf(sigma=4)' --ky linear --components all --autotune --tune-starts 1 --tune-fits 6 --tune-for outputs -o dense.h5
[ -n "$(value decoding_fits)" ] || fail "--tune-for outputs did not look at them: $(cat out)"

# Without any number: the ridge begins at 0.1. Some of the examples decide, the same on any number of ranks.
for ranks in 1 3; do
    good "$ranks" fit kde --x kx.csv --y ky.txt --kx rbf --ky 'normalize(spectrum(p=2))' --components all --autotune --tune-starts 1 --tune-fits 8 --tune-rows 30 -o "some$ranks.h5"
    [ "$(value start_gamma)/$(value tune_rows)/$(value m)" = 0.1/30/40 ] || fail "30 of 40 examples: $(cat out)"
    losses[ranks]=$(value loo)
done
awk -v a="${losses[1]}" -v b="${losses[3]}" 'BEGIN { exit !(a / b > 0.999 && a / b < 1.001) }' || fail "3 ranks end at ${losses[3]}, not ${losses[1]}"
on 1 fit kde --x kx.csv --y ky.txt --kx rbf --ky class --components all -o none.h5
expect 2 "kde without a ridge"

# Classes, as the square error of one column each; a list of ridges is where to begin.
awk 'BEGIN { srand(4); for (i = 0; i < 60; i++) { x = rand(); y = rand(); print x "," y >"x.csv"; print (x > y) + (x + y > 1) >"y.csv" } }'
good 3 fit krr --x x.csv --y y.csv --y-type labels --kx 'sum(rbf(sigma=5), scale(linear, by=1))' --gamma 1e-3,1e-1 --autotune \
    --tune-starts 1 --tune-fits 12 -o k.h5
below "$(value loo)" "$(value start_loo)" "the tuned error of classes"
[ "$(value tuned_parameters)" = 3 ] || fail "two numbers of the kernel and the ridge: $(cat out)"
[ "$(value tune_fits)" -le 12 ] || fail "$(value tune_fits) looks, 12 were allowed"

# refused TEXT ARGUMENTS...: one line, no result and no file.
refused() {
    on 3 fit krr --x x.csv --y y.csv --y-type labels "${@:2}" -o none.h5
    expect 2 "${*:2}"
    says err "$1" "${*:2}"
    [ "$(grep -c '^dkmap: ' err)" = 1 ] || fail "${*:2}: $(cat err)"
    [ -e none.h5 ] && fail "${*:2} left a file"
    [ -s out ] && fail "${*:2}: results all the same"
}
refused "no numbers" --kx linear --gamma 1 --autotune
refused "no numbers" --kx 'poly(degree=2, c=0)' --gamma 1 --autotune
refused "tune-fits goes with --tune" --kx 'rbf(sigma=1)' --gamma 1 --tune-fits 9
refused "tune-subset goes with --tune" --kx 'rbf(sigma=1)' --gamma 1 --tune-subset 20
refused "at least 10" --kx 'rbf(sigma=1)' --gamma 1 --autotune --tune-subset 9
refused "exact fit" --kx 'rbf(sigma=1)' --gamma 1 --autotune --solver pcg --landmarks 5
on 1 fit kde --x kx.csv --y ky.txt --kx 'rbf(sigma=3)' --ky class --components 2 --regressor svr --C 1 --autotune -o none.h5
[ "$status" = 0 ] && fail "kde by svr was tuned"
on 1 cv krr --x x.csv --y y.csv --kx 'rbf(sigma=1)' --gamma 1 --autotune
[ "$status" = 0 ] && fail "cv took --tune"
finish

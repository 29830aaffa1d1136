#!/usr/bin/env bash
# Ridge regression past the memory of a kernel matrix: landmarks from files to predictions, the same
# on any number of ranks, kept or streamed, and what is told of them.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# fit RANKS MODEL OPTIONS...
fit() {
    good "$1" fit krr -o "$2" "${@:3}"
}

# near A B LIMIT WHAT: two prediction files agree.
near() {
    good 1 score --truth "$1" --pred "$2" --loss mse
    below "$(value rmse)" "$3" "$4"
}

normal 300 4 1 >x.csv
awk -F, '{ printf "%.6f,%.6f\n", $1 * $2 + $3, 1 - $4 * $1 }' x.csv >y.csv
normal 40 4 3 >new.csv
rbf=(--x x.csv --y y.csv --kx 'rbf(sigma=2)' --gamma 0.01 --center)
pcg=("${rbf[@]}" --solver pcg --landmarks 60 --tolerance 1e-11)

# The same model on any number of ranks, by kept and by streamed inputs.
fit 1 one.h5 "${pcg[@]}" --record runs.jsonl
[ "$(value landmarks) $(value solver) $(value converged) $(value inputs)" = "60 pcg yes memory" ] ||
    fail "fit tells of pcg: $(cat out)"
below "$(value residual)" 1e-11 "residual"
below "$(value training_residual)" 0.05 "the fit to the training outputs"
grep -q '"convergence": *\[' runs.jsonl || fail "the record has no convergence"
good 1 predict one.h5 --x new.csv -o one.npy
for ranks in 2 3 4 6; do
    fit "$ranks" m.h5 "${pcg[@]}"
    good "$ranks" predict m.h5 --x new.csv -o m.npy
    near one.npy m.npy 1e-7 "$ranks ranks predict as one does"
done
fit 3 s.h5 "${pcg[@]}" --stream
[ "$(value inputs)" = streamed ] || fail "--stream is not told: $(cat out)"
good 2 predict s.h5 --x new.csv -o s.npy
near one.npy s.npy 1e-7 "streamed inputs give the same model"
fit 2 single.h5 "${pcg[@]}" --precision mixed
good 1 predict single.h5 --x new.csv -o single.npy
near one.npy single.npy 1e-4 "single precision values are near"

# More landmarks than inputs are all of them, and then the fit is the exact one.
fit 2 exact.h5 "${rbf[@]}"
good 1 predict exact.h5 --x new.csv -o exact.npy
fit 2 all.h5 "${rbf[@]}" --solver pcg --landmarks 1000 --tolerance 1e-13
good 1 predict all.h5 --x new.csv -o all.npy
near exact.npy all.npy 1e-6 "as many landmarks as inputs"
below 1e-4 "$(good 1 score --truth exact.npy --pred one.npy --loss mse; value rmse)" \
    "fewer landmarks are not the exact fit"

# Another seed is another draw.
fit 2 seed.h5 "${pcg[@]}" --seed 3
good 1 predict seed.h5 --x new.csv -o seed.npy
below 1e-6 "$(good 1 score --truth one.npy --pred seed.npy --loss mse; value rmse)" "another seed"

# Labels.
awk -F, '{ print ($1 * $2 > 0) ? 7 : 2 }' x.csv >labels.csv
fit 2 l.h5 --x x.csv --y labels.csv --y-type labels --kx 'rbf(sigma=1)' --gamma 0.01 --solver pcg \
    --landmarks 100
good 2 predict l.h5 --x x.csv -o l.csv
below "$(paste -d, labels.csv l.csv | awk -F, '{ wrong += $1 != $2 } END { print wrong / NR }')" 0.05 \
    "labels with landmarks"

# Duplicate rows and a tiny ridge: it converges, or says why it stopped.
cat x.csv x.csv >xx.csv
cat y.csv y.csv >yy.csv
for gamma in 1e-3 1e-13; do
    on 2 fit krr --x xx.csv --y yy.csv --kx 'rbf(sigma=20)' --gamma "$gamma" --solver pcg \
        --landmarks 400 -o hard.h5
    expect 0 "an ill-conditioned kernel with gamma $gamma"
    [ "$(value converged)" = yes ] || says err "conjugate gradients stopped" "the reason is told"
    below "$(value training_residual)" 0.2575 "fit of an ill-conditioned kernel" # the exact one's
done

# All inputs as centres: the exact fit, by iteration; the distance to it is told for few inputs.
for ranks in 1 3; do
    fit "$ranks" centers.h5 "${rbf[@]}" --solver pcg --landmarks 40 --centers all
    [ "$(value centers) $(value converged) $(value kernel_matrix)" = "all yes stored" ] ||
        fail "--centers all: $(cat out)"
    below "$(value exact_distance)" 1e-9 "distance of --centers all to the exact fit"
    good 1 predict centers.h5 --x new.csv -o centers.npy
    near exact.npy centers.npy 1e-8 "all inputs as centers"
done
fit 2 centers.h5 "${rbf[@]}" --solver pcg --landmarks 40 --centers all --keep nothing
[ "$(value kernel_matrix) $(value kernel_values)" = "recomputed recomputed" ] ||
    fail "--keep nothing: $(cat out)"
good 1 predict centers.h5 --x new.csv -o centers.npy
near exact.npy centers.npy 1e-8 "all inputs as centers, with nothing kept"
for choice in leverage pivoted; do
    fit 1 c1.h5 "${pcg[@]}" --landmark-choice "$choice"
    below "$(value exact_distance)" 0.3 "distance to the exact fit with $choice"
    good 1 predict c1.h5 --x new.csv -o c1.npy
    fit 3 c3.h5 "${pcg[@]}" --landmark-choice "$choice"
    good 1 predict c3.h5 --x new.csv -o c3.npy
    near c1.npy c3.npy 1e-6 "$choice on 1 and 3 ranks"
done

# Held-out examples, drawn or given.
fit 2 h.h5 "${pcg[@]}" --holdout 0.2 --record h.jsonl
[ "$(value m) $(value holdout_rows)" = "240 60" ] || fail "--holdout 0.2: $(cat out)"
below "$(value holdout_mse)" 0.05 "error on what was held out"
grep -q '"holdout_mse":' h.jsonl || fail "the record has no held-out error"
awk 'NR > 250' x.csv >hx.csv
awk 'NR > 250' y.csv >hy.csv
fit 2 h.h5 --x 'x.csv[0:250]' --y 'y.csv[0:250]' --kx 'rbf(sigma=2)' --gamma 0.01 --stream --solver pcg \
    --landmarks 50 --holdout-x hx.csv --holdout-y hy.csv
[ "$(value holdout_rows)" = 50 ] || fail "--holdout-x: $(cat out)"
told=$(value holdout_mse)
good 1 predict h.h5 --x hx.csv -o hp.csv
good 1 score --truth hy.csv --pred hp.csv --loss mse
below "$(awk -v a="$told" -v b="$(value mse)" 'BEGIN { print (a > b ? a - b : b - a) }')" 1e-6 \
    "the held-out error is the one that score tells"

# Solver auto with a time: what was chosen, and why.
fit 2 auto.h5 "${rbf[@]}" --time 10h
[ "$(value solver)" = cholesky ] || fail "ten hours are enough for the exact fit: $(cat out)"
says out "chosen" "the choice is explained"
fit 2 auto.h5 "${rbf[@]}" --time 0.000001s
[ "$(value solver) $(value landmarks)" = "pcg 100" ] || fail "a microsecond is not: $(cat out)"
fit 2 auto.h5 "${rbf[@]}" --solver pcg
[ "$(value landmarks)" = 173 ] || fail "10 sqrt(m) landmarks when not given: $(cat out)"

# Components of landmarks, the same on 1 and 3 ranks, and maps between any objects.
for ranks in 1 3; do
    good "$ranks" fit kpca --x x.csv --kx 'rbf(sigma=2)' --components 3 --landmarks 80 -o k.h5
    [ "$(value m) $(value landmarks) $(value components)" = "300 80 3" ] || fail "kpca: $(cat out)"
    good 1 encode k.h5 --x new.csv -o "k$ranks.npy"
done
near k1.npy k3.npy 1e-8 "components of landmarks on 1 and 3 ranks"
awk -F, '{ print ($1 * $2 > 0) ? "aab" : "bba" }' x.csv >words.txt
good 2 fit kde --x x.csv --y words.txt --kx 'rbf(sigma=1)' --ky 'normalize(spectrum(p=2))' \
    --components all --gamma 0.01 --solver pcg --landmarks 100 -o kde.h5
[ "$(value m) $(value landmarks) $(value converged)" = "300 100 yes" ] || fail "kde: $(cat out)"
good 3 predict kde.h5 --x x.csv -o guessed.txt
below "$(paste words.txt guessed.txt | awk '{ wrong += $1 != $2 } END { print wrong / NR }')" 0.05 \
    "words from landmarks"
good 2 predict kde.h5 --x x.csv -o guessed.txt --candidates words.txt

# What cannot be.
on 2 fit krr "${rbf[@]}" --gamma 1 --solver pcg --landmarks 5 -o no.h5
expect 2 "gamma twice"
on 1 fit krr --x x.csv --y y.csv --kx linear --gamma 1,2 --solver pcg --landmarks 5 -o no.h5
expect 2 "a list of gammas"
says err "one gamma" "a list of gammas is refused"
on 1 fit krr "${rbf[@]}" --stream -o no.h5
expect 2 "stream without pcg"
on 1 fit krr "${pcg[@]:0:13}" --tolerance 2 -o no.h5
expect 2 "a tolerance of 2"
on 1 fit krr "${pcg[@]}" --time soon -o no.h5
expect 2 "no time"
on 1 fit krr "${pcg[@]}" --holdout 1.5 -o no.h5
expect 2 "a share of 1.5"
on 1 fit krr "${pcg[@]}" --holdout-x x.csv -o no.h5
expect 2 "held-out inputs without outputs"
on 2 fit krr "${pcg[@]}" --centers all --stream -o no.h5
expect 2 "all centers that are not kept"
[ ! -e no.h5 ] || fail "a refused fit left a model"
finish

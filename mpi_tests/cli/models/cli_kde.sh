#!/usr/bin/env bash
# Kernel dependency estimation from the command line: outputs of every type through fit, save, load,
# predict and score, the same on any number of ranks.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# Inputs in three clumps; the output tells the clump, in five types.
awk 'BEGIN { srand(4); for (i = 0; i < 60; i++) {
    c = i % 3; print 4 * c + rand() "," rand() - 3 * c > "x.csv"
    print c > "labels.csv"; print 10 * c "," 5 - c > "dense.csv"
    print substr("aabab" "bccbc" "cacca", 5 * c + 1, 5) > "strings.txt"
    print (c == 0 ? "red small" : c == 1 ? "green" : "blue large") > "words.sets"
    print c "," c + 5 " 1:1" > "sets.svm" } }'
outputs=("labels.csv --y-type labels|class|npy|zero-one" "dense.csv|rbf(sigma=3)|npy|mse"
    "strings.txt|normalize(ssk(r=2, lambda=0.5))|txt|edit" "words.sets|normalize(set)|txt|zero-one"
    "sets.svm|labels|csv|hamming")

for row in "${outputs[@]}"; do
    IFS='|' read -r file kernel ending loss <<<"$row"
    # shellcheck disable=SC2086
    good 4 fit kde --x 'x.csv[0:48]' --y "${file%% *}[0:48]" ${file#"${file%% *}"} --ky "$kernel" \
        --kx 'rbf(sigma=1)' --components 2 --gamma 0.01 -o "m_$loss.h5"
    [ "$(value components)" = 2 ] || fail "components of $file: $(cat out err)"
    good 1 predict "m_$loss.h5" --x 'x.csv[48:60]' -o "p1.$ending"
    good 3 predict "m_$loss.h5" --x 'x.csv[48:60]' -o "p3.$ending" --grid 3x1
    cmp -s "p1.$ending" "p3.$ending" || fail "$file: 1 and 3 ranks predict otherwise"
    type=()
    case $file in labels*) type=(--y-type labels) ;; words*) type=(--y-type sets) ;;
        sets*) type=(--y-type label-sets) ;; esac
    good 2 score --truth "${file%% *}[48:60]" --pred "p1.$ending" --loss "$loss" "${type[@]}"
    below "$(value "$loss")" 1e-6 "$file is predicted"
    case $file in *sets*) # text that goes with sets is read as sets
        good 2 score --truth "${file%% *}[48:60]" --pred "p1.$ending" --loss "$loss"
        below "$(value "$loss")" 1e-6 "$file is scored without a type"
        good 3 predict "m_$loss.h5" --x 'x.csv[48:60]' --candidates "p1.$ending" -o "c1.$ending"
        cmp -s "p1.$ending" "c1.$ending" || fail "$file: candidates without a type" ;;
    esac
done

# Pre-images: closed form, the best three, coordinates, candidates from a file.
# as_ridge RANKS FILE LIMIT: with a linear kernel on them, outputs are predicted as by ridge regression.
as_ridge() {
    good "$1" fit kde --x x.csv --y "$2" --kx 'rbf(sigma=1)' --ky linear --components all \
        --gamma 0.01 -o lin.h5
    good 2 predict lin.h5 --x x.csv -o lin.npy
    good 2 fit krr --x x.csv --y "$2" --kx 'rbf(sigma=1)' --gamma 0.01 --center -o krr.h5
    good 2 predict krr.h5 --x x.csv -o krr.npy
    good 1 score --truth krr.npy --pred lin.npy --loss mse
    below "$(value rmse)" "$3" "a linear output kernel is ridge regression on $2, $1 ranks"
}
awk 'BEGIN { srand(9); for (i = 0; i < 60; i++) # a large mean beside little variance
    printf "%.9f,%.9f,%.9f\n", 900 + 20 * rand(), 700 + 5 * rand(), 800 + 0.01 * rand() }' >mean.csv
as_ridge 1 mean.csv 1e-7
as_ridge 4 mean.csv 1e-7
as_ridge 3 dense.csv 1e-9
good 2 predict m_mse.h5 --x 'x.csv[0:4]' --top 3 -o top.csv
[ "$(awk -F, 'END { print NR, NF }' top.csv)" = "4 6" ] || fail "--top 3: $(cat top.csv)"
good 2 predict m_mse.h5 --x 'x.csv[0:4]' --preimage coordinates -o z.csv
[ "$(awk -F, 'END { print NR, NF }' z.csv)" = "4 2" ] || fail "coordinates: $(cat z.csv)"
printf '0,5\n10,4\n20,3\n99,99\n' >cand.csv
good 3 predict m_mse.h5 --x 'x.csv[0:3]' --candidates cand.csv -o c.csv
[ "$(tr '\n' ' ' <c.csv)" = "0,5 10,4 20,3 " ] || fail "candidates from a file: $(cat c.csv)"

# Support vector regression instead of ridge regression, through a file and other rank counts.
good 4 fit kde --x x.csv --y dense.csv --kx 'rbf(sigma=1)' --ky linear --components all \
    --learner svr --C 100 --tube 0.01 -o svr.h5
good 1 predict svr.h5 --x x.csv -o svr1.npy
good 3 predict svr.h5 --x x.csv -o svr3.npy
good 1 score --truth svr1.npy --pred svr3.npy --loss mse
below "$(value rmse)" 1e-12 "1 and 3 ranks predict alike"
for ranks in 1 4; do
    good "$ranks" fit kde --x x.csv --y mean.csv --kx 'rbf(sigma=1)' --ky 'rbf(sigma=5)' --components 20 \
        --learner svr --C 10 --tube 0.01 --tolerance 1e-8 -o near.h5
    good 2 predict near.h5 --x x.csv --preimage coordinates -o "near$ranks.npy"
done
good 1 score --truth near1.npy --pred near4.npy --loss mse
below "$(value rmse)" 1e-7 "machines at a small tolerance, on 1 and 4 ranks"
good 1 score --truth dense.csv --pred svr1.npy --loss mse
below "$(value rmse)" 0.02 "outputs lie in their tubes"
good 2 cv kde --x x.csv --y dense.csv --kx 'rbf(sigma=1)' --ky linear --components 2 \
    --learner svr --C 0.01,100 --tube 0.01 --folds 3
[ "$(value best)" = C=100 ] || fail "cv of machines: $(cat out)"
good 2 fit kde --x x.csv --y dense.csv --kx 'rbf(sigma=1)' --ky linear --components 30 --gamma 0.01 \
    -o few.h5
grep -q "30 components were asked for and only $(value components) are not zero" err ||
    fail "fewer components than were asked for are not told: $(cat err)"

# The penalty on coefficients: with linear outputs the predictions of ridge regression with it.
good 3 fit krr --x x.csv --y dense.csv --kx 'rbf(sigma=1)' --gamma 0.01 --center \
    --penalty coefficients -o pen.h5
good 2 predict pen.h5 --x x.csv -o pen_krr.npy
for ranks in 1 2 4; do
    good "$ranks" fit kde --x x.csv --y dense.csv --kx 'rbf(sigma=1)' --ky linear --components all \
        --gamma 0.01 --penalty coefficients -o pen.h5
    good 3 predict pen.h5 --x x.csv -o pen.npy
    good 1 score --truth pen_krr.npy --pred pen.npy --loss mse
    below "$(value rmse)" 1e-9 "the penalty on coefficients on $ranks ranks"
done
good 1 score --truth krr.npy --pred pen.npy --loss mse
below 1e-3 "$(value rmse)" "another penalty is another map"
good 2 cv kde --x x.csv --y dense.csv --kx 'rbf(sigma=1)' --ky linear --components 2 \
    --penalty coefficients --gamma 0.01,1e6 --folds 3
[ "$(value best)" = gamma=0.01 ] || fail "cv with the penalty on coefficients: $(cat out)"
for other in "--learner svr --C 1" "--solver pcg --gamma 1" "--precision mixed --gamma 1"; do
    # shellcheck disable=SC2086
    on 2 fit kde --x x.csv --y dense.csv --kx linear --ky 'rbf(sigma=1)' --components 1 \
        --penalty coefficients $other -o none.h5
    expect 2 "the penalty on coefficients with $other"
    says err "the penalty on coefficients is for ridge regression" "$other"
done

on 2 fit kde --x x.csv --y dense.csv --kx linear --ky linear --components 1 --learner svr -o none.h5
expect 2 "machines without C"
says err "needs --C" "machines without C"
on 2 fit kde --x x.csv --y dense.csv --kx linear --ky linear --components 1 -o none.h5
expect 2 "kde without gamma"
says err "needs --gamma" "kde without gamma"

# Outputs without inputs, and shrunken coordinates: the same on any number of ranks.
printf '0,5\n10,4\n20,3\n35,1\n' >extra.csv
for ranks in 1 3; do
    good "$ranks" fit kde --x x.csv --y dense.csv --extra-y extra.csv --shrink 0.2 --ky linear \
        --kx 'rbf(sigma=1)' --components all --gamma 0.01 -o "extra$ranks.h5"
    [ "$(value extra_outputs)" = 4 ] || fail "extra outputs are told: $(cat out)"
    good 2 predict "extra$ranks.h5" --x x.csv -o "extra$ranks.npy"
done
good 1 score --truth extra1.npy --pred extra3.npy --loss mse
below "$(value rmse)" 1e-9 "extra outputs on 1 and 3 ranks"
good 2 cv kde --x x.csv --y dense.csv --extra-y extra.csv --kx 'rbf(sigma=1)' --ky linear \
    --components 2 --shrink 0,10 --gamma 0.01 --folds 3
[ "$(value best)" = shrink=0 ] || fail "cv of shrinking: $(cat out)"
good 3 fit kde --x x.csv --y strings.txt --extra-y strings.txt --kx 'rbf(sigma=1)' \
    --ky 'spectrum(p=2)' --components 2 --gamma 0.01 -o extra.h5
good 2 predict extra.h5 --x x.csv -o extra.txt
cmp -s extra.txt strings.txt || fail "strings with extra ones are predicted"

# Wrong uses.
on 2 fit kde --x x.csv --y dense.csv --extra-y labels.csv --kx linear --ky linear --components 1 \
    --gamma 1 -o none.h5
expect 2 "extra outputs of another width"
says err "labels.csv" "extra outputs of another width"
on 2 fit kde --x x.csv --y dense.csv --shrink -1 --kx linear --ky linear --components 1 \
    --gamma 1 -o none.h5
expect 2 "shrinking by less than nothing"
on 2 predict m_mse.h5 --x x.csv --preimage linear -o none.npy
expect 2 "a linear pre-image of rbf outputs"
says err "use candidates" "a linear pre-image of rbf outputs"
on 2 predict m_mse.h5 --x x.csv --candidates x.csv --top 100 -o none.npy
expect 2 "more candidates than there are"
on 2 predict m_edit.h5 --x x.csv --candidates dense.csv -o none.txt
expect 2 "candidates of another type"
says err "dense.csv" "candidates of another type"
on 2 predict krr.h5 --x x.csv --top 2 -o none.npy
expect 2 "pre-images of a ridge model"
on 2 fit kde --x 'x.csv[0:9]' --y dense.csv --kx linear --ky linear --components 1 --gamma 1 -o none.h5
expect 2 "lengths that differ"
says err "9 rows" "lengths that differ"
[ -e none.h5 ] || [ -e none.npy ] || [ -e none.txt ] && fail "a failed run left a file"
finish

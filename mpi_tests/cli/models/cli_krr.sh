#!/usr/bin/env bash
# Kernel ridge regression from files to predictions: closed forms, the same answer on any number of
# ranks, grid and block size, and the edges.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# fit RANKS MODEL OPTIONS...
fit() {
    good "$1" fit krr -o "$2" "${@:3}"
}

# same A B WHAT: two prediction files agree to 1e-10.
same() {
    good 1 score --truth "$1" --pred "$2" --loss mse
    below "$(value rmse)" 1e-10 "$3"
}

normal 61 4 1 >x.csv
normal 61 3 2 >y.csv
normal 17 4 3 >new.csv
rbf=(--x x.csv --y y.csv --kx 'rbf(sigma=1.5)' --gamma 0.01)

# A model made by 4 ranks, used by 1 and by 3.
fit 4 m.h5 "${rbf[@]}" --record runs.jsonl
[ "$(value m) $(value outputs)" = "61 3" ] || fail "fit tells m and outputs: $(cat out)"
below "$(value residual)" 1e-12 "residual of fit"
[ "$(value model)" = m.h5 ] || fail "fit tells where the model is"
good 1 predict m.h5 --x new.csv -o p.npy
[ "$(value rows)" = 17 ] || fail "predict tells its rows: $(cat out)"
good 3 predict m.h5 --x new.csv -o p3.csv --record runs.jsonl
same p.npy p3.csv "1 and 3 ranks predict alike"
good 2 predict m.h5 --x new.csv -o p2.h5
good 2 predict m.h5 --x 'new.csv[3:5]' -o part.npy
same 'p.npy[3:5]' part.npy "a slice of the inputs"

# A different kernel or ridge must not agree: the comparison can fail.
fit 2 other.h5 "${rbf[@]:0:6}" --gamma 0.02
good 1 predict other.h5 --x new.csv -o other.npy
good 1 score --truth p.npy --pred other.npy --loss mse
below 1e-4 "$(value rmse)" "another ridge predicts otherwise"

# Any number of ranks, grid and block size.
for setting in "1 1x1 7" "2 1x2 5" "2 2x1 64" "3 1x3 13" "3 3x1 1" "4 2x2 9" "4 1x4 16" "4 4x1 11" \
    "6 2x3 8" "6 3x2 30" "6 1x5 10" "4 1x1 20"; do
    read -r ranks grid block <<<"$setting"
    fit "$ranks" g.h5 "${rbf[@]}" --grid "$grid" --block "$block"
    [ "$(value grid) $(value block)" = "$grid $block" ] || fail "layout $setting: $(cat out)"
    good "$ranks" predict g.h5 --x new.csv -o g.npy --grid "$grid" --block "$block"
    same p.npy g.npy "$ranks ranks as $grid in blocks of $block"
done

# One example, one column, fewer rows than ranks: f(x) = k(x, a) y / (k(a, a) + gamma).
echo 2 >x1.csv
echo 3 >y1.csv
printf '5\n-10\n' >new1.csv
printf '6\n-12\n' >want1.csv
for ranks in 1 3; do
    fit "$ranks" one.h5 --x x1.csv --y y1.csv --kx linear --gamma 1
    good "$ranks" predict one.h5 --x new1.csv -o one.csv
    same want1.csv one.csv "one example on $ranks ranks"
done

# No new rows at all.
good 2 predict m.h5 --x 'new.csv[0:0]' -o none.npy
[ "$(value rows)" = 0 ] || fail "no rows: $(cat out)"
good 1 info none.npy

# An intercept: outputs that are all 7 are predicted 7 even far away.
awk 'BEGIN { for (i = 0; i < 61; i++) print 7 }' >sevens.csv
awk 'BEGIN { for (i = 0; i < 2; i++) print 7 }' >two_sevens.csv
printf '90,90,90,90\n-80,0,0,0\n' >far.csv
fit 3 c.h5 --x x.csv --y sevens.csv --kx 'rbf(sigma=1)' --gamma 0.1 --center
good 2 predict c.h5 --x far.csv -o c.csv
same two_sevens.csv c.csv "an intercept"

# Many outputs at once: column j of y is (j + 1) times the first.
awk 'BEGIN { for (i = 0; i < 5; i++) for (j = 0; j < 10000; j++)
    printf "%d%s", (i - 2) * (j % 100 + 1), j == 9999 ? "\n" : "," }' >wide.csv
printf '1\n2\n3\n4\n5\n' >x5.csv
fit 3 wide.h5 --x x5.csv --y wide.csv --kx 'poly(degree=1, c=1)' --gamma 1e-8
[ "$(value outputs)" = 10000 ] || fail "10000 outputs: $(cat out)"
good 2 predict wide.h5 --x x5.csv -o wide.npy
good 1 score --truth wide.csv --pred wide.npy --loss mse
below "$(value rmse)" 1e-4 "10000 outputs are learnt"

# Labels: three bands of the line, told apart.
awk 'BEGIN { for (i = 0; i < 30; i++) print i / 10 }' >line.csv
awk 'BEGIN { for (i = 0; i < 30; i++) print i < 10 ? 4 : i < 20 ? -1 : 9 }' >bands.csv
fit 3 bands.h5 --x line.csv --y bands.csv --y-type labels --kx 'rbf(sigma=0.2)' --gamma 1e-3
good 2 predict bands.h5 --x line.csv -o bands.npy
good 2 score --truth bands.csv --pred bands.npy --y-type labels --loss zero-one,hamming \
    --baseline mean --record runs.jsonl
[ "$(value zero-one) $(value hamming)" = "0 0" ] || fail "labels are told apart: $(cat out)"
[ "$(value baseline_zero-one)" = 0.666667 ] || fail "the commonest label: $(cat out)"

# Three runs asked for a record.
[ "$(wc -l <runs.jsonl)" = 3 ] || fail "runs.jsonl has $(wc -l <runs.jsonl) lines"
says runs.jsonl '"loss":{' "the record of score"
says runs.jsonl '"gamma":0.01' "the record of fit"

# Gram matrices.
printf '1\n2\n-3\n' >t.csv
printf '1,2,-3\n2,4,-6\n-3,-6,9\n' >tt.csv
printf '10,20,-30\n' >zt.csv
echo 10 >z.csv
good 3 gram --x t.csv --kx linear -o g.csv
same tt.csv g.csv "a Gram matrix"
good 2 gram --x t.csv --kx linear --center -o gc.csv --block 1
same tt.csv gc.csv "objects of mean zero are centred already"
good 2 gram --x t.csv --z z.csv --kx linear -o gz.npy
same zt.csv gz.npy "rows of other objects"
printf '1\n2\n6\n' >u.csv
echo -14,-7,21 >zu.csv
good 3 gram --x u.csv --z z.csv --kx linear --center -o gu.npy
same zu.csv gu.npy "rows of other objects, centred by the mean of the first"
good 2 score --truth t.csv --pred u.csv --loss kernel --ky linear
[ "$(value kernel) $(value root)" = "27 5.19615" ] || fail "the loss of a kernel: $(cat out)"

# What any of these files holds.
for file in m.h5 x.csv p.npy runs.jsonl; do
    good 1 info "$file"
    [ -s out ] || fail "info $file says nothing"
done

# Quiet is quiet, and verbose tells of no memory that was lost.
good 0 fit krr "${rbf[@]}" -o q.h5 --quiet
[ -s err ] && fail "--quiet: $(cat err)"
good 2 fit krr "${rbf[@]}" -o q.h5 --verbose
grep -q 'not given back' err && fail "$(grep 'not given back' err)"
good 2 predict m.h5 --x new.csv -o q.npy -v
grep -q 'not given back' err && fail "$(grep 'not given back' err)"
finish

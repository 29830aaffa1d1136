#!/usr/bin/env bash
# Posterior standard deviations of krr, with the factor of the model or one computed anew, and the
# likelihood and calibration of what they say.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

normal 70 3 1 >x.csv
normal 40 3 2 >new.csv
normal 70 1 3 >e_x.csv
normal 40 1 4 >e_new.csv
for f in x new; do
    paste -d, "$f.csv" "e_$f.csv" | awk -F, '{ print 4 + sin($1 + $2) + 0.3 * $4 "," 2 * $3 + 0.3 * $4 }' >"y_$f.csv"
done
krr=(--x x.csv --y y_x.csv --kx 'rbf(sigma=1.3)' --gamma 0.05)

# The same with a factor that is kept, on other ranks than it was made on, and computed anew.
good 1 fit krr "${krr[@]}" --keep-factor -o kept1.h5
good 3 fit krr "${krr[@]}" --keep-factor --block 7 -o kept3.h5
good 1 fit krr "${krr[@]}" -o plain.h5
good 1 fit krr "${krr[@]}" --center -o centered.h5
good 3 predict kept1.h5 --x new.csv --std -o a.csv
says out 'factor                   model' "a factor in the model"
good 1 predict kept3.h5 --x new.csv --std -o b.csv
good 3 predict plain.h5 --x new.csv --std --block 5 -o c.csv
says out 'factor                   recomputed' "a factor computed anew"
for f in b c; do
    good 1 score --truth a.csv --pred "$f.csv" --loss mse --baseline none
    below "$(value rmse)" 1e-12 "deviations $f"
done
# A factor in single precision: the means are those of the refined solution, the deviations nearly so.
good 1 fit krr "${krr[@]}" --keep-factor --precision mixed -o single1.h5
says out 'precision                mixed' "a factor in single precision"
good 3 fit krr "${krr[@]}" --keep-factor --precision single --block 7 -o single3.h5
good 3 predict single1.h5 --x new.csv --std -o s1.csv
says out 'factor                   model' "a factor in single precision in the model"
good 1 predict single3.h5 --x new.csv --std -o s3.csv
for f in 's1 1e-6' 's3 1e-5'; do
    good 1 score --truth a.csv --pred "${f% *}.csv" --loss mse --baseline none
    below "$(value rmse)" "${f#* }" "deviations by a factor in single precision, ${f% *}"
done
paste -d, a.csv s1.csv | awk -F, '{ for (j = 1; j < 3; j++) if (($j - $(j + 4)) ^ 2 > 1e-20) exit 1 }' ||
    fail "means of the mixed fit"
[ "$(wc -c <single1.h5)" -lt $(($(wc -c <kept1.h5) - 70 * 69 / 2 * 4)) ] || fail "it takes no less space"
on 3 append single1.h5 --x new.csv --y y_new.csv -o made.h5
[ "$status" = 2 ] || fail "append to a factor in single precision: exit $status"
says err 'single precision' "append to a factor in single precision"

good 1 predict plain.h5 --x new.csv -o means.csv
cut -d, -f1,2 a.csv >first.csv
good 1 score --truth means.csv --pred first.csv --loss mse --baseline none
below "$(value rmse)" 1e-6 "means"

# scikit-learn's Gaussian process has the same.
good 3 predict centered.h5 --x new.csv --std -o d.csv
good 3 predict kept1.h5 --x new.csv --std --noise gamma -o g.csv
good 3 score --truth y_new.csv --pred g.csv --std --loss nll,calibration,mse
nll=$(value nll)
good 1 score --truth y_new.csv --pred g.csv --loss nll
[ "$(value nll)" = "$nll" ] || fail "nll without --std: $(value nll), not $nll"
python=$(PATH=/usr/bin:$PATH command -v python3)
if "$python" -c 'import sklearn' 2>/dev/null; then
    "$python" - "$nll" <<'END' || fail "scikit-learn's Gaussian process"
import sys

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF


def table(name):
    return np.loadtxt(name, delimiter=",", ndmin=2)


x, y, new, truth = table("x.csv"), table("y_x.csv"), table("new.csv"), table("y_new.csv")
nll = 0
for j in range(2):
    for shift, name in ((0, "a.csv"), (y[:, j].mean(), "d.csv")):
        peer = GaussianProcessRegressor(RBF(1.3), alpha=0.05, optimizer=None).fit(x, y[:, j] - shift)
        mean, std = peer.predict(new, return_std=True)
        ours = table(name)
        assert abs(ours[:, j] - mean - shift).max() < 1e-8 and abs(ours[:, 2 + j] - std).max() < 1e-8, name
        if name == "a.csv":
            v = std**2 + 0.05
            nll += (0.5 * np.log(2 * np.pi * v) + (truth[:, j] - mean)**2 / v / 2).mean() / 2
assert abs(nll - float(sys.argv[1])) < 1e-5, (nll, sys.argv)
END
else
    echo "no scikit-learn: it was not compared with" >&2
fi

# Noise of a variance scales all; the likeliest scale has t'(K + gamma I)^-1 t / m = 1.
good 1 predict kept1.h5 --x new.csv --std --noise 0.2 -o h.csv
paste -d, g.csv h.csv | awk -F, '{ r = $7 / $3; if (r < 2 - 1e-6 || r > 2 + 1e-6) exit 1 }' ||
    fail "four times the noise is not twice the deviation"
good 3 predict kept1.h5 --x new.csv --std --noise auto -o auto.csv
scale=$(value prior_scale)
good 1 predict plain.h5 --x new.csv --std --noise auto -o auto1.csv
[ "$(value prior_scale)" = "$scale" ] || fail "scales on 1 and 3 ranks: $(value prior_scale), $scale"

# What has no deviations.
good 1 fit krr --x x.csv --y y_x.csv --kx linear --gamma 1 -o primal.h5
good 1 fit krr --x x.csv --y y_x.csv --kx linear --gamma 1 --keep-factor -o dual.h5
good 3 predict dual.h5 --x new.csv --std -o made.csv
awk -F, '{ print ($1 > 4) }' y_x.csv >labels.csv
good 1 fit krr --x x.csv --y labels.csv --y-type labels --kx 'rbf(sigma=1)' --gamma 1 -o classes.h5
good 1 fit krr "${krr[@]}" --solver pcg --landmarks 20 -o landmarks.h5
good 1 fit krr "${krr[@]}" --regularizer coefficients -o coefficients.h5
for model in primal classes landmarks coefficients; do
    on 3 predict "$model.h5" --x new.csv --std -o made.csv
    [ "$status" != 0 ] || fail "deviations of $model"
    says err 'tandard deviations are' "$model"
done
on 1 fit krr "${krr[@]}" --keep-factor --solver pcg --landmarks 20 -o made.h5
[ "$status" != 0 ] || fail "a factor of landmarks"
on 1 predict kept1.h5 --x new.csv --noise 1 -o made.csv
[ "$status" != 0 ] || fail "noise without deviations"
on 1 predict kept1.h5 --x new.csv --std --noise -1 -o made.csv
[ "$status" != 0 ] || fail "negative noise"
finish

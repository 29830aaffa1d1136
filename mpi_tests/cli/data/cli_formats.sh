#!/usr/bin/env bash
# The same numbers from npy, npz, compressed npz and Matrix Market files.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

good 1 gen regression --n 60 --dim 5 --seed 1 --out-dir .
python=$(PATH=/usr/bin:$PATH command -v python3)
[ -n "$python" ] || { echo "python3 packs the archives" && exit 77; }
"$python" - <<'END' || fail "the archives"
import zipfile
for name, method in (("s.npz", zipfile.ZIP_STORED), ("c.npz", zipfile.ZIP_DEFLATED)):
    with zipfile.ZipFile(name, "w", method) as archive:
        archive.write("x.npy")
        archive.write("y.npy")
END
good 1 fit krr --x x.npy --y y.npy --kx 'rbf(sigma=1)' --gamma 0.1 -o m.h5
good 1 predict m.h5 --x x.npy -o p.csv
for archive in s.npz c.npz; do
    for ranks in 1 3; do
        good "$ranks" fit krr --x $archive:x --y "$archive:y" --kx 'rbf(sigma=1)' --gamma 0.1 -o m.h5
        good "$ranks" predict m.h5 --x "$archive:x[10:50:2]" -o q.csv
        good 1 score --truth 'p.csv[10:50:2]' --pred q.csv --loss mse
        below "$(value rmse)" 1e-10 "$archive on $ranks ranks"
    done
done
good 1 info c.npz:x
says out 'npz, compressed, float64, C order' "what it is"
{ printf '%%%%MatrixMarket matrix array real general\n60 1\n' && cat p.csv; } >p.mtx
good 3 score --truth p.csv --pred p.mtx --loss mse
[ "$(value mse)" = 0 ] || fail "an array in text: $(cat out)"
wrong 'holds several arrays: name one' fit krr --x s.npz --y y.npy -o made/m.h5
wrong "holds no array 'z': it has x, y" fit krr --x s.npz:z --y y.npy -o made/m.h5
head -c 900 c.npz >cut.npz
bad 'cut.npz is no npz file, or cut short' fit krr --x cut.npz:x --y y.npy -o made/m.h5
head -40 p.mtx >cut.mtx
bad 'promises 60 entries and holds 38' score --truth p.csv --pred cut.mtx --loss mse
finish

#!/usr/bin/env bash
# The examples of CONTRIBUTING.md, added to a copy of the sources by its steps: they build without a
# warning, the layers hold, and the command has a new kernel, format, loss, pre-image method and method.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"
mkdir copy
cp -r "$DKMAP_SOURCE"/{CMakeLists.txt,cmake,docs,include,src,LICENSE,README.md} copy/
bash "$DKMAP_SOURCE/mpi_tests/extensions/apply.sh" copy || fail "apply.sh"
{ cmake -S copy -B built -DDKMAP_TESTS=OFF -DDKMAP_WERROR=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=-O0 &&
    cmake --build built --target dkmap_command --parallel 2; } >log 2>&1 || fail "the build: $(grep -A 3 'error' log | head -20)"
layers=$DKMAP_SOURCE/mpi_tests/cli/project/cli_layers.sh
DKMAP_SOURCE=$scratch/copy bash "$layers" >log 2>&1 || fail "layers: $(cat log)"
DKMAP=$scratch/built/dkmap

# same A B WHAT: two files of numbers.
same() {
    good 0 score --truth "$1" --pred "$2" --loss mse
    below "$(value rmse)" 1e-12 "$3"
}
normal 30 2 1 >x.csv
awk 'BEGIN { for (i = 0; i < 30; i++) { print 7 + i % 2 >"seven30.csv"; print 3.75 >"mean.csv" } }'
for ranks in 0 3; do
    good "$ranks" gram --x x.csv --kx half -o half.npy
    good "$ranks" gram --x x.csv --kx 'scale(linear, by=0.5)' -o linear.npy
    same linear.npy half.npy "a kernel on $ranks ranks"

    echo 7 >seven.range
    seq 0 6 >seven.csv
    good "$ranks" score --truth seven.csv --pred seven.range --loss mse
    [ "$(value rmse)" = 0 ] || fail "a format on $ranks ranks: $(cat out)"

    seq 1 7 >eight.csv
    good "$ranks" score --truth seven.csv --pred eight.csv --loss largest
    [ "$(value largest)" = 1 ] || fail "a loss on $ranks ranks: $(cat out)"

    good "$ranks" fit kpca --x x.csv --kx half --components 2 -o kpca.h5
    good "$ranks" encode kpca.h5 --x x.csv -o z.npy
    good "$ranks" decode kpca.h5 --z z.npy --preimage origin -o back.npy
    awk -F, '{ print "0,0" }' x.csv >zero.csv
    same zero.csv back.npy "a pre-image on $ranks ranks"

    good "$ranks" fit constant --x x.csv --y seven30.csv --share 0.5 -o constant.h5
    good "$ranks" predict constant.h5 --x x.csv -o mean.npy
    same mean.csv mean.npy "a method on $ranks ranks"
    good "$ranks" cv constant --x x.csv --y seven30.csv --share 0.5,1 --folds 5 --loss mse
    [ "$(value best)" = share=1 ] || fail "cv of a method on $ranks ranks: $(cat out)"
done
good 0 help fit constant
grep -q -- '--share' out || fail "help of a method: $(cat out)"
finish

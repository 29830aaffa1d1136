#!/usr/bin/env bash
# One fit and one prediction of each method, and other commands, under valgrind's memcheck: no
# invalid access and no decision on memory that was never set, as far as dkmap's own code is in the
# call stack (MPI and BLAS libraries have findings of their own). Needs DKMAP in the environment: a
# build without DKMAP_NATIVE, since valgrind does not know all instructions of new machines.
# Prints the counts; exit status 77 without valgrind.
command -v valgrind >/dev/null || exit 77
DKMAP_MPIRUN=${DKMAP_MPIRUN:-mpirun}
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../cli/common.sh"
export OMPI_MCA_btl=self OMPI_MCA_pml=ob1 OMPI_MCA_ess_singleton_isolated=1
export OMP_NUM_THREADS=1 OPENBLAS_CORETYPE=Haswell
runs=0

# Findings with a function of dkmap, or of the command, among the four innermost frames.
findings() {
    awk '/== (Invalid|Conditional jump|Use of uninit|Syscall param|Source and dest|Process term)/ { lines = 6; text = $0 }
        lines > 0 && /libdkmap|\(in .*\/dkmap\)|\/src\// { print text " " $0; lines = 0; next }
        lines > 0 { lines-- }' err
}

# clean ARGUMENTS...
clean() {
    runs=$((runs + 1))
    timeout 600 valgrind -q --error-limit=no --num-callers=12 "$DKMAP" "$@" >out 2>err
    status=$?
    expect 0 "dkmap $*"
    [ -z "$(findings)" ] || fail "dkmap $*: $(findings | head -3)"
}

normal 30 3 1 >x.csv
normal 6 3 2 >new.csv
awk -F, '{ print $1 * $2 "," $3 - $1 }' x.csv >y.csv
awk -F, '{ print ($1 > 0) + ($2 > 0.3) }' x.csv >labels.csv
awk 'BEGIN { for (i = 0; i < 30; i++) print substr("abcabdacbadcabbacd", 1 + i % 9, 3 + i % 7) }' >s.txt
rbf=(--kx 'rbf(sigma=1.5)')
xy=(--x x.csv --y y.csv "${rbf[@]}")
classes=(--x x.csv --y labels.csv --y-type labels "${rbf[@]}")

clean fit krr "${xy[@]}" --gamma 0.01 -o krr.h5
clean predict krr.h5 --x new.csv -o p.csv
clean fit krr "${xy[@]}" --gamma 0.1 --solver pcg --landmarks 8 -o pcg.h5
clean fit krr --x s.txt --y y.csv --kx 'ssk(r=2, lambda=0.5)' --gamma 0.1 -o strings.h5
clean fit kpca --x x.csv "${rbf[@]}" --components 3 -o kpca.h5
clean decode kpca.h5 --z new.csv -o back.csv
clean fit kde "${xy[@]}" --ky 'rbf(sigma=2)' --components 3 --gamma 0.01 -o kde.h5
clean predict kde.h5 --x new.csv -o p.csv
clean fit knn "${xy[@]}" --k 3 -o knn.h5
clean predict knn.h5 --x new.csv -o p.csv
awk -F, '{ print ($1 > 0 ? 1 : -1) "," ($2 > 0 ? 1 : -1) "," ($3 > 0 ? 1 : -1) }' x.csv >signs.csv
clean fit hopfield --x signs.csv --y signs.csv -o hopfield.h5
clean fit svm "${classes[@]}" --C 1 -o svm.h5
clean fit svm "${classes[@]}" --C 1 --solver decomposition -o svm.h5
clean predict svm.h5 --x new.csv -o p.csv
clean fit jkm "${classes[@]}" --C 1 --tolerance 0.1 -o jkm.h5
clean predict jkm.h5 --x new.csv -o p.csv
clean fit jkm "${classes[@]}" --C 1 --tolerance 0.1 --slacks one -o jkm.h5
clean embed lle --x x.csv --neighbours 8 --components 2 -o lle.h5
clean gram --x x.csv "${rbf[@]}" -o k.npy
clean extend fit --gram k.npy --features x.csv -o q.h5
clean cv krr "${xy[@]}" --gamma 0.01,0.1 --folds 3
clean info krr.h5
clean fit krr "${xy[@]}" --gamma 0.01 --keep-factor --holdout 0.3 -o factor.h5
clean predict factor.h5 --x new.csv --std -o p.csv
clean predict factor.h5 --x new.csv --coverage 0.7 -o p.csv
clean append factor.h5 --x new.csv --y 'y.csv[0:6]' -o grown.h5
clean forget grown.h5 --rows 0,5:8 -o left.h5
clean export left.h5 --c left.c --onnx left.onnx
echo "valgrind: $runs runs, $failures checks failed"
finish

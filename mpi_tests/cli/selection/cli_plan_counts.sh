#!/usr/bin/env bash
# Plans know what fits send and allocate: within 15 % of what runs on 4 and 9 ranks count, for krr, kpca, kde,
# jkm and landmarks; on 16, where the factor has other panels, for kpca and krr. Counts are the same on any machine.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"
export DKMAP_CALIBRATION=$scratch/none

# both RANKS ITERATIONS METHOD OPTIONS...: a run and its plan, which is told the iterations that the run
# reports under that name.
both() {
    local ranks=$1 name=$2 iterations
    shift 2
    good "$ranks" fit "$@" -o model.h5 --count-comm --record runs.jsonl
    iterations=$(value "$name")
    good 0 plan "$@" --ranks "$ranks" --expect-iterations "${iterations:-0}" --record plans.jsonl
}

good 0 gen regression --n 900 --dim 20 --seed 1 --out-dir few
good 0 gen regression --n 4100 --dim 6 --seed 1 --out-dir many
# Plans take 22 iterations for the ends of the spectrum of the landmarks; data of few columns take fewer.
good 0 gen regression --n 4500 --seed 1 --out-dir wide
for k in $(seq 900); do echo $((k * k % 7)); done >classes.csv
for k in $(seq 900); do echo $((k * k % 7 > 2)); done >two.csv
x=(--x few/x.npy --kx 'rbf(sigma=3)') y=(--y few/y.npy --gamma 0.01)
for ranks in 4 9; do
    both "$ranks" none krr "${x[@]}" "${y[@]}" --precision double
    both "$ranks" rounds kpca "${x[@]}" --components 16
    both "$ranks" rounds kde "${x[@]}" "${y[@]}" --ky 'rbf(sigma=1)' --components 8
    both "$ranks" steps krr --x many/x.npy --y many/y.npy --kx 'rbf(sigma=3)' --gamma 0.01 --solver pcg \
        --landmarks 150
    both "$ranks" none krr --x wide/x.npy --y wide/y.npy --kx 'rbf(sigma=3)' --gamma 0.01 --nystroem 200
    both "$ranks" steps krr "${x[@]}" "${y[@]}" --solver pcg --landmarks 100 --basis all
    both "$ranks" rounds kpca --x many/x.npy --kx 'rbf(sigma=3)' --components 8 --landmarks 150
    both "$ranks" steps kde --x many/x.npy --y many/y.npy --kx 'rbf(sigma=3)' --ky 'rbf(sigma=1)' --gamma 0.01 \
        --components 8 --solver pcg --landmarks 150
    both "$ranks" none svm "${x[@]}" --y classes.csv --y-type labels --C 1
    both "$ranks" rounds_per_class svm "${x[@]}" --y two.csv --y-type labels --C 1 --solver decomposition
    both "$ranks" rounds jkm "${x[@]}" --y classes.csv --y-type labels --C 1 --formulation 1-slack --max-iter 8
done
both 16 none krr "${x[@]}" "${y[@]}" --precision double
both 16 rounds kpca "${x[@]}" --components 16
python3 "$DKMAP_SOURCE/jobs/study/plan_counts.py" plans.jsonl runs.jsonl 0.15 >out ||
    fail "plans and counts: $(cat out)"
cat out

# The plan names the node it is for, what every rank holds, and the time of the network.
good 0 plan krr --x 60000x784 --y 60000x10 --kx 'rbf(sigma=8)' --gamma 1e-3 --ranks 64 --ranks-per-node 16 \
    --memory 64G --latency 2 --bandwidth 200
says out "16 ranks each" "the node of a plan"
says out "2 us and 200 Gb/s" "the network of a plan"
good 0 plan krr --x 60000x784 --y 60000x10 --kx 'rbf(sigma=8)' --gamma 1e-3 --solver pcg --landmarks 5000 --ranks 64
says out "512 d numbers" "what landmarks replicate"

# Weights are on every rank, and chains have weight vectors there and no Gram matrix.
for k in $(seq 900); do echo "1.$k"; done >weights.csv
good 0 plan krr "${x[@]}" "${y[@]}" --ranks 4
grep -q "weights of the examples" out && fail "a plan without weights has some"
good 0 plan krr "${x[@]}" "${y[@]}" --weights weights.csv --ranks 4
says out "weights of the examples" "a plan with weights"
good 0 plan kpca "${x[@]}" --components 4 --ranks 4
says out "means of the rows of the kernel matrix" "a plan of kpca"
for k in $(seq 60); do echo "acgtacgt"; done >in.txt
sed 'y|acgt|bbcc|' <in.txt >out.txt
good 0 plan jkm --x in.txt --y out.txt --outputs chain --kx 'weighted-degree(degree=1, shift=0)' --C 1 --ranks 4
says out "weight vectors of a chain" "a plan of chains"
grep -q gram out && fail "a plan of chains has a Gram matrix"
finish

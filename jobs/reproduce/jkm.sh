#!/usr/bin/env bash
# The experiments of "Joint Kernel Maps" (Weston, Schoelkopf, Bousquet, Mann, Noble, 2004): the identity
# map, peptides from spectra, and smiling faces from neutral ones. Prints tables beside the published
# figures and draws a picture.
#
# usage: jobs/reproduce/jkm.sh [--data FOLDER] [--seeds N] [--jobs N] [--ranks N] [--out FOLDER]
#                              [--only "NAME ..."]
#   --data FOLDER  holds spectra/ (train_x, test_x, candidates, train_peptide and test_peptide, all
#                  .npy) and faces/ (neutral_64x64.npy and smile_64x64.npy, one person a row)
#                                                                              [$DKMAP_DATA]
#   --seeds N      repetitions with other points, or other people to learn from [20]
#   --jobs N       of them at a time                                           [all cores]
#   --ranks N      MPI ranks of each                                           [1]
#   --out FOLDER   results, kept: a second run does what is missing            [out/reproduce_jkm]
#   --only NAMES   of identity spectra faces                                   [all]
set -euo pipefail
# shellcheck source=jobs/reproduce/reproduce.sh
. "$(dirname "${BASH_SOURCE[0]}")/reproduce.sh"

experiments="identity spectra faces"
gammas="1e-6 1e-4 1e-3 1e-2 1e-1 1"
several="1 2 3 5 8 12"
sizes="10 20 40 60 80" # of training sets, where active constraints are counted
python=/usr/bin/python3

# distance TRUTH PREDICTION: mean squared distance of rows scaled to unit length
distance() {
    dk score --truth "$1" --pred "$2" --loss kernel --ky cosine
    reported kernel
}

# keep_less ROW VALUE FILE: of several predictions the nearest, and how far it is
keep_less() {
    [ -n "${best[$1]:-}" ] && awk -v a="$2" -v b="${best[$1]}" 'BEGIN { exit a < b }' && return
    best[$1]=$2
    mv "$3" "${3%.new.npy}.npy"
}

# baselines X Y X_NEW TRUTH FOLDER: ridge regression and neighbours, each with what does best on the
# test examples, as in the paper; predictions are FOLDER/krr.npy and FOLDER/knn.npy
baselines() {
    local v
    declare -A best=()
    for v in $gammas; do
        dk fit krr --x "$1" --y "$2" --kx 'poly(degree=1, c=1000)' --gamma "$v" -o "$5/krr.h5"
        dk predict "$5/krr.h5" --x "$3" -o "$5/krr.new.npy"
        keep_less krr "$(distance "$4" "$5/krr.new.npy")" "$5/krr.new.npy"
    done
    for v in $several; do
        dk fit knn --x "$1" --y "$2" --kx linear --k "$v" -o "$5/knn.h5"
        dk predict "$5/knn.h5" --x "$3" -o "$5/knn.new.npy"
        keep_less knn "$(distance "$4" "$5/knn.new.npy")" "$5/knn.new.npy"
    done
    result "krr$6" "${best[krr]}"
    result "knn$6" "${best[knn]}"
}

one_identity() {
    local seed=$1 dir=$2 p m lambda x y new epsilon
    for p in 20 30 50 75 100; do
        dk gen identity --n 120 --dim "$p" --seed "$seed" --out-dir "$dir/$p"
        x="$dir/$p/x.npy[0:20]" y="$dir/$p/y.npy[0:20]" new="$dir/$p/x.npy[20:120]"
        epsilon=$(awk -v p="$p" 'BEGIN { print 0.5 / sqrt(p) }')
        for lambda in 0 0.5 1; do
            dk fit jkm --x "$x" --y "$y" --kx linear --joint "diag(lambda=$lambda)" \
                --epsilon "$epsilon" --tolerance 0.01 -o "$dir/m.h5"
            dk predict "$dir/m.h5" --x "$new" -o "$dir/found.npy"
            result "jkm$lambda.$p" "$(distance "$dir/$p/y.npy[20:120]" "$dir/found.npy")"
            dk fit jkm --x "$x" --y "$y" --kx linear --joint "diag(lambda=$lambda)" \
                --epsilon "$epsilon" --tolerance 0.9 -o "$dir/m.h5"
            result "active$lambda.$p" "$(reported support)"
        done
        baselines "$x" "$y" "$new" "$dir/$p/y.npy[20:120]" "$dir" ".$p"
    done
    epsilon=$(awk 'BEGIN { print 0.5 / sqrt(20) }')
    for m in $sizes; do
        for lambda in 0 0.5 1; do
            dk fit jkm --x "$dir/20/x.npy[0:$m]" --y "$dir/20/y.npy[0:$m]" --kx linear \
                --joint "diag(lambda=$lambda)" --epsilon "$epsilon" --tolerance 0.9 -o "$dir/m.h5"
            result "count$lambda.$m" "$(reported support)"
        done
    done
}

# less A B: the smaller one; A may be empty
less() {
    awk -v a="$1" -v b="$2" 'BEGIN { print a == "" || b < a ? b : a }'
}

# rank MODEL: the mean place of the true peptide among all, as reported
rank() {
    dk predict "$1" --x "$spectra/test_x.npy" --candidates "$spectra/candidates.npy" --top 544 \
        -o "$1.npy"
    dk score --truth "$spectra/test_peptide.npy" --pred "$1.npy" --loss rank
}

# rank_by ROWS FOLDER: the same where candidates are ranked by their products with rows
rank_by() {
    "$python" - "$spectra/candidates.npy" "$1" "$2/list.npy" <<'END'
import sys, numpy as np
score = np.load(sys.argv[2]).astype(float) @ np.load(sys.argv[1]).astype(float).T
order = np.argsort(-score, axis=1, kind="stable")
both = np.stack([order, np.take_along_axis(score, order, 1)], axis=2)
np.save(sys.argv[3], both.reshape(len(score), -1).astype(float))
END
    dk score --truth "$spectra/test_peptide.npy" --pred "$2/list.npy" --loss rank
}

# Peptides of the training set in four parts, whose spectra are held out in turn; and the rows of all
# outputs.
split_spectra() {
    "$python" - "$spectra" "$1" <<'END' || fail "this needs numpy (Debian: python3-numpy)"
import sys, numpy as np
data, out = sys.argv[1:]
c = np.load(data + "/candidates.npy").astype(float)
x, p = np.load(data + "/train_x.npy"), np.load(data + "/train_peptide.npy")
np.save(out + "/y.npy", c[p])
part = dict(zip(np.unique(p), np.random.default_rng(0).permutation(len(np.unique(p))) % 4))
part = np.array([part[k] for k in p])
for k in range(4):
    np.save(f"{out}/x{k}.npy", x[part != k])
    np.save(f"{out}/y{k}.npy", c[p[part != k]])
    np.save(f"{out}/held_x{k}.npy", x[part == k])
    np.save(f"{out}/held_peptide{k}.npy", p[part == k])
END
}

# near_identity BY LAMBDA C X Y MODEL: a multiple of the identity, and what of the diagonal and of all maps
# separates the spectra; C may be none
near_identity() {
    local slack=()
    [ "$3" = none ] || slack=(--C "$3")
    dk fit jkm --x "$4" --y "$5" --kx linear --outputs candidates --epsilon 0 --tolerance 0.05 \
        "${slack[@]}" --joint "sum(scale(identity, by=$1), diag(lambda=$2))" -o "$6"
}

# held_out BY LAMBDA C FOLDER: the mean rank of the true peptide of held-out training spectra
held_out() {
    local k sum=0 count=0
    for k in 0 1 2 3; do
        near_identity "$1" "$2" "$3" "$4/x$k.npy" "$4/y$k.npy" "$4/held.h5"
        dk predict "$4/held.h5" --x "$4/held_x$k.npy" --candidates "$spectra/candidates.npy" \
            --top 544 -o "$4/held.npy"
        dk score --truth "$4/held_peptide$k.npy" --pred "$4/held.npy" --loss rank
        sum=$(awk -v s="$sum" -v r="$(reported rank)" -v n="$(reported rows)" 'BEGIN { print s + r * n }')
        count=$((count + $(reported rows)))
    done
    awk -v s="$sum" -v n="$count" 'BEGIN { print s / n }'
}

# choose_spectra FOLDER: the weights and C of least rank on held-out peptides, and what they do on the test
# spectra
choose_spectra() {
    local by lambda C rank least="" chosen=""
    for by in 10 100; do
        for lambda in 0.8 0.9 0.95 0.98 1; do
            for C in none 1; do
                rank=$(held_out $by $lambda $C "$1")
                echo "identity $by lambda $lambda C $C: $rank" >>"$1/held_out.txt"
                [ -n "$least" ] && awk -v a="$rank" -v b="$least" 'BEGIN { exit a < b }' && continue
                least=$rank chosen="$by $lambda $C"
            done
        done
    done
    result held "$least"
    # shellcheck disable=SC2086
    near_identity $chosen "$spectra/train_x.npy" "$1/y.npy" "$1/chosen.h5"
    rank "$1/chosen.h5"
    result chosen "$(reported rank)"
    echo "chosen: $chosen" >>"$1/held_out.txt"
}

# There is one training set, and the first seed stands for all.
one_spectra() {
    local dir=$2 lambda
    spectra=$data/spectra
    if [ "$1" != 1 ]; then
        result none 0
        return
    fi
    need spectra/{train_x,test_x,candidates,train_peptide,test_peptide}.npy
    split_spectra "$dir"
    choose_spectra "$dir"
    for lambda in 0.95 1 0; do
        dk fit jkm --x "$spectra/train_x.npy" --y "$dir/y.npy" --kx linear --outputs candidates \
            --joint "diag(lambda=$lambda)" --epsilon 0 --tolerance 0.01 -o "$dir/jkm$lambda.h5"
        rank "$dir/jkm$lambda.h5"
        result "jkm$lambda" "$(reported rank)"
    done
    local v least=
    for v in 1e-4 1e-3 1e-2 1e-1 1 10; do
        dk fit kde --x "$spectra/train_x.npy" --y "$dir/y.npy" --kx linear --ky linear \
            --components all --gamma "$v" -o "$dir/ridge.h5"
        rank "$dir/ridge.h5"
        least=$(less "$least" "$(reported rank)")
    done
    result ridge "$least"
    least=
    for v in 1 2 3 5 8 12 20; do
        dk fit knn --x "$spectra/train_x.npy" --y "$dir/y.npy" --kx linear --k "$v" -o "$dir/knn.h5"
        dk predict "$dir/knn.h5" --x "$spectra/test_x.npy" -o "$dir/knn.npy"
        rank_by "$dir/knn.npy" "$dir"
        least=$(less "$least" "$(reported rank)")
    done
    result knn "$least"
    rank_by "$spectra/test_x.npy" "$dir"
    result itself "$(reported rank)"
}

# change X Y X_NEW FOLDER: learn y - x, and add what is found to the inputs: FOLDER/change.npy
change() {
    "$python" -c 'import sys, numpy as np
np.save(sys.argv[3], np.load(sys.argv[2]) - np.load(sys.argv[1]))' "$1" "$2" "$4/difference.npy"
    dk fit jkm --x "$1" --y "$4/difference.npy" --kx linear --outputs free --epsilon 0.3 --C 0.1 \
        --tolerance 0.01 --joint 'patch(lambda=0.95, shape=64x64, size=10, step=5)' -o "$4/change.h5"
    dk predict "$4/change.h5" --x "$3" -o "$4/found.npy"
    "$python" -c 'import sys, numpy as np
np.save(sys.argv[3], np.load(sys.argv[2]) + np.load(sys.argv[1]))' "$3" "$4/found.npy" "$4/change.npy"
}

# A fifth of the people, 20 or 21, to learn from.
one_faces() {
    local seed=$1 dir=$2 f=$2/0 x y new truth name
    dk gen sample --rows "$out/neutral.npy" --rows "$out/smile.npy" --folds 5 --train one \
        --seed "$seed" --out-dir "$dir"
    x=$f/train_neutral.npy y=$f/train_smile.npy new=$f/test_neutral.npy truth=$f/test_smile.npy
    dk fit jkm --x "$x" --y "$y" --kx linear --epsilon 0.1 --tolerance 0.9 -o "$dir/patch.h5" \
        --joint 'patch(lambda=0.95, shape=64x64, size=10, step=5)'
    dk fit jkm --x "$x" --y "$y" --kx linear --joint linear --epsilon 0.05 --tolerance 0.9 \
        -o "$dir/linear.h5"
    dk fit jkm --x "$x" --y "$y" --kx linear --epsilon 0.1 --tolerance 0.9 -o "$dir/near.h5" \
        --joint 'sum(scale(identity, by=100), patch(lambda=0.95, shape=64x64, size=10, step=5))'
    for name in patch linear near; do
        dk predict "$dir/$name.h5" --x "$new" -o "$dir/$name.npy"
        result $name "$(distance "$truth" "$dir/$name.npy")"
    done
    change "$x" "$y" "$new" "$dir"
    result change "$(distance "$truth" "$dir/change.npy")"
    baselines "$x" "$y" "$new" "$truth" "$dir" ""
    result copy "$(distance "$truth" "$new")"
}

# Faces as rows of unit length, so that all count alike.
prepare() {
    case " ${only:-$experiments} " in *" faces "*) ;; *) return ;; esac
    need faces/{neutral,smile}_64x64.npy
    "$python" - "$data/faces" "$out" <<'END' || fail "this needs numpy (Debian: python3-numpy)"
import sys, numpy as np
for name in "neutral", "smile":
    a = np.load(f"{sys.argv[1]}/{name}_64x64.npy").astype(float)
    a = a.reshape(len(a), -1)
    np.save(f"{sys.argv[2]}/{name}.npy", a / np.linalg.norm(a, axis=1, keepdims=True))
END
}

# Faces of the first seed, each kind of prediction in a row of its own.
picture() {
    local d=$out/faces/1 ranks=1
    log=$out/log
    dk montage --shape 64x64 --count 8 --rows "$d/0/test_neutral.npy" --rows "$d/0/test_smile.npy" \
        --rows "$d/patch.npy" --rows "$d/change.npy" --rows "$d/linear.npy" --rows "$d/krr.npy" \
        --rows "$d/knn.npy" --labels neutral,smiling,patch,change,linear,ridge,k-NN -o "$out/faces.png"
    printf '\nPicture: %s\n' "$(short "$out")/faces.png"
}

# identity_rows ROW TITLE PUBLISHED... BAND...: five rows, of 20 to 100 dimensions
identity_rows() {
    local name=$1 title=$2 p k=0 published=() low=() high=()
    read -ra published <<<"$3"
    read -ra low <<<"$4"
    read -ra high <<<"$5"
    for p in 20 30 50 75 100; do
        row identity "$name.$p" "$title, p = $p" "${published[k]:-}" "${low[k]:-}" "${high[k]:-}"
        k=$((k + 1))
    done
}

report() {
    local lambda m
    if section identity "### The identity map, 20 examples in p dimensions"; then
        identity_rows jkm1 "diag(1)" "0.00 0.00 0.01 0.02 0.02" "0 0 0 0 0" \
            "0.001 0.001 0.001 0.001 0.001"
        identity_rows jkm0.5 "diag(0.5)" "0.03 0.14 0.34 0.50 0.62" "0 0.10 0.28 0.45 0.57" \
            "0.01 0.14 0.32 0.49 0.61"
        identity_rows jkm0 "diag(0)" "0.06 0.40 0.78 1.00 1.14" "0 0.35 0.72 0.95 1.10" \
            "0.02 0.39 0.76 0.99 1.14"
        identity_rows krr "ridge" "0.06 0.43 0.82 1.07 1.21" "0.025 0.40 0.79 1.04 1.19" \
            "0.085 0.46 0.85 1.10 1.25"
        identity_rows knn "k-NN" "0.92 1.09 1.27 1.40 1.47" "0.89 1.07 1.23 1.37 1.44" \
            "0.95 1.13 1.29 1.43 1.50"
        for lambda in 1 0.5 0; do
            identity_rows "active$lambda" "active constraints, diag($lambda)" "" "" ""
            for m in $sizes; do
                row identity "count$lambda.$m" "active constraints, diag($lambda), p = 20, m = $m" "" "" ""
            done
        done
    fi
    if section spectra "### Peptides from spectra, rank of the true one of 544"; then
        row spectra jkm0.95 "diag(0.95)" "10.98" "" ""
        row spectra jkm1 "diag(1)" "" "" ""
        row spectra jkm0 "linear" "40.7" "" ""
        row spectra ridge "ridge" "29.6" "" ""
        row spectra knn "k-NN" "49.7" "" ""
        row spectra itself "the spectrum itself" "" "" ""
        row spectra chosen "identity and diag(lambda), lambda, weight and C chosen on held-out peptides" "" "" ""
        row spectra held "the same on the held-out peptides" "" "" ""
    fi
    if section faces "### Smiling faces from neutral ones, a fifth of the people to learn from"; then
        row faces patch "patch" "0.142" "" ""
        row faces linear "linear" "0.227" "" ""
        row faces krr "ridge" "0.222" "" ""
        row faces knn "k-NN" "0.244" "" ""
        row faces copy "the input itself" "0.182" "" ""
        row faces near "identity and patch" "" "" ""
        row faces change "the change of the input, patch, C = 0.1" "" "" ""
        picture
    fi
}

reproduce "$@"

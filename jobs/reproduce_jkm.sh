#!/usr/bin/env bash
# The experiments of "Joint Kernel Maps" (Weston, Schoelkopf, Bousquet, Mann, Noble, 2004): the identity
# map, peptides from spectra, and smiling faces from neutral ones. Prints tables beside the published
# figures and draws a picture.
#
# usage: jobs/reproduce_jkm.sh [--data FOLDER] [--seeds N] [--jobs N] [--ranks N] [--out FOLDER]
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
# shellcheck source=jobs/reproduce.sh
. "$(dirname "${BASH_SOURCE[0]}")/reproduce.sh"

experiments="identity spectra faces"
gammas=1e-6,1e-5,1e-4,1e-3,1e-2,1e-1,1,10
several=1,2,3,4,5,7,10
python=/usr/bin/python3

# distance TRUTH PREDICTION ROW: mean squared distance of rows scaled to unit length
distance() {
    dk score --truth "$1" --pred "$2" --loss kernel --ky cosine
    result "$3" "$(told kernel)"
}

# baselines X Y X_NEW FOLDER: ridge regression and neighbours, as FOLDER/krr.npy and FOLDER/knn.npy
baselines() {
    dk fit krr --x "$1" --y "$2" --kx linear --gamma $gammas --center -o "$4/krr.h5"
    dk predict "$4/krr.h5" --x "$3" -o "$4/krr.npy"
    dk cv knn --x "$1" --y "$2" --kx linear --k $several --folds 5 --loss mse --seed 1
    dk fit knn --x "$1" --y "$2" --kx linear --k "$(told best | sed 's/k=//')" -o "$4/knn.h5"
    dk predict "$4/knn.h5" --x "$3" -o "$4/knn.npy"
}

one_identity() {
    local seed=$1 dir=$2 p lambda x y new epsilon
    for p in 20 30 50 75 100; do
        dk gen identity --n 120 --dim "$p" --seed "$seed" --out-dir "$dir/$p"
        x="$dir/$p/x.npy[0:20]" y="$dir/$p/y.npy[0:20]" new="$dir/$p/x.npy[20:120]"
        epsilon=$(awk -v p="$p" 'BEGIN { print 0.5 / sqrt(p) }')
        for lambda in 0 0.5 1; do
            dk fit jkm --x "$x" --y "$y" --kx linear --joint "diag(lambda=$lambda)" \
                --epsilon "$epsilon" --tolerance 0.01 -o "$dir/m.h5"
            dk predict "$dir/m.h5" --x "$new" -o "$dir/found.npy"
            distance "$dir/$p/y.npy[20:120]" "$dir/found.npy" "jkm$lambda.$p"
            [ "$lambda" != 0 ] || continue
            dk fit jkm --x "$x" --y "$y" --kx linear --joint "diag(lambda=$lambda)" \
                --epsilon "$epsilon" --tolerance 0.9 -o "$dir/m.h5"
            result "active$lambda.$p" "$(told support)"
        done
        baselines "$x" "$y" "$new" "$dir"
        distance "$dir/$p/y.npy[20:120]" "$dir/krr.npy" "krr.$p"
        distance "$dir/$p/y.npy[20:120]" "$dir/knn.npy" "knn.$p"
    done
}

# rank MODEL ROW: the mean place of the true peptide among all
rank() {
    dk predict "$1" --x "$spectra/test_x.npy" --candidates "$spectra/candidates.npy" --top 544 \
        -o "$1.npy"
    dk score --truth "$spectra/test_peptide.npy" --pred "$1.npy" --loss rank
    result "$2" "$(told rank)"
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
    "$python" - "$spectra" "$dir" <<'END' || fail "this needs numpy (Debian: python3-numpy)"
import sys, numpy as np
data, out = sys.argv[1:]
c = np.load(data + "/candidates.npy").astype(float)
np.save(out + "/y.npy", c[np.load(data + "/train_peptide.npy")])
score = np.load(data + "/test_x.npy").astype(float) @ c.T
order = np.argsort(-score, axis=1, kind="stable")
both = np.stack([order, np.take_along_axis(score, order, 1)], axis=2)
np.save(out + "/itself.npy", both.reshape(len(score), -1).astype(float))
END
    for lambda in 0.95 1 0; do
        dk fit jkm --x "$spectra/train_x.npy" --y "$dir/y.npy" --kx linear --outputs candidates \
            --joint "diag(lambda=$lambda)" --epsilon 0 --tolerance 0.01 -o "$dir/jkm$lambda.h5"
        rank "$dir/jkm$lambda.h5" "jkm$lambda"
    done
    baselines "$spectra/train_x.npy" "$dir/y.npy" "$spectra/test_x.npy[0:1]" "$dir"
    dk fit krr --x "$spectra/train_x.npy" --y "$dir/y.npy" --kx linear --gamma $gammas -o "$dir/krr.h5"
    dk fit kde --x "$spectra/train_x.npy" --y "$dir/y.npy" --kx linear --ky linear \
        --components all --gamma "$(told gamma)" -o "$dir/ridge.h5"
    rank "$dir/ridge.h5" ridge
    dk fit knn --x "$spectra/train_x.npy" --y "$dir/y.npy" --kx linear --ky linear --k 3 \
        -o "$dir/knn.h5"
    rank "$dir/knn.h5" knn
    dk score --truth "$spectra/test_peptide.npy" --pred "$dir/itself.npy" --loss rank
    result itself "$(told rank)"
}

# A fifth of the people, about twenty, to learn from.
one_faces() {
    local seed=$1 dir=$2 f=$2/0 x y new truth
    dk gen sample --rows "$out/neutral.npy" --rows "$out/smile.npy" --folds 5 --train one \
        --seed "$seed" --out-dir "$dir"
    x=$f/train_neutral.npy y=$f/train_smile.npy new=$f/test_neutral.npy truth=$f/test_smile.npy
    dk fit jkm --x "$x" --y "$y" --kx linear --joint 'patch(lambda=0.95, shape=64x64, size=10, step=5)' \
        --epsilon 0.1 --tolerance 0.5 -o "$dir/patch.h5"
    dk fit jkm --x "$x" --y "$y" --kx linear --joint linear --epsilon 0.05 --tolerance 0.5 \
        -o "$dir/linear.h5"
    dk predict "$dir/patch.h5" --x "$new" -o "$dir/patch.npy"
    dk predict "$dir/linear.h5" --x "$new" -o "$dir/linear.npy"
    baselines "$x" "$y" "$new" "$dir"
    for name in patch linear krr knn; do
        distance "$truth" "$dir/$name.npy" "$name"
    done
    distance "$truth" "$new" copy
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
    told_file=$out/told
    dk montage --shape 64x64 --count 8 --rows "$d/0/test_neutral.npy" \
        --rows "$d/0/test_smile.npy" -o "$out/faces.png" --labels neutral,smile
    dk montage --shape 64x64 --count 8 --rows "$d/patch.npy" --rows "$d/linear.npy" \
        --labels patch,linear -o "$out/faces_jkm.png"
    printf '\nPictures: %s and faces_jkm.png\n' "$(short "$out")/faces.png"
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
        identity_rows active1 "active constraints, diag(1)" "" "" ""
        identity_rows active0.5 "active constraints, diag(0.5)" "" "" ""
    fi
    if section spectra "### Peptides from spectra, rank of the true one of 544"; then
        row spectra jkm0.95 "diag(0.95)" "10.98" "" ""
        row spectra jkm1 "diag(1)" "" "" ""
        row spectra jkm0 "linear" "40.7" "" ""
        row spectra ridge "ridge" "29.6" "" ""
        row spectra knn "3-NN" "49.7" "" ""
        row spectra itself "the spectrum itself" "" "" ""
    fi
    if section faces "### Smiling faces from neutral ones, a fifth of the people to learn from"; then
        row faces patch "patch" "0.142" "" ""
        row faces linear "linear" "0.227" "" ""
        row faces krr "ridge" "0.222" "" ""
        row faces knn "k-NN" "0.244" "" ""
        row faces copy "the input itself" "0.182" "" ""
        picture
    fi
}

reproduce "$@"

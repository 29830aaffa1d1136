#!/usr/bin/env bash
# The experiments of "Kernel Dependency Estimation" (Weston, Chapelle, Elisseeff, Schoelkopf, Vapnik,
# 2002): strings to strings, classes of digits, from whole images and from their upper halves, and
# lower halves from upper ones. Prints tables beside the published figures and draws a picture.
#
# usage: jobs/reproduce/kde.sh [--data FOLDER] [--seeds N] [--jobs N] [--ranks N] [--out FOLDER]
#                              [--only "NAME ..."]
#   --data FOLDER  holds usps/train_x.npy (7291 x 256, pixels from -1 to 1, in the original order)
#                  and usps/train_labels.npy: zip.train of
#                  https://hastie.su.domains/ElemStatLearn/data.html as npy    [$DKMAP_DATA]
#   --seeds N      repetitions with other folds                                [20]
#   --jobs N       of them at a time                                           [all cores]
#   --ranks N      MPI ranks of each                                           [1]
#   --out FOLDER   results, kept: a second run does what is missing            [out/reproduce_kde]
#   --only NAMES   of toy raw smooth top halves                                [all]
set -euo pipefail
# shellcheck source=jobs/reproduce/reproduce.sh
. "$(dirname "${BASH_SOURCE[0]}")/reproduce.sh"

experiments="toy raw smooth top halves"
string='normalize(ssk(r=3, lambda=0.01))'
# sigma* of the paper is 1 / (2 sigma^2): from 1e-3 to 1e3
widths=22.360680,7.0710678,2.2360680,0.70710678,0.22360680,0.070710678,0.022360680
gammas=1e-4,1e-3,1e-2,1e-1,1,10
many=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20
half_kernel='rbf(sigma=3.96)' # 0.35 sqrt(128)

# option NAME: its value in the setting that the last cv found best, such as s=1,gamma=0.1
option() {
    reported best | tr , '\n' | sed -n "s/^$1=//p"
}

# pick_lines LIST FILE: the lines of a file whose numbers, from 0, are the first column of a list
pick_lines() {
    awk -F, 'NR == FNR { line[NR - 1] = $0; next } { print line[$1 + 0] }' "$2" "$1"
}

# labels FILE: an npy file of labels as lines
labels() {
    tail -c +129 "$1" | od -An -v -t d8 -w8 | tr -d ' '
}

# toy_fold FOLDER METHOD SEED: predict the test strings of a fold by the best setting of its training
# part; strings and classes chosen are added to the files of the method
toy_fold() {
    local f=$1 all=$1/.. method=$2 seed=$3 kx=$string
    local examples=(--x "$f/train_x.txt" --y "$f/train_y.txt")
    case $method in
    kde)
        dk cv kde "${examples[@]}" --kx "rbf($string, sigma=\$s)" --try s=$widths --ky "$string" \
            --components all --gamma $gammas --folds 5 --loss kernel --seed "$seed"
        dk fit kde "${examples[@]}" --kx "rbf($string, sigma=$(option s))" --ky "$string" \
            --components all --gamma "$(option gamma)" -o "$f/m.h5"
        ;;
    knn)
        dk cv knn "${examples[@]}" --kx "$kx" --ky "$string" --k $many --folds 5 --loss kernel \
            --seed "$seed"
        dk fit knn "${examples[@]}" --kx "$kx" --ky "$string" --k "$(option k)" -o "$f/m.h5"
        ;;
    1nn) dk fit knn "${examples[@]}" --kx "$kx" --ky "$string" --k 1 -o "$f/m.h5" ;;
    esac
    dk predict "$f/m.h5" --x "$f/test_x.txt" --top 1 -o "$f/top.csv"
    pick_lines "$f/top.csv" "$f/train_y.txt" >>"$all/$method.txt"
    labels "$f/train_labels.npy" >"$f/classes.txt"
    pick_lines "$f/top.csv" "$f/classes.txt" >>"$all/$method.csv"
}

one_toy() {
    local seed=$1 dir=$2 f method
    dk gen strings --n 200 --seed "$seed" --out-dir "$dir"
    dk gen sample --rows "$dir/x.txt" --rows "$dir/y.txt" --rows "$dir/labels.npy" --folds 4 \
        --seed "$seed" --out-dir "$dir"
    for f in 0 1 2 3; do
        cat "$dir/$f/test_y.txt" >>"$dir/truth.txt"
        labels "$dir/$f/test_labels.npy" >>"$dir/truth.csv"
        for method in kde knn 1nn; do
            toy_fold "$dir/$f" "$method" "$seed"
        done
    done
    for method in kde knn 1nn; do
        dk score --truth "$dir/truth.txt" --pred "$dir/$method.txt" --loss kernel --ky "$string"
        result "$method.squared" "$(reported kernel)"
        result "$method.root" "$(reported mean_root)"
        dk score --truth "$dir/truth.csv" --pred "$dir/$method.csv" --y-type labels --loss zero-one
        result "$method.class" "$(reported zero-one)"
    done
}

# classes FILE: tell digits apart, trained on one of five folds, settings from folds inside it
classes() {
    local common=(--x "$1" --y "$out/digits/train_labels.npy" --folds 5 --train one --seed "$seed")
    dk cv kde "${common[@]}" --kx "rbf(sigma=\$s)" --try s=$widths --ky class --components all \
        --gamma $gammas --inner-folds 5
    result kde "$(reported zero-one)"
    dk cv knn "${common[@]}" --kx linear --k $many --inner-folds 5
    result knn "$(reported zero-one)"
    dk cv knn "${common[@]}" --kx linear --k 1
    result 1nn "$(reported zero-one)"
    dk cv svm "${common[@]}" --kx "rbf(sigma=\$s)" --try s=$widths --hinge squared \
        --C 0.1,1,10,100,1000,10000 --inner-folds 5
    result svm "$(reported zero-one)"
}

one_raw() {
    local seed=$1
    classes "$out/digits/train_x.npy"
}

one_smooth() {
    local seed=$1
    classes "$out/digits/smooth.npy"
}

one_top() {
    local seed=$1
    classes "$out/digits/train_x.npy[:, 0:128]"
}

one_halves() {
    local seed=$1 digits=$out/digits/smooth.npy
    local common=(--x "${digits}[:, 0:128]" --y "${digits}[:, 128:256]" --folds 5 --train one
        --seed "$seed" --loss kernel)
    dk cv kde "${common[@]}" --kx "rbf(sigma=\$s)" --try s=$widths --ky "$half_kernel" \
        --components all --gamma $gammas --inner-folds 5
    result kde "$(reported root)"
    dk cv knn "${common[@]}" --kx linear --ky "$half_kernel" --k $many --inner-folds 5
    result knn "$(reported root)"
    dk cv knn "${common[@]}" --kx linear --ky "$half_kernel" --k 1
    result 1nn "$(reported root)"
    dk cv hopfield "${common[@]}" --loss-kernel "$half_kernel" --steps 100
    result hopfield "$(reported root)"
    best_width raw_width "$out/digits/train_x.npy" "$seed"
    best_width width "$digits" "$seed"
}

# best_width ROW FILE SEED: the width of best centred alignment with 30 clusters of lower halves
best_width() {
    dk align --x "$2[:, 128:256]" --kx "rbf(sigma=\$s)" --clusters 30 --center --seed "$3" \
        --try s=1,1.5,2,2.5,3,3.5,3.96,4.5,5,6,8
    result "$1" "$(option s)"
}

# The first 100 of each digit, raw and smoothed.
prepare() {
    local usps=$data/usps
    case " ${only:-$experiments} " in *\ raw\ * | *\ smooth\ * | *\ top\ * | *\ halves\ *) ;; *) return ;; esac
    need usps/train_x.npy usps/train_labels.npy
    log=$out/log
    dk gen smooth --x "$usps/train_x.npy" --shape 16x16 --width 0.75 --background -1 \
        -o "$out/smooth.npy"
    dk gen sample --rows "$usps/train_x.npy" --rows "$out/smooth.npy" \
        --rows "$usps/train_labels.npy" --labels "$usps/train_labels.npy" --per-class 100 \
        --out-dir "$out/digits"
}

# Lower halves of some test digits of the first fold, by each method.
picture() {
    local d=$out/picture/0 name
    [ -d "$out/halves" ] || return 0
    log=$out/log
    dk gen sample --rows "$out/digits/smooth.npy" --rows "$out/digits/train_labels.npy" \
        --labels "$out/digits/train_labels.npy" --folds 5 --train one --seed 1 --out-dir "$out/picture"
    local upper="$d/train_smooth.npy[:, 0:128]" lower="$d/train_smooth.npy[:, 128:256]"
    dk cv kde --x "$upper" --y "$lower" --kx "rbf(sigma=\$s)" --try s=$widths --ky "$half_kernel" \
        --components all --gamma $gammas --loss kernel
    dk fit kde --x "$upper" --y "$lower" --kx "rbf(sigma=$(option s))" --ky "$half_kernel" \
        --components all --gamma "$(option gamma)" -o "$d/kde.h5"
    dk cv knn --x "$upper" --y "$lower" --kx linear --ky "$half_kernel" --k $many --loss kernel
    dk fit knn --x "$upper" --y "$lower" --kx linear --ky "$half_kernel" --k "$(option k)" -o "$d/knn.h5"
    dk fit hopfield --x "$upper" --y "$lower" --steps 100 -o "$d/hopfield.h5"
    for name in kde knn hopfield; do
        dk predict "$d/$name.h5" --x "$d/test_smooth.npy[::47, 0:128]" -o "$d/$name.npy"
    done
    local top="$d/test_smooth.npy[::47, 0:128]"
    dk montage --shape 16x16 --scale 3 --count 17 --rows "$top" --rows "$d/test_smooth.npy[::47]" \
        --rows "$top + $d/kde.npy" --rows "$top + $d/knn.npy" --rows "$top + $d/hopfield.npy" \
        --labels input,truth,dkmap,k-nn,hopfield --range -1:1 --invert -o "$out/halves.png"
}

report() {
    if section toy "### Strings to strings"; then
        row toy kde.root "kde, root loss" "0.676 ± 0.030" 0.82 0.89
        row toy knn.root "k-NN, root loss" "" 0.90 0.97
        row toy 1nn.root "1-NN, root loss" "0.985 ± 0.029" 1.09 1.17
        row toy kde.squared "kde, squared loss" "" 1.04 1.14
        row toy knn.squared "k-NN, squared loss" "" 1.18 1.28
        row toy 1nn.squared "1-NN, squared loss" "" 1.44 1.56
        row toy kde.class "kde, class loss" "0.125 ± 0.012" 0.115 0.160
        row toy knn.class "k-NN, class loss" "0.205 ± 0.026" 0.215 0.28
        heads toy kde.squared knn.squared "kde is below k-NN"
    fi
    if section raw "### Classes of digits, pixels as they are"; then
        row raw kde "kde" "0.0798 ± 0.0067" 0.090 0.112
        row raw svm "one-vs-rest SVM, squared hinge" "0.0847 ± 0.0064" 0.085 0.115
        row raw knn "k-NN" "0.125 ± 0.0075" 0.144 0.160
        row raw 1nn "1-NN" "" "" ""
    fi
    if section smooth "### Classes of digits, smoothed"; then
        row smooth kde "kde" "0.0798 ± 0.0067" 0.077 0.094
        row smooth svm "one-vs-rest SVM, squared hinge" "0.0847 ± 0.0064" 0.073 0.095
        row smooth knn "k-NN" "0.125 ± 0.0075" 0.113 0.133
        row smooth 1nn "1-NN" "" "" ""
    fi
    if section top "### Classes from the upper half, pixels as they are"; then
        row top kde "kde" "0.1878 ± 0.0098" 0.195 0.213
        row top svm "one-vs-rest SVM, squared hinge" "0.1942 ± 0.0097" "" ""
        row top knn "k-NN" "0.2345 ± 0.0058" 0.245 0.267
        row top 1nn "1-NN" "" "" ""
    fi
    if section halves "### Lower halves from upper halves, root loss"; then
        row halves kde "kde" "0.8384 ± 0.0077" 0.862 0.882
        row halves knn "k-NN" "0.8960 ± 0.0052" 0.915 0.936
        row halves 1nn "1-NN" "" "" ""
        row halves hopfield "Hopfield net" "1.2190 ± 0.0072" 1.21 1.26
        row halves raw_width "width of best centred alignment with 30 clusters, pixels as they are" "3.96" "" ""
        row halves width "the same, smoothed" "" "" ""
        heads halves kde knn "kde is below k-NN"
        picture
        printf '\nPicture: %s\n' "$(short "$out")/halves.png"
    fi
}

reproduce "$@"

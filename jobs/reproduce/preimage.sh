#!/usr/bin/env bash
# The experiments of "Learning to Find Pre-Images" (Bakir, Weston, Schoelkopf, 2004): digits denoised by
# kernel principal components, a film kept as every twentieth frame, and strings decoded letter by
# letter. Prints tables beside the published figures and draws pictures.
#
# usage: jobs/reproduce/preimage.sh [--data FOLDER] [--seeds N] [--jobs N] [--ranks N]
#                                   [--out FOLDER] [--only "NAME ..."]
#   --data FOLDER  holds usps/train_x.npy (7291 x 256, pixels from -1 to 1) and
#                  usps/train_labels.npy: zip.train of
#                  https://hastie.su.domains/ElemStatLearn/data.html as npy    [$DKMAP_DATA]
#   --seeds N      repetitions with other digits, noise and strings            [20]
#   --jobs N       of them at a time                                           [all cores]
#   --ranks N      MPI ranks of each                                           [1]
#   --out FOLDER   results, kept: a second run does what is missing       [out/reproduce_preimage]
#   --only NAMES   of denoise raw film switching                               [all]
set -euo pipefail
# shellcheck source=jobs/reproduce/reproduce.sh
. "$(dirname "${BASH_SOURCE[0]}")/reproduce.sh"

experiments="denoise raw film switching"

# knows METHOD: whether dkmap has this pre-image
knows() {
    "$build/dkmap" help decode | grep -qw -- "$1"
}

# score_image ROW FILE: summed squared error of an image, mean over all
score_image() {
    dk score --truth "$dir/0/test_digits.npy" --pred "$2" --loss mse
    result "$1" "$(awk -v mse="$(reported mse)" 'BEGIN { print 256 * mse }')"
}

# denoise SEED FOLDER SD FILE: 100 digits to learn from, 100 others with noise, 10 of each class
denoise() {
    local seed=$1 dir=$2 sd=$3 method
    ln -s "$4" "$dir/digits.npy"
    dk gen sample --rows "$dir/digits.npy" --labels "$data/usps/train_labels.npy" --per-class 20 \
        --pick random --folds 2 --seed "$seed" --out-dir "$dir"
    dk gen noise --x "$dir/0/test_digits.npy" --sd "$sd" --seed "$seed" -o "$dir/noisy.npy"
    score_image noisy "$dir/noisy.npy"
    dk fit kpca --x "$dir/0/train_digits.npy" --kx linear --components 32 -o "$dir/pca.h5"
    dk encode "$dir/pca.h5" --x "$dir/noisy.npy" -o "$dir/z.npy"
    dk decode "$dir/pca.h5" --z "$dir/z.npy" -o "$dir/linear.npy"
    score_image linear "$dir/linear.npy"
    dk fit kpca --x "$dir/0/train_digits.npy" --kx 'rbf(sigma=8)' --components 80 -o "$dir/kpca.h5"
    dk encode "$dir/kpca.h5" --x "$dir/noisy.npy" -o "$dir/z.npy"
    for method in fixed-point gradient mds learned candidates; do
        knows $method || continue
        local more=()
        [ $method = learned ] && more=(--kz 'rbf(sigma=1)' --gamma-z 1)
        dk decode "$dir/kpca.h5" --z "$dir/z.npy" --preimage $method "${more[@]}" \
            -o "$dir/$method.npy"
        score_image $method "$dir/$method.npy"
    done
}

one_denoise() {
    denoise "$1" "$2" 0.5 "$out/smooth.npy"
}

one_raw() {
    denoise "$1" "$2" 0.70710678 "$data/usps/train_x.npy" # variance 0.5
}

# film ROW KX KY GAMMA KZ GAMMA_Z: frames from the angle by kde, with a learned pre-image
film() {
    local row=$1
    dk fit kde --x "$dir/t.npy[0:981:20]" --y "$dir/frames.npy[0:981:20]" --kx "$2" --ky "$3" \
        --components all --gamma "$4" -o "$dir/$row.h5"
    dk predict "$dir/$row.h5" --x "$dir/t.npy[0:981]" --preimage learned --kz "$5" --gamma-z "$6" \
        -o "$dir/$row.npy"
    score_film "$row"
}

# score_film ROW: mean square a pixel, on the frames kept and on those half way between two
score_film() {
    dk score --truth "$dir/frames.npy[0:981:20]" --pred "$dir/$1.npy[0:981:20]" --loss mse
    result "$1.kept" "$(reported mse)"
    dk score --truth "$dir/frames.npy[10:981:20]" --pred "$dir/$1.npy[10:981:20]" --loss mse
    result "$1.between" "$(reported mse)"
}

# There is nothing random in it: one run is all.
one_film() {
    local dir=$2
    if [ "$1" != 1 ]; then
        result once 1
        return
    fi
    dk gen rotating --n 1000 --out-dir "$dir"
    # a Brownian path between frames is a straight line: this is linear blending
    dk fit krr --x "$dir/t.npy[0:981:20]" --y "$dir/frames.npy[0:981:20]" \
        --kx 'laplace(sigma=1e6)' --gamma 1e-12 --center --primal no -o "$dir/blend.h5"
    dk predict "$dir/blend.h5" --x "$dir/t.npy[0:981]" -o "$dir/blend.npy"
    score_film blend
    # widths of the angle are in frames kept, 3.6036 degrees each
    film published 'rbf(sigma=3.6036)' 'rbf(sigma=2.5)' 1e-13 'rbf(sigma=0.15)' 1e-7
    film wide 'rbf(sigma=7.2072)' 'rbf(sigma=10)' 1e-6 'rbf(sigma=1)' 1e-6
}

# positions X: a row of numbers for each letter: which letters stand in the window of three around it,
# so that each that differs makes a squared distance of 2
positions() {
    awk '{
        for (q = 1; q <= length($1); q++) {
            line = ""
            for (k = q - 1; k <= q + 1; k++) {
                letter = k < 1 ? "-" : substr($1, k, 1)
                for (c = 1; c <= 4; c++)
                    line = line (line == "" ? "" : ",") (substr("abc-", c, 1) == (letter == "" ? "-" : letter))
            }
            print line
        }
    }' "$1"
}

# letters Y: one a line
letters() {
    fold -w 1 "$1" | grep .
}

# shuffle SEED ROWS LABELS: both in the same random order, so that ties are broken at random
shuffle() {
    paste -d '|' "$2" "$3" | awk -v seed="$1" 'BEGIN { srand(seed) } { print rand() "|" $0 }' |
        LC_ALL=C sort -g | awk -F'|' -v rows="$2" -v labels="$3" '{ print $2 >rows; print $3 >labels }'
}

# decode_letters METHOD FOLDER: letters of the test strings from rows of the training strings
decode_letters() {
    local f=$2
    shuffle "$seed" "$f/train.csv" "$f/train_labels.csv"
    dk fit knn --x "$f/train.csv" --y "$f/train_labels.csv" --y-type labels --kx linear --k 5 \
        -o "$f/letters.h5"
    dk predict "$f/letters.h5" --x "$f/test.csv" -o "$f/$1.csv"
    cat "$f/$1.csv" >>"$dir/$1.csv"
}

# A fold: letters by their windows alone, and by windows and the output that kde estimates: features
# of an output are three letters of the input with the letter of the output in their middle.
switching_fold() {
    local f=$1
    letters "$f/train_y.txt" >"$f/train_labels.csv"
    letters "$f/test_y.txt" >>"$dir/truth.csv"
    positions "$f/train_x.txt" >"$f/train.csv"
    positions "$f/test_x.txt" >"$f/test.csv"
    decode_letters knn "$f"
    paste "$f/train_x.txt" "$f/train_y.txt" >"$f/pairs.txt"
    dk fit kde --x "$f/train_x.txt" --y "$f/pairs.txt" --ky 'normalize(strings(p=3))' \
        --kx 'rbf(normalize(spectrum(p=3)), sigma=0.70710678)' --components all --gamma 1 -o "$f/kde.h5"
    dk predict "$f/kde.h5" --x "$f/test_x.txt" --preimage strings --window 3 --neighbours 5 \
        --seed "$seed" -o "$f/kde.txt"
    letters "$f/kde.txt" >>"$dir/kde.csv"
}

one_switching() {
    local seed=$1 dir=$2 f
    dk gen switching --n 50 --seed "$seed" --out-dir "$dir"
    dk gen sample --rows "$dir/x.txt" --rows "$dir/y.txt" --folds 10 --seed "$seed" --out-dir "$dir"
    for f in 0 1 2 3 4 5 6 7 8 9; do
        switching_fold "$dir/$f"
    done
    for f in kde knn; do
        dk score --truth "$dir/truth.csv" --pred "$dir/$f.csv" --y-type labels --loss zero-one
        result $f "$(reported zero-one)"
    done
}

prepare() {
    log=$out/log
    case " ${only:-$experiments} " in *\ denoise\ * | *\ raw\ *) ;; *) return ;; esac
    need usps/train_x.npy usps/train_labels.npy
    dk gen smooth --x "$data/usps/train_x.npy" --shape 16x16 --width 0.75 \
        --background -1 -o "$out/smooth.npy"
}

# pictures: denoised digits of the first seed, and frames between two that were kept
pictures() {
    local d=$out/denoise/1 f=$out/film/1 rows=() labels=input,truth name
    log=$out/log
    if [ -s "$d/results" ]; then
        for name in linear fixed-point learned mds candidates; do
            [ -s "$d/$name.npy" ] || continue
            rows+=(--rows "$d/$name.npy[::6]") labels=$labels,$name
        done
        dk montage --shape 16x16 --scale 3 --count 16 --rows "$d/noisy.npy[::6]" \
            --rows "$d/0/test_digits.npy[::6]" "${rows[@]}" --labels "$labels" --range -1:1 \
            --invert -o "$out/denoise.png"
    fi
    if [ -s "$f/results" ]; then
        dk montage --shape 100x100 --scale 1 --count 9 --rows "$f/frames.npy[400:441:5]" \
            --rows "$f/wide.npy[400:441:5]" --rows "$f/blend.npy[400:441:5]" \
            --rows "$f/published.npy[400:441:5]" --labels truth,dkmap,blend,narrow -o "$out/film.png"
    fi
}

report() {
    local title
    for name in denoise raw; do
        title="### Denoising, smoothed digits, noise of standard deviation 0.5"
        [ $name = raw ] && title="### Denoising, digits as they are, noise of variance 0.5"
        section $name "$title: summed squared error of an image" || continue
        row $name noisy "as they come" "" "" ""
        if [ $name = denoise ]; then
            row $name linear "linear PCA, 32 components" "13.8 ± 0.4" 13.3 14.3
            row $name gradient "gradient" "31.6 ± 1.7" 14.5 16.7
            row $name fixed-point "fixed point" "" 14.5 16.7
            row $name learned "learned" "29.2 ± 1.8" 31 36.5
            row $name mds "distance constraints" "" 21.5 25
            row $name candidates "nearest training digit" "" 34 39
        else
            row $name linear "linear PCA, 32 components" "" 45.5 50.5
            row $name fixed-point "fixed point" "" 60.5 66
            row $name learned "learned" "" 96 105
        fi
    done
    if section film "### A film kept as every twentieth frame: mean square a pixel"; then
        row film blend.between "between, linear blending" "" "" ""
        row film wide.between "between, widths 10 and 1" "" "" ""
        row film published.between "between, widths as published" "" "" ""
        row film wide.kept "kept, widths 10 and 1" "" "" ""
        row film published.kept "kept, widths as published" "" 0 1e-10
    fi
    if section switching "### Switching strings: share of letters that are wrong, 5 neighbours"; then
        row switching kde "kde" "0.162 ± 0.03" 0.165 0.22
        row switching knn "neighbours of windows" "0.249 ± 0.03" 0.235 0.29
        heads switching kde knn "kde is below neighbours"
    fi
    pictures
    for picture in "$out"/*.png; do
        [ ! -e "$picture" ] || printf '\nPicture: %s\n' "$(short "$picture")"
    done
}

reproduce "$@"

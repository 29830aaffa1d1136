#!/usr/bin/env bash
# From words to how they sound: strings of letters to strings of phonemes, learnt from a part of the
# CMU pronouncing dictionary and tried on other words of it.
#
# usage: jobs/reproduce/pronunciation.sh [--data FOLDER] [--words N] [--ranks N] [--seed S] [--out FOLDER]
#   --data FOLDER  holds pronounce/cmudict.dict.gz: cmudict.dict of
#                  https://github.com/cmusphinx/cmudict, gzipped               [$DKMAP_DATA]
#   --words N      to learn from; 1000 others are tried                        [4000]
#   --ranks N      MPI ranks                                                   [2]
#   --seed S       of the words that are taken                                 [1]
#   --out FOLDER   models and predictions                                      [out/pronounce]
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

data=${DKMAP_DATA:-} words=4000 ranks=2 seed=1 out=$root/out/pronounce
kernel='normalize(ssk(r=2, lambda=0.5))' window=7

read_options "data words ranks seed out" "$@"
need pronounce/cmudict.dict.gz
dictionary=$data/pronounce/cmudict.dict.gz

# Words of 4 to 12 letters and their phonemes, without stress and one letter each.
spell() {
    zcat "$dictionary" | LC_ALL=C awk '
        $1 !~ /^[a-z]+$/ || length($1) < 4 || length($1) > 12 { next }
        {
            sub(/#.*/, "")
            sounds = ""
            for (k = 2; k <= NF; k++) {
                gsub(/[0-9]/, "", $k)
                if (!($k in code))
                    code[$k] = sprintf("%c", (count < 26 ? 97 : 39) + count++)
                sounds = sounds code[$k]
            }
            print $1, sounds
        }'
}

# dk WHAT ARGUMENTS...
dk() {
    run_dkmap "$out/$1.log" "${@:2}"
}

# judge TITLE FILE: a line of the table
judge() {
    dk score score --truth "$out/y.txt[$words:$all]" --pred "$2" --loss edit,zero-one
    printf '| %s | %.2f ± %.2f | %.3f | %.1f %% |\n' "$1" "$(reported edit)" "$(reported edit_stderr)" \
        "$(reported normalised)" "$(awk -v wrong="$(reported zero-one)" 'BEGIN { print 100 * (1 - wrong) }')"
}

# shellcheck disable=SC2086
install_packages $packages
build_dkmap dkmap_command
mkdir -p "$out" || fail "cannot make the folder $out: name another with --out"
all=$((words + 1000))
spell >"$out/all.txt"
awk -v seed="$seed" 'BEGIN { srand(seed) } { print rand(), $0 }' "$out/all.txt" | LC_ALL=C sort -g |
    awk -v all="$all" -v out="$out" 'NR <= all { print $2 >(out "/x.txt"); print $3 >(out "/y.txt") }'
cut -d' ' -f2 "$out/all.txt" | LC_ALL=C sort -u >"$out/sounds.txt"
train=(--x "$out/x.txt[0:$words]" --y "$out/y.txt[0:$words]" --kx "$kernel")
new=(--x "$out/x.txt[$words:$all]")

printf 'Learning from %s words; trying 1000 others; %s ways that any word of the dictionary sounds\n\n' \
    "$words" "$(wc -l <"$out/sounds.txt")"
printf '| method | letters to change | of the length | right |\n|---|---|---|---|\n'
dk knn fit knn "${train[@]}" --k 1 -o "$out/1nn.h5"
dk knn predict "$out/1nn.h5" "${new[@]}" -o "$out/1nn.txt"
judge "nearest neighbour" "$out/1nn.txt"
dk knn fit knn "${train[@]}" --ky "$kernel" --k 5 -o "$out/5nn.h5"
dk knn predict "$out/5nn.h5" "${new[@]}" -o "$out/5nn.txt"
judge "5 nearest neighbours, pre-image of their mean" "$out/5nn.txt"
dk kde fit kde "${train[@]}" --ky "$kernel" --components 500 --gamma 0.01 -o "$out/kde.h5"
dk kde predict "$out/kde.h5" "${new[@]}" -o "$out/kde.txt"
judge "kde, the nearest of the training outputs" "$out/kde.txt"
for weights in equal loo; do
    dk kde predict "$out/kde.h5" "${new[@]}" --preimage strings --window $window --window-weights $weights -o "$out/kde_$weights.txt"
    judge "kde, letters by windows of $window, weights $weights" "$out/kde_$weights.txt"
done
# What windows tell without kde: the nearest of them under weights that halve from place to place.
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    for part in x y; do
        head -n "$words" "$out/$part.txt" >"$out/train_$part.txt"
    done
    tail -n +$((words + 1)) "$out/x.txt" >"$out/new_x.txt"
    /usr/bin/python3 "$root/jobs/reproduce/window_knn.py" "$out/train_x.txt" "$out/train_y.txt" "$out/new_x.txt" "$out/windows.txt"
    judge "5 nearest windows of $window alone, weights 1 2 4 8 4 2 1" "$out/windows.txt"
fi
dk kde predict "$out/kde.h5" "${new[@]}" --candidates "$out/sounds.txt" -o "$out/kde_all.txt"
judge "kde, the nearest of all that words sound like" "$out/kde_all.txt"

# Prediction sets among all that words sound like: 500 of the other words calibrate, 500 are tried.
half=$((words + 500))
LC_ALL=C awk 'NR == FNR { at[$0] = NR - 1; next } { print at[$0] }' "$out/sounds.txt" "$out/y.txt" >"$out/places.csv"
printf '\n| asked | coverage | mean number of candidates |\n|---|---|---|\n'
for share in 0.8 0.9 0.95; do
    dk sets predict "$out/kde.h5" --x "$out/x.txt[$half:$all]" --calibration-x "$out/x.txt[$words:$half]" \
        --calibration-y "$out/y.txt[$words:$half]" --candidates "$out/sounds.txt" --coverage $share -o "$out/sets.csv"
    dk score score --truth "$out/places.csv[$half:$all]" --y-type labels --pred "$out/sets.csv" --loss coverage
    printf '| %s | %.3f | %.0f |\n' $share "$(reported coverage)" "$(reported set_size)"
done

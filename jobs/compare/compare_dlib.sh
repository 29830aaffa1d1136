#!/usr/bin/env bash
# Times a linear machine for many classes (soft margin, one slack for all) beside dlib's
# svm_multiclass_linear_trainer on the same rows, until dkmap's objective is below dlib's.
#
# usage: jobs/compare/compare_dlib.sh [--data FOLDER] [--C C] [--epsilon E] [--repeat N] [--ranks R]
#   --data FOLDER  holds usps/train_x.npy and usps/train_labels.npy (zip.train of "The Elements of
#                  Statistical Learning", 7291 x 256)                       [$DKMAP_DATA]
#   --C C          dlib's, which is shared by all examples: dkmap gets C / 7291    [1000]
#   --epsilon E    dlib's: it stops when the mean slack is so near the best        [0.01]
#   --repeat N     of each; the fastest and the median time are told               [3]
#   --ranks R      of dkmap; dlib has as many threads                              [2]
#
# Both have a threshold a class that is part of the machine's norm: dlib adds a column of -1, dkmap
# gets a column of 1. Seconds are those of training, without reading files. Runs where a C++ compiler,
# libdlib-dev and python3-numpy are there, and says so where they are not.
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

data=${DKMAP_DATA:-} C=1000 epsilon=0.01 repeat=3 ranks=2 python=/usr/bin/python3
read_options "data C epsilon repeat ranks" "$@"
if ! command -v g++ >/dev/null || [ ! -e /usr/include/dlib/svm_threaded.h ] ||
    ! "$python" -c 'import numpy' 2>/dev/null; then
    echo "Skipped: nothing to compare with. On Debian: apt-get install g++ libdlib-dev python3-numpy"
    exit 0
fi
[ -r "$data/usps/train_x.npy" ] || fail "no usps/train_x.npy in '$data': name a folder with --data"
data=$(realpath "$data")
# shellcheck disable=SC2086
install_packages $packages
build_dkmap dkmap_command
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
g++ -O3 -march=native -DNDEBUG -o "$scratch/peer" "$root/jobs/compare/dlib_multiclass.cpp" -ldlib -lopenblas -lpthread
cd "$scratch"
"$python" - "$data/usps" <<'END'
import sys, numpy as np
x = np.load(sys.argv[1] + "/train_x.npy").astype(float)
np.save("x.npy", x)
np.save("x1.npy", np.hstack([x, np.ones((len(x), 1))]))
np.save("y.npy", np.load(sys.argv[1] + "/train_labels.npy").astype("i8"))

END
m=$("$python" -c 'import numpy as np; print(len(np.load("y.npy")))')
each=$("$python" -c "print($C / $m)")

for _ in $(seq "$repeat"); do
    OPENBLAS_NUM_THREADS=1 ./peer x.npy y.npy "$C" "$epsilon" "$ranks" >>dlib.txt
    # shellcheck disable=SC2086
    $launch -np "$ranks" "$build/dkmap" fit jkm --x x1.npy --y y.npy --y-type labels --kx linear \
        --C "$each" --slacks one --tolerance 0.1 -o m.h5 --record runs.jsonl --quiet >dkmap.txt
done
"$python" - "$C" "$m" "$ranks" <<'END'
import json, os, sys, statistics
C, m, ranks = sys.argv[1:]
dlib = [line.split() for line in open("dlib.txt")]
seconds = [float(v) for k, v in dlib if k == "seconds"]
objective = [float(v) for k, v in dlib if k == "objective"][-1]
runs = [json.loads(line) for line in open("runs.jsonl")]
ours = [r["phases"]["jkm"]["seconds"]["max"] for r in runs]
told = dict(line.split()[:2] for line in open("dkmap.txt"))
print(f"{m} examples, C = {C} for all of them, {ranks} threads or ranks\n")
print("| | objective | fastest, s | median, s |\n|---|---|---|---|")
print(f"| dlib | {objective:.2f} | {min(seconds):.2f} | {statistics.median(seconds):.2f} |")
print(f"| dkmap, {told['rounds']} rounds | {float(told['primal']):.2f} | {min(ours):.2f} | {statistics.median(ours):.2f} |")
print(f"\ndkmap is {statistics.median(seconds) / statistics.median(ours):.1f} times as fast by the medians"
      f" ({min(seconds) / min(ours):.1f} by the fastest).")
if float(told["primal"]) > objective:
    sys.exit("dkmap's objective is not below dlib's: the times do not compare")
if os.environ.get("DKMAP_JSON"):  # for all.sh
    theirs, mine = statistics.median(seconds), statistics.median(ours)
    with open(os.environ["DKMAP_JSON"], "w") as file:
        json.dump(dict(peer_seconds=theirs, seconds=mine, ratio=theirs / mine, check=f"objectives {objective:.2f} and "
                       f"{float(told['primal']):.2f}", runs=list(zip(seconds, ours))), file)
END

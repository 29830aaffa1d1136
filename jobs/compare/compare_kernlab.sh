#!/usr/bin/env bash
# Holds the string kernels against R's kernlab on the same strings of random letters.
#   usage: jobs/compare/compare_kernlab.sh [STRINGS [LETTERS IN EACH]]     [400 100]
# RANKS (2) says on how many ranks dkmap runs. kernlab's "sequence" is ssk; its "string" counts
# substrings without gaps, which is spectrum, and is the quicker of its two. As "sequence" takes
# minutes for a few hundred strings, it gets the first 40 of them.
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
case ${1:-} in -h | --help) explain && exit ;; esac

strings=${1:-400}
length=${2:-100}
ranks=${RANKS:-2}
if ! Rscript -e 'library(kernlab)' >/dev/null 2>&1; then
    echo "${0##*/}: nothing to compare with; on Debian: apt-get install r-base-core r-cran-kernlab"
    exit 0
fi
build_dkmap dkmap_command

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

run() { # OPTIONS...
    # shellcheck disable=SC2086
    $launch -np "$ranks" "$build/dkmap" "$@" --quiet
}

run bench string --n "$strings" --length "$length" --letters 20 --r 3 --lambda 0.5 --repeat 5 \
    --out strings.txt >bench.txt
run gram --x "strings.txt[0:40]" --kx 'normalize(ssk(r=3, lambda=0.5))' -o sequence.csv >/dev/null
run gram --x strings.txt --kx 'normalize(spectrum(p=3))' -o string.csv >/dev/null
awk '$1 ~ /^(n|kernel|ranks|best_seconds|median_seconds|pairs_rate|residual)$/' bench.txt

cat >compare.R <<'R'
suppressMessages(library(kernlab))
strings <- readLines("strings.txt")
ours <- as.numeric(commandArgs(trailingOnly = TRUE)[1])
tell <- function(name, number) cat(sprintf("%-31s %.6g\n", name, number))
compare <- function(type, x) {
    kernel <- stringdot(type = type, length = 3, lambda = 0.5, normalized = TRUE)
    begun <- proc.time()[["elapsed"]]
    K <- kernelMatrix(kernel, as.list(x))
    seconds <- proc.time()[["elapsed"]] - begun
    G <- as.matrix(read.csv(paste0(type, ".csv"), header = FALSE))
    tell(paste0("kernlab_", type, "_strings"), length(x))
    tell(paste0("kernlab_", type, "_seconds"), seconds)
    tell(paste0("kernlab_", type, "_difference"), max(abs(G - K)))
    share <- length(x) * (length(x) + 1) / (length(strings) * (length(strings) + 1))
    tell(paste0("ssk_times_as_fast_as_", type), seconds / (ours * share))
}
compare("string", strings)
compare("sequence", head(strings, 40))
R
Rscript compare.R "$(awk '$1 == "best_seconds" { print $2 }' bench.txt)" | tee kernlab.txt
[ -z "${DKMAP_JSON:-}" ] || # for all.sh: with start-up, files to matrix, against the quicker kernel of kernlab
    {
        begun=$(date +%s%N)
        run gram --x strings.txt --kx 'normalize(ssk(r=3, lambda=0.5))' -o ssk.npy >/dev/null
        awk -v ours=$(($(date +%s%N) - begun)) '{ told[$1] = $2 }
            END { s = ours / 1e9; t = told["kernlab_string_seconds"]
                printf "{\"peer_seconds\": %g, \"seconds\": %g, \"ratio\": %g, \"check\": \"largest difference %s\"}\n",
                    t, s, t / s, told["kernlab_sequence_difference"] }' kernlab.txt >"$DKMAP_JSON"
    }

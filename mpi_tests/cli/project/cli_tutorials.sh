#!/usr/bin/env bash
# Every command that the README, the tutorials and the how-to pages show runs, and prints what they say. The fenced `sh`
# blocks of a page run in order in one shell; a block below a line `<!-- not run: REASON -->` is left out,
# and a `python` block below a line `<!-- run -->` runs where numpy, scipy, h5py and an mpi4py for the MPI of the build are there.
# A `text` block behind a block is its output: of lines `name value` numbers are compared to 5 %, all
# others must be there as they are.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"
pages=${DKMAP_PAGES:-$(ls "$DKMAP_SOURCE"/README.md "$DKMAP_SOURCE"/docs/{tutorials,howto}/*.md)}
data=/usr/share/datasets/fashion-mnist

mkdir bin
ln -s "$DKMAP" bin/dkmap
launcher=$(command -v "${DKMAP_MPIRUN%% *}") # not the one of that name that is made here
# shellcheck disable=SC2016
printf '#!/bin/sh\nexec %s%s "$@"\n' "$launcher" "${DKMAP_MPIRUN#"${DKMAP_MPIRUN%% *}"}" >bin/mpirun
chmod +x bin/mpirun
export PYTHONPATH=$DKMAP_SOURCE/src/python PYTHONDONTWRITEBYTECODE=1 # the library is that of the command
export PATH=$PWD/bin:$PATH DKMAP DKMAP_CALIBRATION=$PWD/calibration
# Pages that say python3 mean the one of the build, or Debian's where that has no mpi4py for this MPI.
export python=${DKMAP_PYTHON:-/usr/bin/python3}
{ "$python" -c 'import h5py' && "$python" "$DKMAP_SOURCE/mpi_tests/python/harness.py" --check; } >check 2>&1 ||
    { echo "Python is left out: $(tail -n 1 check)" && python=; }
printf '#!/bin/sh\nexec %s "$@"\n' "${python:-/usr/bin/python3}" >bin/python3
chmod +x bin/python3

# script PAGE: the blocks of a page as one shell script
script() {
    awk -v page="${1##*/}" '
    BEGIN {
        print "set -eo pipefail\nexec 9>&2\nat=start"
        print "trap \x27[ $? = 0 ] || echo \"at $at: $(head -n 5 errors)\" >&9\x27 EXIT"
    }
    /^<!-- not run: .*-->$/ { left_out = 1; next }
    /^<!-- run -->$/ { with_python = 1; next }
    inside == "" && /^```/ {
        inside = $0
        sub(/^```/, "", inside)
        if (inside == "sh" && !left_out) {
            printf "export at=%s:%d\n{\n", page, NR
            ran = 1
        } else if (inside == "python" && with_python) {
            printf "export at=%s:%d\n", page, NR
            print "if [ -n \"$python\" ]; then\n$python >printed 2>errors <<\"END_OF_PYTHON\""
        } else if (inside == "text" && ran && previous)
            printf "cat >expected <<\"END_OF_OUTPUT\"\n"
        else {
            if (inside == "sh")
                ran = 0
            inside = "other"
        }
        previous = left_out = with_python = 0
        next
    }
    /^```/ {
        if (inside == "sh")
            print "} >printed 2>errors"
        else if (inside == "text")
            print "END_OF_OUTPUT\ncompare"
        else if (inside == "python")
            print "END_OF_PYTHON\nfi"
        previous = inside == "sh"
        inside = ""
        next
    }
    inside ~ /^(sh|text|python)$/ { print; next }
    /[^ ]/ && inside == "" { previous = 0 }' "$1"
}

# compare: the file expected is borne out by the file printed
compare() {
    awk '
    function number(s) { return s ~ /^[-+]?[0-9.]+([eE][-+]?[0-9]+)?$/ }
    NR == FNR { said[$0] = 1; if (NF == 2 && !($1 in value)) value[$1] = $2; next }
    NF == 0 || ($0 in said) { next }
    NF == 2 && ($1 in value) && number($2) && number(value[$1]) {
        d = $2 - value[$1]; if (d < 0) d = -d
        s = $2 < 0 ? -$2 : $2
        if (d <= 0.05 * s)
            next
    }
    NF == 2 && ($1 in value) && value[$1] == $2 { next }
    { print "expected: " $0 (NF == 2 ? ", printed: " value[$1] : ""); bad = 1 }
    END { exit bad }' printed expected >differences || {
        echo "${at:-}: $(cat differences)" >&2
        return 1
    }
}

export -f compare

# run PAGE: in a folder and a shell of its own
run() {
    local name=${1##*/}
    [ -f "$1" ] || fail "no page $1"
    script "$1" >"$name.sh"
    mkdir "in_$name"
    ln -s "$DKMAP_SOURCE/jobs" "in_$name/jobs"
    # the README speaks of files of the reader
    if [ "$name" = README.md ]; then
        normal 1000 6 1 >"in_$name/data.csv"
        good 0 gen strings --n 60 --seed 1 --out-dir "in_$name" --quiet
        mv "in_$name/x.txt" "in_$name/typed.txt"
        mv "in_$name/y.txt" "in_$name/meant.txt"
    fi
    (cd "in_$name" && exec bash "../$name.sh") || fail "$name"
}

shown=0
for page in $pages; do
    [ "${page##*/}" != index.md ] || continue
    if grep -q "$data" "$page" && [ ! -d "$data" ]; then
        echo "left out ${page##*/}: no $data (Debian: dataset-fashion-mnist)"
        continue
    fi
    run "$page"
    shown=$((shown + $(grep -c '^} >printed' "${page##*/}.sh")))
done
[ -n "${DKMAP_PAGES:-}" ] || [ "$shown" -gt 20 ] || [ ! -d "$data" ] || fail "only $shown blocks were found"
echo "$shown blocks"

# The program of docs/reference/c-interface.md, on the data of the first tutorial. A library with
# sanitizers or a static one would need more than one line to link.
if [ -z "${DKMAP_PAGES:-}" ] && [ -e "${DKMAP_BUILD:-}/libdkmap.so" ] && command -v mpicc >/dev/null &&
    ! grep -qs '^DKMAP_SANITIZE:[A-Z]*=.' "$DKMAP_BUILD/CMakeCache.txt"; then
    awk '/^```c$/ { inside = 1; next } /^```/ { inside = 0 } inside' \
        "$DKMAP_SOURCE/docs/reference/c-interface.md" >hours.c
    cp in_regression.md/days.csv .
    mpicc -std=c11 -Wall -Wextra -Werror hours.c -I"$DKMAP_SOURCE/include" -L"$DKMAP_BUILD" -ldkmap \
        -Wl,-rpath,"$DKMAP_BUILD" -o hours 2>errors || fail "c-interface.md does not compile: $(head -5 errors)"
    timeout "$limit" mpirun -np 2 ./hours >out 2>err || fail "c-interface.md: $(head -3 err)"
    says out "m = 200, residual" "the program of c-interface.md"
fi
finish

#!/usr/bin/env bash
# --json: every command that reports puts one JSON object, and nothing else, on standard output, with
# the numbers that the lines have and all their digits.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# field NAME...: a field of the one object in out, and of the objects inside it.
field() {
    python3 - "$@" <<'EOF'
import json, sys
lines = open("out").read().split("\n")
assert len(lines) == 2 and lines[1] == "", "not one line"
value = json.loads(lines[0])
for name in sys.argv[1:]:
    value = value[int(name) if isinstance(value, list) else name]
print(repr(value) if isinstance(value, float) else value)
EOF
}

# has NAMES... = VALUE
has() {
    local wanted=${*: -1} got
    got=$(field "${@:1:$#-2}" 2>&1) || fail "no field ${*:1:$#-2}: $got in $(head -c 300 out)"
    [ "$got" = "$wanted" ] || fail "${*:1:$#-2} is $got, not $wanted"
}

normal 30 3 1 >x.csv
normal 30 1 2 >y.csv
for ranks in 0 3; do
    good "$ranks" fit krr --x x.csv --y y.csv --kx 'rbf(sigma=1)' --gamma 1e-3 -o m.h5 --json
    has command = "fit krr"
    has m = 30
    has gamma = 0.001
    has settings kx = "rbf(sigma=1)"
    good "$ranks" predict m.h5 --x x.csv -o p.csv --json
    has command = predict
    good "$ranks" score --truth y.csv --pred p.csv --loss mse --json --record r.jsonl
    mse=$(field mse)
    good "$ranks" score --truth y.csv --pred p.csv --loss mse
    awk -v full="$mse" -v short="$(value mse)" \
        'BEGIN { exit !(length(full) > 14 && sprintf("%.6g", full) == short) }' ||
        fail "mse is $mse in the object and $(value mse) on the line"
    [ "$(wc -l <r.jsonl)" = 1 ] || fail "--record beside --json"
    rm r.jsonl
    good "$ranks" cv krr --x x.csv --y y.csv --kx 'rbf(sigma=1)' --gamma 0.1,1 --folds 3 --json
    has best = "gamma=$(field best | sed 's/gamma=//')"
    field loss mean >/dev/null || fail "cv: $(head -c 300 out)"
    good "$ranks" gram --x x.csv --kx linear -o g.npy --json
    has settings kx = linear
done
printf 'a\nb\na\n' >true.txt
printf 'a\na\na\n' >pred.txt
good 0 score --truth true.txt --pred pred.txt --loss accuracy --confusion --json
has confusion 1 class = b
has confusion 1 predicted 0 = 1.0
good 0 info m.h5 --json
has contents kernel = "rbf(sigma=1)"
has contents gamma = 0.001
has lines = "m.h5: a krr model of dkmap"
good 0 plan krr --x 1000x10 --y 1000x1 --kx "rbf(sigma=1)" --gamma 1 --ranks 4 --json
has grid = 2x2
below 1000 "$(field planned gram flops)" "the work of a phase: $(head -c 300 out)"
has planned gram seconds = None
good 0 bench gram --n 40 --d 5 --repeat 2 --gemm 64 --json
has repeats = 2
has n = 40
good 0 eig --gram g.npy --components 2 -o e.h5 --json
has command = eig
good 0 gen regression --n 20 --seed 1 --out-dir made --json
field file >/dev/null || fail "gen: $(head -c 300 out)"

# A failure leaves nothing on standard output.
bad "nowhere.csv" score --truth nowhere.csv --pred p.csv --loss mse --json
wrong "both want standard output" predict m.h5 --x x.csv -o - --json
finish

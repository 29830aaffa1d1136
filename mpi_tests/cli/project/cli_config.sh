#!/usr/bin/env bash
# --config: options from YAML and TOML, the command line first; wrong entries name file and line.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

normal 30 3 1 >x.csv
normal 30 1 2 >y.csv
cat >run.yaml <<'EOF'
# a fit
command: fit krr
x: x.csv
y: "y.csv"
kx: rbf(sigma=1)
gamma: 1e-3
center: true
primal: no
EOF
cat >run.toml <<'EOF'
# a fit
command = "fit krr"
x = "x.csv"
y = 'y.csv'
kx = "rbf(\u0073igma=1)"  # an escape
gamma = 1_000e-6
center = true
primal = false
EOF
printf '{"x": "x.csv", "y": "y.csv", "kx": "rbf(sigma=1)", "gamma": 1e-3, "center": true, "primal": "no"}' >run.json
for ranks in 0 3; do
    good $ranks fit krr --x x.csv --y y.csv --kx 'rbf(sigma=1)' --gamma 1e-3 --center --primal no -o m.h5
    good 0 predict m.h5 --x x.csv -o p$ranks.csv
done
formats="toml"
"$DKMAP" fit krr --config run.yaml -o q.h5 2>&1 | grep -q 'without libyaml' || formats="toml yaml json"
for format in $formats; do
    for ranks in 0 3; do
        good "$ranks" fit krr --config "run.$format" -o m2.h5
        good 0 predict m2.h5 --x x.csv -o p2.csv
        cmp -s "p$ranks.csv" p2.csv || fail "options of run.$format on $ranks ranks"
    done
    good 0 fit krr --config "run.$format" --gamma 10 -o m3.h5
    [ "$(value gamma)" = 10 ] || fail "the command line goes first: $(value gamma)"
done

# Lists: of options that may repeat, and of those that try several values.
cat >cv.toml <<'EOF'
x = "x.csv"
y = "y.csv"
kx = "rbf(sigma=$s)"
try = ["s=1,2", ]
gamma = [
    0.1,  # one
    1,
]
folds = 3
EOF
good 3 cv krr --config cv.toml
[ "$(grep -c 'gamma=' out)" -ge 4 ] || fail "four settings are tried: $(cat out)"

# complains TEXT FORMAT LINES: a file that is refused, with its name and line.
complains() {
    printf '%b' "$3" >"bad.$2"
    on "${ranks:-0}" fit krr --config "bad.$2" --x x.csv --y y.csv -o made.h5
    expect 2 "bad.$2: $3"
    says err "$1" "bad.$2"
    [ "$(grep -c '^dkmap: ' err)" = 1 ] || fail "bad.$2: $3: $(cat err)"
    [ ! -e made.h5 ] || fail "bad.$2: $3: a model all the same"
}
unset ranks
complains "bad.toml:2: unknown option 'gama': did you mean 'gamma'?" toml 'kx = "linear"\ngama = 1\n'
ranks=3 complains "bad.toml:1: unknown option 'frobnicate'; see" toml 'frobnicate = 1\n'
complains "bad.toml:1: gamma expects a number, not 'much'" toml 'gamma = "much"\n'
complains "bad.toml:1: 'much' is no value: text goes in quotes" toml 'gamma = much\n'
complains "bad.toml:2: there are no tables" toml '\n[fit]\n'
complains "bad.toml:2: kx is given twice" toml 'kx = "linear"\nkx = "linear"\n'
complains "bad.toml:1: kx takes one value" toml 'kx = ["linear", "cosine"]\n'
complains "bad.toml:1: center is true or false" toml 'center = "maybe"\n'
complains "bad.toml:1: these are options of 'cv krr'" toml 'command = "cv krr"\n'
complains "bad.toml:1: a string has no \" at its end" toml 'kx = "linear\n'
complains "bad.toml:3: a list has no ]" toml 'gamma = [1,\n2,\n'
complains "bad.toml:1: --config goes on the command line" toml 'config = "more.toml"\n'
if [ "$formats" != toml ]; then
    complains "bad.yaml:2: unknown option 'gama': did you mean 'gamma'?" yaml 'kx: linear\ngama: 1\n'
    complains "bad.yaml:1: the value of 'kx' is one text" yaml 'kx: {name: linear}\n'
    complains "bad.yaml:2: 'gamma' has no value" yaml 'kx: linear\ngamma:\n'
    complains "bad.yaml:2: not YAML" yaml 'kx: "linear\n'
    complains "bad.yaml:1: write lines of" yaml '- kx\n'
    complains "bad.yaml:2: a second document" yaml 'kx: linear\n---\nkx: linear\n'
fi
complains "bad.ini: a file of options is YAML or TOML" ini 'kx = linear\n'
echo 'x = "x.csv"' >half.toml
wrong "fit krr needs --y FILE" fit krr --config half.toml -o made/m.h5
bad "nowhere.yaml: No such file" fit krr --config nowhere.yaml -o made/m.h5
finish

#!/usr/bin/env bash
# Manual pages, Markdown and completion made from the tables of options; second and former names of
# options.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# Every command and method has a manual page and a section in Markdown.
"$DKMAP" help --names >names || fail "help --names"
[ "$(grep -c '^fit ' names)" -ge 7 ] || fail "methods of fit: $(cat names)"
"$DKMAP" help --markdown >all.md || fail "help --markdown"
while read -r -a words; do
    "$DKMAP" help --man "${words[@]}" >page || fail "help --man ${words[*]}"
    grep -q '^\.TH "DKMAP-' page || fail "no title: dkmap help --man ${words[*]}"
    grep -q '^\.SH EXAMPLE' page || fail "no example: dkmap help --man ${words[*]}"
    grep -q "^##* dkmap ${words[*]}\$" all.md || fail "not in the Markdown: ${words[*]}"
done <names
"$DKMAP" help --man | grep -q '^\.B fit$' || fail "the page of dkmap lists no fit"
"$DKMAP" help --man fit krr >page
grep -q 'Second names: \\-\\-ridge, \\-\\-alpha' page || fail "no second names: $(cat page)"
grep -q 'penalty' page && fail "a former name is documented"
# Every option of the help is in the page and in the completion.
"$DKMAP" help --completion bash >dkmap.bash || fail "help --completion bash"
"$DKMAP" help fit kde | sed -n 's/^  \(-., \)\{0,1\}--\([a-zA-Z-]*\).*/\2/p' >options
[ "$(wc -l <options)" -gt 20 ] || fail "options of fit kde: $(cat options)"
"$DKMAP" help --man fit kde | sed 's/\\-/-/g' >page
complete_words() { # WORDS...: what bash would offer for the last of them
    bash -c '. ./dkmap.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dkmap; echo "${COMPREPLY[@]}"' bash "$@"
}
offered=$(complete_words dkmap fit kde --)
while read -r option; do
    grep -q -- "--$option" page || fail "--$option is not in the manual page"
    [[ " $offered " == *" --$option "* ]] || fail "--$option is not offered: $offered"
done <options
[ "$(complete_words dkmap fit kd)" = kde ] || fail "kd: $(complete_words dkmap fit kd)"
[ "$(complete_words dkmap pre)" = predict ] || fail "pre: $(complete_words dkmap pre)"
[ "$(complete_words dkmap fit krr --criterion g)" = gcv ] || fail "choices of --criterion"
"$DKMAP" help --completion tcsh >out 2>err
status=$?
expect 2 "completion for another shell"

# Names that mean the same.
normal 30 2 1 >x.csv
awk -F, '{ print $1 * $2 }' x.csv >y.csv
same() { # NAME, OPTIONS and --, OPTIONS: both give the same predictions
    local name=$1 first=()
    shift
    while [ "$1" != -- ]; do
        first+=("$1")
        shift
    done
    shift
    good 0 fit "$name" --x x.csv --y y.csv --kx 'rbf(sigma=1)' "${first[@]}" -o a.h5
    good 0 predict a.h5 --x x.csv -o a.csv
    good 0 fit "$name" --x x.csv --y y.csv --kx 'rbf(sigma=1)' "$@" -o b.h5
    good 0 predict b.h5 --x x.csv -o b.csv
    cmp -s a.csv b.csv || fail "not the same: ${first[*]} and $*"
}
same krr --gamma 0.1 --penalty coefficients -- --ridge 0.1 --regularizer l2-coef
same krr --gamma 0.1,1 --select gcv --reduce 9 -- --alpha 0.1,1 --criterion gcv --nystroem 9
same krr --gamma 0.1 --solver pcg --centers all --steps 3 --keep nothing -- \
    --gamma 0.1 --solver pcg --basis all --max-iter 3 --cache nothing
same kde --ky linear --components 1 --learner svr --C 1 --tube 0.2 -- \
    --ky linear --components 1 --regressor svr --C 1 --svr-epsilon 0.2
same kde --ky linear --components 1 --gamma 1 --extra-y y.csv -- \
    --ky linear --components 1 --ridge 1 --unpaired-y y.csv
same jkm --C 1 --slacks each --rounds 5 --outputs free --spread 9 --epsilon 0.1 --anneal 0.5 -- \
    --C 1 --formulation n-slack --max-iter 5 --output-domain free --qp-distribute-above 9 --epsilon 0.1 \
    --epsilon-start 0.5
finish

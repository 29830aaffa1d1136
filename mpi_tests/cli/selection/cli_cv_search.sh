#!/usr/bin/env bash
# Searches of cross-validation: ranges, random trials, successive halving, several losses, folds and groups of
# the user's, and what is recorded of them.
# shellcheck disable=SC2016
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

normal 160 2 1 >x.csv
awk -F, '{ print $1 * $2 + 0.1 * $1 }' x.csv >y.csv
awk -F, '{ print ($1 > 0) + 2 * ($2 > 0.3) }' x.csv >labels.csv
awk '{ print "site" int((NR - 1) / 7) }' x.csv >sites.txt
awk '{ print int((NR - 1) / 7) }' x.csv >sites.csv
data="--x x.csv --y y.csv"

# table: the settings of the last run and their losses.
table() {
    sed -n '/^setting /,/^best /p' out | sed '1d;$d'
}

# both ARGUMENTS...: one table on 1 and on 3 ranks.
both() {
    good 0 cv "$@"
    table >alone
    good 3 cv "$@"
    table | cmp -s - alone || fail "cv $*: 3 ranks differ: $(table | diff - alone | head -4)"
}

# A range is the list that it stands for.
# shellcheck disable=SC2086
{
    both krr $data --kx 'rbf(sigma=$s)' --try s=0.5,1,2 --gamma 0.001,0.1,10
    mv alone listed
    both krr $data --kx 'rbf(sigma=$s)' --try s=0.5:2:3 --gamma 1e-3:1e1:3
    cmp -s alone listed || fail "ranges: $(diff alone listed)"
    good 0 cv knn $data --kx linear --k 1:9:3
    [ "$(table | awk '{ print $1 }' | tr '\n' ' ')" = "k=1 k=3 k=9 " ] || fail "a range of whole numbers: $(table)"
    good 0 align --x x.csv --kx 'rbf(sigma=$s)' --try s=1:100:3 --clusters 3
    says out "s=10 " "a range of align"

    # Random trials are points of the ranges, and lose what a grid of their values loses.
    both krr $data --kx 'rbf(sigma=$s)' --try s=0.5:4:4 --gamma 1e-4:1e1:6 --search random --trials 5 --seed 3
    [ "$(wc -l <alone)" = 5 ] || fail "five trials: $(cat alone)"
    while IFS=', ' read -r width gamma loss rest; do
        good 0 cv krr $data --kx 'rbf(sigma=$s)' --try "$width" --gamma "${gamma#gamma=}" --seed 3
        [ "$(value mse)" = "$loss" ] || fail "trial $width $gamma: $loss ($rest) and by itself $(value mse)"
        awk -v s="${width#s=}" -v g="${gamma#gamma=}" 'BEGIN { exit !(s >= 0.5 && s <= 4 && g >= 1e-4 && g <= 10) }' ||
            fail "trial $width $gamma is beyond its range"
    done <alone
    good 0 cv krr $data --kx 'rbf(sigma=$s)' --try s=0.5:4:4 --gamma 1e-4:1e1:6 --search random --trials 5 --seed 4
    table | cmp -s - alone && fail "another seed draws the same"
    good 0 cv krr $data --kx 'rbf(sigma=$s)' --try s=1,2 --gamma 1,2 --search random --trials 9
    [ "$(table | wc -l)" = 4 ] || fail "a grid with fewer points than trials: $(table)"

    # Methods that are refitted, nested folds, and all components of a point drawn together.
    both kde $data --kx 'rbf(sigma=$s)' --try s=0.5:4:4 --ky linear --components 1,all --gamma 1e-3:1:3 \
        --search random --trials 4 --folds 3 --inner-folds 2
    both svm --x x.csv --y labels.csv --y-type labels --kx 'rbf(sigma=1)' --C 0.1:100:4 --search random --trials 3

    # Halving: those that stay to the end lose what they lose in a plain run; the others fewer examples.
    both krr $data --kx 'rbf(sigma=$s)' --try s=0.5:2:3 --gamma 1e-3:1e2:6 --search halving --folds 3
    [ "$(awk '{ print $4 }' alone | sort -n | uniq -c | tr -s ' \n' ' ')" = " 9 40 4 80 5 160 " ] ||
        fail "rounds of 18, 9 and 5 settings: $(cat alone)"
    cp alone halved
    good 0 cv krr $data --kx 'rbf(sigma=$s)' --try s=0.5:2:3 --gamma 1e-3:1e2:6 --folds 3
    table >whole
    awk 'NR == FNR { loss[$1] = $2; next } $4 == 160 && loss[$1] != $2 { exit 1 }' whole halved ||
        fail "the last round of halving: $(cat halved)"
    both krr --x x.csv --y labels.csv --y-type labels --kx 'rbf(sigma=$s)' --try s=0.1:10:9 --gamma 0.1 \
        --search halving --trials 8 --folds 2 --groups sites.txt

    # Several losses at once are those of runs with one each; the first chooses.
    echo "somebody's" >losses.csv.part # of no concern to the table beside it
    both krr $data --kx 'rbf(sigma=1)' --gamma 0.01,1 --loss mae,mse,r2 --table losses.csv --record runs.jsonl
    says losses.csv.part "somebody's" "a file beside a table"
    for loss in mae mse r2; do
        eval "all_$loss=$(value $loss)"
    done
    for loss in mae mse r2; do
        good 0 cv krr $data --kx 'rbf(sigma=1)' --gamma 0.01,1 --loss $loss
        together=all_$loss
        [ "$(value $loss)" = "${!together}" ] || fail "$loss: $(value $loss) and beside others ${!together}"
    done
    says losses.csv "setting,mae,stderr,mse,mse_stderr,r2,r2_stderr" "a table of several losses"
    says runs.jsonl '"trials":[{"setting":"gamma=0.01","values":{"gamma":"0.01"},"mean":' "trials in the record"
    says runs.jsonl '"losses":{"mse":{"mean":' "losses of a trial in the record"
    both knn --x x.csv --y labels.csv --y-type labels --kx linear --k 1,5 --loss accuracy,f1-macro --folds 3

    # Folds are read back as they were written, and groups stay whole.
    good 0 cv krr $data --kx 'rbf(sigma=1)' --gamma 0.01,1 --folds 4 --folds-out folds.csv --seed 5
    table >written
    good 3 cv krr $data --kx 'rbf(sigma=1)' --gamma 0.01,1 --folds-in folds.csv
    [ "$(value folds)" = 4 ] || fail "four folds in a file: $(value folds)"
    table | cmp -s - written || fail "folds read back: $(table | diff - written)"
    good 0 cv krr $data --kx 'rbf(sigma=1)' --gamma 0.01,1 --groups sites.csv --folds-out by_number.csv
    good 3 cv krr $data --kx 'rbf(sigma=1)' --gamma 0.01,1 --groups sites.txt --folds-out by_name.csv --inner-folds 2
    paste sites.txt by_name.csv | sort -u | awk '{ n[$1]++; size[$2]++ } END { for (s in n) if (n[s] != 1) exit 1
        for (f in size) if (size[f] < 4 || size[f] > 5) exit 1 }' || fail "23 groups in 5 folds: $(paste sites.txt by_name.csv)"
    paste sites.csv by_number.csv | sort -u | awk '{ n[$1]++ } END { for (s in n) if (n[s] != 1) exit 1 }' ||
        fail "groups by numbers"
    awk 'NR % 9 == 0 { print "," $1; next } { print $1 }' FS=, x.csv | awk -F, 'NF == 1 { print $1 ",1"; next } { print }' >holes.csv
    good 3 cv krr --x holes.csv --y y.csv --kx 'rbf(sigma=1)' --gamma 1 --missing drop --groups sites.txt --folds-in folds.csv --inner-folds 2
    [ "$(value dropped)" = 17 ] || fail "rows are dropped with their folds and groups: $(cat out err)"

    # What cannot be is said in one line, and nothing is computed.
    wrong() {
        local text=$1
        shift
        on 0 cv "$@"
        [ "$status" != 0 ] || fail "dkmap cv $*: must fail"
        says err "$text" "dkmap cv $*"
        [ -s out ] && fail "dkmap cv $*: results on stdout"
    }
    wrong "a range is FIRST:LAST:COUNT" krr $data --kx linear --gamma 1:2
    wrong "a range is FIRST:LAST:COUNT" krr $data --kx linear --gamma -1:2:3
    wrong "--search random needs --trials" krr $data --kx linear --gamma 1,2 --search random
    wrong "--trials goes with --search random" krr $data --kx linear --gamma 1,2 --trials 3
    wrong "--search halving is not nested" krr $data --kx linear --gamma 1,2 --search halving --inner-folds 3
    wrong "--loss auc is for scores" krr $data --kx linear --gamma 1 --loss mse,auc
    wrong "the loss edit is not one for dense" krr $data --kx linear --gamma 1 --loss mse,edit
    sed 's/^4$/7/' folds.csv >gap.csv
    wrong "gap.csv: no row has fold 4" krr $data --kx linear --gamma 1 --folds-in gap.csv
    sed '3s/.*/0/' folds.csv >zero.csv
    wrong "zero.csv: row 3 has fold 0" krr $data --kx linear --gamma 1 --folds-in zero.csv
    wrong "folds.csv has 4: leave --folds out" krr $data --kx linear --gamma 1 --folds-in folds.csv --folds 3
    head -9 folds.csv >short.csv
    wrong "short.csv has 9 rows but x.csv has 160" krr $data --kx linear --gamma 1 --groups short.csv
    wrong "4 groups cannot fill 5 folds" krr $data --kx linear --gamma 1 --groups folds.csv
    wrong "--groups 2 is --rank-groups 2, which is given already" krr $data --kx linear --gamma 1 --groups 2 --rank-groups 3

    # A bare number is what --rank-groups was called once.
    good 3 cv krr $data --kx linear --gamma 1,2 --rank-groups 3 --record by_name.jsonl
    good 3 cv krr $data --kx linear --gamma 1,2 --groups 3 --record by_number.jsonl
    for record in by_name by_number; do
        grep -o '"groups": *[0-9]*' $record.jsonl >$record
        says $record 3 "groups of ranks"
    done
}
finish

#!/usr/bin/env bash
# Help, version, and every way of typing a command line wrong.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# wrong TEXT ARGUMENTS...: exit 2 with one line on stderr that holds the text, nothing on stdout.
wrong() {
    local text=$1
    shift
    on 0 "$@"
    expect 2 "dkmap $*"
    says err "$text" "dkmap $*"
    [ "$(wc -l <err)" = 1 ] || fail "dkmap $*: more than one line on stderr"
    [ -s out ] && fail "dkmap $*: something on stdout"
}

helps() { # TEXT ARGUMENTS...
    local text=$1
    shift
    good 0 "$@"
    says out "$text" "dkmap $*"
    [ -s err ] && fail "dkmap $*: something on stderr"
    awk 'length > 100 { exit 1 }' out || fail "dkmap $*: a line is too long"
}

commands="predict encode score gram eig bench info"

helps "Commands:" help
helps "Commands:" --help
helps "Commands:" -h
helps "dkmap help COMMAND" help
helps "krr" help fit
helps "krr" fit --help
helps "--gamma G" help fit krr
helps "--gamma G" fit krr --help
helps "--gamma G" fit krr --x somewhere -h
for command in $commands; do
    helps "Example:" help "$command"
    helps "Example:" "$command" --help
    on 0 help
    says out "$command" "help names $command"
done
helps "dkmap " --version
grep -qE '^dkmap [0-9]+\.[0-9]+\.[0-9]+$' out || fail "--version: $(cat out)"

on 0
expect 2 "no arguments"
says err "Usage: dkmap COMMAND" "no arguments"

wrong "did you mean 'predict'" perdict
wrong "did you mean 'krr'" fit kr
wrong "fit needs a method: krr" fit
wrong "did you mean 'info'" help inof
wrong "a command comes first" --x a
wrong "unknown option --gama: did you mean --gamma?" fit krr --x a --gama 1
wrong "unknown option --gama: did you mean --gamma?" fit krr --x a --gama=1
wrong "unknown option -gamma: did you mean --gamma?" fit krr -gamma 1
wrong "unknown option --out: did you mean --output?" fit krr --out m.h5
wrong "did you mean --truth" score --turth a
wrong "unknown option --n_components: did you mean --components" fit kpca --n_components 3
wrong "unknown option --sample-weight; see" fit krr --sample-weight 3
wrong "unknown command 'nothing'; see" nothing
wrong "unknown method 'forest'; see" fit forest
wrong "fit krr needs --y FILE" fit krr --x a --kx linear --gamma 1 -o m.h5
wrong "fit krr needs -o FILE" fit krr --x a --y b --kx linear --gamma 1
wrong "predict needs MODEL" predict --x a -o b
wrong "'m2.h5' is one argument too many" predict m.h5 m2.h5 --x a -o b
wrong "--gamma expects a number, not 'much'" fit krr --gamma much
wrong "--gamma expects a number, not '1e'" fit krr --gamma 1e
wrong "--gamma expects a number, not 'nan'" fit krr --gamma nan
wrong "--gamma expects a number, not ''" fit krr --gamma=
wrong "--gamma must be > 0, not 0" fit krr --gamma 0
wrong "--gamma must be > 0, not -1" fit krr --gamma 1,-1
wrong "--tolerance must be above 0 and below 1, not 1" fit krr --tolerance 1
wrong "--ridge is another name of --gamma, and one is given already" fit krr --gamma 1 --ridge 2
wrong "--gamma is given twice" fit krr --alpha 1 --gamma 2
wrong "--gamma needs a value" fit krr --gamma
wrong "--gamma needs a value" fit krr --gamma --center
wrong "--x is given twice" fit krr --x a --x b
wrong "--center takes no value" fit krr --center=yes
wrong "--grid expects" fit krr --grid 2x
wrong "--grid expects" fit krr --grid 0x2
wrong "--grid expects" fit krr --grid 2x2x2
wrong "--block expects an integer" fit krr --block 1.5
wrong "--block expects an integer" fit krr --block -1
wrong "--seed expects an integer" fit krr --seed 99999999999999999999
wrong "--x-type expects one of dense" fit krr --x-type potatoes
wrong "--loss expects one of mse" score --loss mse,mes
wrong "-o needs a value" predict m.h5 -o

# An option that takes a value has a word for it.
for command in "fit krr" "fit kpca" "fit kde" $commands; do
    # shellcheck disable=SC2086
    on 0 help $command
    grep -oE -- '--[a-z-]+' out | sort -u >names
    while read -r name <&3; do
        # shellcheck disable=SC2086
        on 0 $command "$name"
        grep -q null out err && fail "dkmap $command $name: $(cat err)"
    done 3<names
done

# On several ranks the complaint is heard once and all of them fail.
on 3 fit krr --gama 1
expect 2 "wrong usage on 3 ranks"
[ "$(grep -c 'did you mean --gamma' err)" = 1 ] || fail "wrong usage is told $(grep -c mean err) times"
good 3 help
[ "$(grep -c 'Commands:' out)" = 1 ] || fail "help on 3 ranks is printed more than once"
finish

#!/usr/bin/env bash
# The user guide names every command, method, kernel, loss and type of object there is, and the
# README every command; files they point to exist.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/common.sh"
guide=$DKMAP_SOURCE/docs/guide.md
readme=$DKMAP_SOURCE/README.md

# named FILE PATTERN WHAT: the file has the pattern.
named() {
    grep -qE -- "$2" "$1" || fail "${1##*/} does not name $3"
}

# words COMMAND...: the commands or methods that a help page lists.
words() {
    on 0 help "$@"
    sed -n '/^\(Commands\|Methods\):/,/^$/s/^  \([a-z]*\) .*/\1/p' out
}

# listed SOURCE PATTERN: the names in a list of the source.
listed() {
    sed -nE "s/^ +$2.*/\1/p" "$DKMAP_SOURCE/$1"
}

[ "$(words | wc -l)" -gt 4 ] || fail "help lists no commands: $(cat out)"
for command in $(words); do
    named "$guide" "\b$command\b" "the command $command"
    named "$readme" "dkmap $command|\`$command\`" "the command $command"
done
for method in $(words fit); do
    named "$guide" "^### $method:" "the method $method in a heading"
done
for kernel in $(listed src/kernels/expression/kernel_registry.c 'X\(([a-z]+)\)'); do
    named "$guide" "^\|.*\`${kernel}[\`(]" "the kernel $kernel in a table"
done
for loss in $(listed include/dkmap/score.h 'X\(DKM_LOSS_[A-Z_]+, "([a-z-]+)"\)'); do
    named "$guide" "^\| \`$loss\`" "the loss $loss in a table"
done
for type in $(listed include/dkmap/data.h 'X\(DKM_[A-Z_]+, "([a-z-]+)"\)'); do
    named "$guide" "\`$type\`" "the type $type"
done
for method in $(listed include/dkmap/preimage.h 'X\(DKM_PREIMAGE_[A-Z_]+, "([a-z-]+)"\)'); do
    named "$guide" "\`$method\`" "the pre-image method $method"
done
for page in "$readme" "$DKMAP_SOURCE"/docs/*.md; do
    for target in $(grep -oE '\]\([^)#:]+\)' "$page" | tr -d '])('); do
        [ -e "${page%/*}/$target" ] || fail "${page##*/} points to $target, which is not there"
    done
done
finish

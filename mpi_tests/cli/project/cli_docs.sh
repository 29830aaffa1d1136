#!/usr/bin/env bash
# The reference pages name every command, method, kernel, loss, type of object and pre-image method
# there is, and the README every command; the functions and files of the walks through the code exist;
# files that pages point to exist.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"
docs=$DKMAP_SOURCE/docs
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
    named "$docs/reference/commands.md" "dkmap $command|\`$command\`" "the command $command"
    named "$readme" "dkmap $command|\`$command\`" "the command $command"
done
for method in $(words fit); do
    named "$docs/reference/commands.md" "^\| \`dkmap fit $method\`" "the method $method"
    grep -qE "\b$method\b" "$docs"/theory/*.md || fail "no page of docs/theory is about $method"
done
kernels=$(listed src/kernels/expression/kernel_registry.c 'X\(([a-z_]+)\)')
[ -n "$kernels" ] || fail "no kernels in the registry"
for kernel in $kernels; do
    [ "$kernel" = rbf_of ] || # rbf(A, sigma=1)
        named "$docs/reference/kernels.md" "^\|.*\`(${kernel}|${kernel//_/-})[\`(]" "the kernel $kernel in a table"
done
for loss in $(listed include/dkmap/score.h 'X\(DKM_LOSS_[A-Z_]+, "([a-z-]+)"\)'); do
    named "$docs/reference/losses.md" "^\\|.*\`$loss\`" "the loss $loss in a table"
done
for type in $(listed include/dkmap/data.h 'X\(DKM_[A-Z_]+, "([a-z-]+)"\)'); do
    named "$docs/reference/formats.md" "\`$type\`" "the type $type"
done
for method in $(listed include/dkmap/preimage.h 'X\(DKM_PREIMAGE_[A-Z_]+, "([a-z-]+)"\)'); do
    named "$docs/reference/preimages.md" "\`$method\`" "the pre-image method $method"
done

# Rows `| N | `function` | `file` | ...` of the walks: the file defines the function.
walk=$docs/theory/architecture.md
# shellcheck disable=SC2016
rows=$(sed -nE 's/^\| [0-9]+ \| `([a-z_0-9]+)` \| `([a-z_0-9/.]+)` .*/\1 \2/p' "$walk")
[ "$(wc -l <<<"$rows")" -ge 40 ] || fail "the walks have less than ten functions each"
while read -r function file; do
    grep -qE "^[a-z].*\b$function\(" "$DKMAP_SOURCE/src/$file" ||
        fail "${walk##*/}: $file does not define $function"
done <<<"$rows"

# Functions that pages of theory name: the library defines them.
# shellcheck disable=SC2016
for function in $(grep -ohE '`dkm_[a-z_0-9]+(\(\))?`' "$docs"/theory/*.md | tr -d '\140()' | sort -u); do
    grep -rqE "\b$function\b" "$DKMAP_SOURCE/src" "$DKMAP_SOURCE/include" --include='*.[ch]' ||
        fail "docs/theory names $function, which does not exist"
done

# Paths of files in the text of pages, such as `linalg/factor/potrf.c` or `jobs/docs.sh`.
for page in "$readme" "$docs"/*.md "$docs"/*/*.md; do
    # shellcheck disable=SC2013,SC2016
    for path in $(grep -oE '`(src/)?[a-z_0-9]+(/[a-z_0-9]+)+\.(c|h|sh|sbatch|env)\b' "$page" | tr -d '\140'); do
        [ -e "$DKMAP_SOURCE/$path" ] || [ -e "$DKMAP_SOURCE/src/$path" ] || [ -e "$DKMAP_SOURCE/include/$path" ] ||
            fail "${page##*/} names $path, which does not exist"
    done
    # shellcheck disable=SC2013
    for target in $(grep -oE '\]\([^)#: ]+' "$page" | cut -c 3-); do
        [ -e "${page%/*}/$target" ] || fail "${page##*/} points to $target, which does not exist"
    done
done
finish

#!/usr/bin/env bash
# Checks the sources without running them: layout by clang-format, common mistakes by clang-tidy, and
# shell scripts by shellcheck. What is not installed is left out, and said.
#
# usage: jobs/lint.sh [format] [shell] [tidy]     all three where none is named
# Heeds: DKMAP_BUILD (a configured build, whose compile commands clang-tidy takes).
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
status=0

# have PROGRAM: it is there, or the check is left out
have() {
    command -v "$1" >/dev/null || { echo "left out: no $1" && false; }
}

lint_format() {
    have clang-format || return 0
    find include src mpi_tests docs -name '*.[ch]' -not -path '*/corpus/*' -print0 |
        xargs -0 clang-format --dry-run --Werror
}

lint_shell() {
    have shellcheck || return 0
    find jobs mpi_tests .ci -name '*.sh' -print0 -o -name '*.sbatch' -print0 -o -name run -print0 |
        xargs -0 shellcheck -x
}

lint_tidy() {
    have clang-tidy || return 0
    cmake -S . -B "$build" -DDKMAP_TESTS=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
    find src mpi_tests -name '*.c' -not -path '*/corpus/*' -not -path '*/extensions/*' -print0 |
        xargs -0 -n 8 -P "$(cores)" clang-tidy -p "$build" --quiet --warnings-as-errors='*' 2>/dev/null
}

cd "$root"
case ${1:-} in -h | --help) explain && exit ;; esac
[ $# -gt 0 ] || set -- format shell tidy
for check in "$@"; do
    case $check in
    format) lint_format ;;
    shell) lint_shell ;;
    tidy) lint_tidy ;;
    *) fail "unknown check '$check'; see --help" ;;
    esac || { echo "$check: failed" && status=1; }
done
exit "$status"

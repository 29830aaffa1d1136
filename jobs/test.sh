#!/usr/bin/env bash
# Installs what is missing (Debian), builds dkmap and runs every test.
#
# usage: jobs/test.sh [options of ctest, such as -R krr]
# DKMAP_WERROR=ON makes warnings of the compiler errors.
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
case ${1:-} in -h | --help)
    explain
    exit
    ;;
esac

# Tests hold machines against LIBLINEAR's; dkmap itself does without it.
# shellcheck disable=SC2086
install_packages $packages liblinear-dev
build_dkmap all -DDKMAP_WERROR="${DKMAP_WERROR:-OFF}" -DDKMAP_TESTS=ON
cd "$build"
ctest --output-on-failure "$@"

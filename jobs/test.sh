#!/usr/bin/env bash
# Installs what is missing (Debian), builds, and runs every test.   usage: jobs/test.sh [ctest options]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# shellcheck disable=SC2086
install_packages $packages
build_dkmap -DDKMAP_WERROR=ON -DDKMAP_TESTS=ON
cd "$build"
ctest --output-on-failure "$@"

#!/usr/bin/env bash
# Builds Debian packages for Open MPI: the library, its headers, the command and the Python package.
# Installs what is missing (Debian), copies the sources into a folder of their own, with docs/packaging/debian
# as their debian/, and runs dpkg-buildpackage there.
#
# usage: jobs/package.sh
# The packages are in build/debian. Heeds: DKMAP_BUILD (another folder than build), DEB_BUILD_OPTIONS (nocheck
# leaves out the tests, parallel=N compiles N files at once; as many as there are cores).
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
case ${1:-} in
'') ;;
-h | --help)
    explain
    exit
    ;;
*) fail "unknown argument '$1'; see --help" ;;
esac

# sources: the files of the project, by their paths from its folder, each ended by a zero byte
sources() {
    if git -C "$root" rev-parse --git-dir >/dev/null 2>&1; then
        git -C "$root" ls-files -z --cached --others --exclude-standard
    else # a release that was unpacked
        (cd "$root" && find . -path './build*' -prune -o -type f -print0)
    fi
}

# number WHICH: a part of the version, from the header that has it
number() {
    sed -n "s/^#define DKM_VERSION_$1 //p" "$root/include/dkmap/version.h"
}

recipe=$root/docs/packaging/debian
version=$(number MAJOR).$(number MINOR).$(number PATCH)
head -n 1 "$recipe/changelog" | grep -qF "dkmap ($version)" ||
    fail "the first entry of $(short "$recipe")/changelog is not for version $version"
# shellcheck disable=SC2086
install_packages $packages build-essential dpkg-dev debhelper dh-python fakeroot python3

out=$build/debian
tree=$out/dkmap-$version
rm -rf "$tree"
mkdir -p "$tree"
(cd "$root" && sources | tar -c --null --files-from=- --ignore-failed-read) | tar -x -C "$tree"
cp -R "$recipe" "$tree/debian"

log=$out/build.log
echo "Building packages in $(short "$out")"
cd "$tree"
DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS:-parallel=$(cores)} dpkg-buildpackage -us -uc -b >"$log" 2>&1 ||
    { grep -E -A 3 'CMake Error|error:|tests failed' "$log" >&2 || tail -n 20 "$log" >&2
        fail "the build failed: the whole log is $log"; }
cd ..
ls ./*_"$version"_*.deb

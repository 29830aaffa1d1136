#!/usr/bin/env bash
# The recipes of docs/packaging: they are for the version of the library, can be parsed, and Debian's names what
# the job scripts install to build. A module gives its user the command and the libraries of a prefix.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"
recipes=$DKMAP_SOURCE/docs/packaging
python=/usr/bin/python3

on 0 --version
version=$(awk '{ print $2; exit }' out)
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "no version: $(cat out)"

# has FILE TEXT: the file of a recipe is there and has the text.
has() {
    grep -qF -- "$2" "$recipes/$1" || fail "$1 does not have: $2"
}
has debian/changelog "dkmap ($version)"
has debian/control "Package: libdkmap${version%.*}"
has spack/packages/dkmap/package.py "version(\"$version\")"
has "easybuild/dkmap-$version-foss-2023b.eb" "version = '$version'"
has conda/meta.yaml "version: \"$version\""
has "modules/dkmap/$version" "/dkmap/$version"
has "modules/dkmap/$version.lua" "/dkmap/$version"
[ -e "$recipes/debian/libdkmap${version%.*}.install" ] || fail "libdkmap${version%.*} has no list of files"

# What a build needs is written once more in Debian's control file.
needed=$(bash -c '. "$1"; echo $packages' - "$DKMAP_SOURCE/jobs/common.sh")
[ "$(wc -w <<<"$needed")" -gt 10 ] || fail "common.sh names no packages"
for package in $needed; do
    case $package in gcc | make | gnuplot-nox) continue ;; esac # in build-essential; only looked for when it draws
    sed -n '/^Build-Depends/,/^$/p' "$recipes/debian/control" | grep -qE "[ ]$package(,|\$| )" ||
        fail "debian/control does not need $package, which jobs/common.sh installs"
done

# Every recipe settles what a build would otherwise look for on the machine: an optional library is among what the
# recipe needs, or switched off. Options that a recipe sets are there.
options=$(grep -ohE '^(option|set)\(DKMAP_[A-Z_]+ |DKMAP_PYTHON' "$DKMAP_SOURCE"/CMakeLists.txt "$DKMAP_SOURCE"/cmake/*.cmake |
    grep -oE 'DKMAP_[A-Z_]+' | sort -u)
for recipe in debian conda spack/packages/dkmap "easybuild/dkmap-$version-foss-2023b.eb"; do
    for library in elpa parasail yaml nlopt faiss; do
        grep -rqiE "^[^#]*(DKMAP_$library\b.*(OFF|False)|[ '\"(](lib)?$library)" "$recipes/$recipe" ||
            fail "$recipe does not say whether it takes $library"
    done
    while read -r option; do
        grep -qx "$option" <<<"$options" || fail "$recipe sets $option, which CMake does not know"
    done < <(grep -rohE "(-D|define\(\"|variant\(\")DKMAP_[A-Z_]+" "$recipes/$recipe" | grep -oE 'DKMAP_[A-Z_]+')
done

for recipe in spack/packages/*/package.py easybuild/*.eb; do
    for file in "$recipes"/$recipe; do
        "$python" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$file" || fail "$file is not Python"
    done
done
bash -n "$recipes/conda/build.sh" || fail "conda/build.sh is no shell script"
if "$python" -c 'import yaml' 2>/dev/null; then
    "$python" - "$recipes/conda/meta.yaml" <<'PYTHON' || fail "conda/meta.yaml is not YAML with what conda asks for"
import re, sys, yaml
recipe = yaml.safe_load(re.sub(r"\{\{ (.*?) \}\}", "compiler", open(sys.argv[1]).read()))
assert {"package", "source", "build", "requirements", "test", "about"} <= set(recipe), recipe
assert {"build", "host", "run"} == set(recipe["requirements"]), recipe["requirements"]
print("\n".join(recipe["test"]["commands"]), file=open("conda_test.sh", "w"))
PYTHON
    mkdir -p bin && ln -sf "$DKMAP" bin/dkmap
    PATH=$PWD/bin:$PATH bash -e conda_test.sh >out 2>&1 || fail "the test of conda/meta.yaml: $(tail -n 3 out)"
fi
! command -v luac >/dev/null || luac -p "$recipes/modules/dkmap/$version.lua" || fail "the module is not Lua"

# The modules, interpreted by a few lines in place of the module tools.
mkdir -p "prefix/lib"
if command -v tclsh >/dev/null; then
    sed "s|^set prefix .*|set prefix $PWD/prefix|" "$recipes/modules/dkmap/$version" >module
    cat >tool.tcl <<'TCL'
proc module-whatis {text} {}
proc conflict {name} {}
proc setenv {name value} { puts "$name=$value" }
proc prepend-path {name value} { puts "$name=$value" }
source module
TCL
    tclsh tool.tcl >out 2>err || fail "the Tcl module: $(cat err)"
    for line in "PATH=$PWD/prefix/bin" "LD_LIBRARY_PATH=$PWD/prefix/lib" "DKMAP_ROOT=$PWD/prefix"; do
        grep -qxF "$line" out || fail "the Tcl module does not set $line: $(cat out)"
    done
    if grep -q lib64 out; then
        fail "the Tcl module names a folder that is not there: $(cat out)"
    fi
fi
finish

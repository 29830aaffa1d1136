#!/usr/bin/env bash
# Builds the documentation as a web site: installs what is missing (Debian), builds dkmap, writes the
# pages of the commands from their option tables, and runs Sphinx and Doxygen. Warnings are errors: a
# link to a page or heading that does not exist fails the build.
#
# usage: jobs/docs.sh
# The site is build/docs/html/index.html. DKMAP names a program that is built already, and DKMAP_SITE
# another folder than build/docs.
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
case ${1:-} in -h | --help)
    explain
    exit
    ;;
esac

tools="python3-sphinx python3-myst-parser furo doxygen libjs-mathjax"
if [ -n "${DKMAP:-}" ]; then
    # shellcheck disable=SC2086
    install_packages $tools
else
    # shellcheck disable=SC2086
    install_packages $packages $tools
    build_dkmap dkmap_command
    DKMAP=$build/dkmap
fi

site=${DKMAP_SITE:-$build/docs}
pages=$site/source
rm -rf "$site"
mkdir -p "$pages"
cp -R "$root/docs/." "$pages"
/usr/bin/python3 "$root/docs/site/commands.py" "$DKMAP" "$pages/reference/commands"


# the C interface
sed -e "s| include| $root/include|g" -e "s| docs/site| $root/docs/site|g" \
    -e "s|^OUTPUT_DIRECTORY = .*|OUTPUT_DIRECTORY = $site|" "$root/docs/site/Doxyfile" >"$site/Doxyfile"
doxygen "$site/Doxyfile" 2>"$site/doxygen.log" || { cat "$site/doxygen.log" >&2 && fail "doxygen failed"; }
if grep -q 'warning:\|error:' "$site/doxygen.log"; then
    cat "$site/doxygen.log" >&2
    fail "doxygen found mistakes in the comments of the headers"
fi

mkdir -p "$pages/site/extra"
cp -R "$site/api" "$pages/site/extra/api"
version=$("$DKMAP" --version | awk '{ print $2; exit }')
DKMAP_VERSION=$version PYTHONDONTWRITEBYTECODE=1 \
    /usr/bin/python3 -m sphinx -q -W --keep-going -n -c "$pages/site" -b html "$pages" "$site/html"
# formulas: only what TeX input and SVG output need
mathjax=$site/html/_static/mathjax
mkdir -p "$mathjax/config" "$mathjax/jax"
cp -L /usr/share/javascript/mathjax/MathJax.js "$mathjax"
cp -RL /usr/share/javascript/mathjax/extensions "$mathjax"
cp -L /usr/share/javascript/mathjax/config/TeX-AMS_SVG.js "$mathjax/config"
mkdir "$mathjax/jax/output"
cp -RL /usr/share/javascript/mathjax/jax/{element,input} "$mathjax/jax"
cp -RL /usr/share/javascript/mathjax/jax/output/SVG "$mathjax/jax/output"
echo "$(short "$site")/html/index.html"

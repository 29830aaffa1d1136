#!/usr/bin/env bash
# The documentation builds as a site without warnings, and a link to a heading that does not exist
# fails it. Skipped where Sphinx, its theme or Doxygen are not installed.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"
python=/usr/bin/python3
if ! "$python" -c 'import sphinx, myst_parser, furo' 2>/dev/null || ! command -v doxygen >/dev/null ||
    [ ! -d /usr/share/javascript/mathjax ]; then
    echo "skipped: no Sphinx with myst-parser and furo, no Doxygen, or no MathJax"
    exit 77
fi

# build SOURCE: the site of a source tree
build() {
    DKMAP=$DKMAP DKMAP_SITE=$PWD/site timeout 250 bash "$1/jobs/docs.sh" >log 2>&1
}

build "$DKMAP_SOURCE" || fail "the site does not build: $(tail -n 5 log)"
for page in index.html tutorials/regression.html reference/commands/fit-krr.html theory/architecture.html \
    api/index.html _static/mathjax/MathJax.js; do
    [ -s "site/html/$page" ] || fail "the site has no $page"
done
says site/html/reference/commands/fit-krr.html "<span class=\"pre\">--gamma</span>" "the page of fit krr"

mkdir tree
cp -R "$DKMAP_SOURCE/docs" "$DKMAP_SOURCE/jobs" "$DKMAP_SOURCE/include" tree
printf '\n[nowhere](install.md#no-such-heading)\n' >>tree/docs/index.md
if build tree; then
    fail "a link to a heading that does not exist does not fail the site"
fi
finish

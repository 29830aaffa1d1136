#!/usr/bin/env bash
# Labelled graphs as objects, strings by the place of their characters, images by local patches.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# Rings and paths of 4 to 7 vertices in the form of the TUDataset collection, converted as the docs say.
awk 'BEGIN { srand(3); for (g = 1; g <= 40; g++) { n = 4 + g % 4; print (g % 2 ? "ring" : "path") >"names.txt"
    for (v = 1; v <= n; v++) { print g >"DS_graph_indicator.txt"; print (rand() < 0.95 ? 6 : 7) >"DS_node_labels.txt" }
    for (v = 1; v <= n; v++) { w = v % n + 1; if (g % 2 || w > 1) { printf "%d, %d\n%d, %d\n", at + v, at + w, at + w, at + v >"DS_A.txt" } }
    at += n } }'
awk '/^awk -F/ { on = 1 } on { print } on && />DS.graphs/ { exit }' "$DKMAP_SOURCE/docs/reference/formats.md" >convert.sh
sh ./convert.sh || fail "the conversion of the docs"
[ "$(sed -n 2p DS.graphs | tr -d 67)" = '      | 0-1 1-0 1-2 2-1 2-3 3-2 3-4 4-3 4-5 5-4' ] || fail "converted: $(sed -n 2p DS.graphs)"
good 3 info DS.graphs
says out 'graphs, 40 of them' "what the file holds"
for ranks in 1 3; do
    good "$ranks" fit krr --x 'DS.graphs[0:30]' --y 'names.txt[0:30]' --kx 'normalize(weisfeiler-lehman(h=2))' --gamma 1e-3 -o g.h5
    says out 'classes, 2: path, ring' "the target"
    good "$ranks" predict g.h5 --x 'DS.graphs[30:]' -o "g$ranks.txt"
    tail -10 names.txt | cmp -s - "g$ranks.txt" || fail "graphs on $ranks ranks: $(cat "g$ranks.txt")"
done
good 1 fit krr --x DS.graphs --y names.txt -o d.h5
says out 'normalize(weisfeiler-lehman(h=3))' "the kernel of graphs"
printf 'C C O | 0-1 1-2\nO C C | 0-1 1-2\n' >two.graphs
good 3 gram --x two.graphs --kx 'weisfeiler-lehman(h=2)' -o k.csv
[ "$(sort -u k.csv)" = 11,11 ] || fail "isomorphic graphs: $(cat k.csv)"
printf 'C C\nC C | 0-2\n' >bad.graphs
bad "bad.graphs:2: '0-2' is no edge" gram --x bad.graphs --kx weisfeiler-lehman -o made/k.csv
wrong 'is a kernel for graphs' gram --x names.txt --kx weisfeiler-lehman -o made/k.csv
wrong 'it is weisfeiler-lehman(h=3) here' gram --x two.graphs --kx wl -o made/k.csv

# A motif at a place that may be off by one.
awk 'BEGIN { srand(5); for (i = 0; i < 60; i++) { s = ""; for (j = 0; j < 14; j++) s = s substr("ACGT", 1 + int(4 * rand()), 1)
    if (i % 2) { p = 5 + i % 3; s = substr(s, 1, p) "GATA" substr(s, p + 5) }
    print s >"dna.txt"; print i % 2 >"site.csv" } }'
for ranks in 1 3; do
    good "$ranks" fit svm --x 'dna.txt[0:40]' --y 'site.csv[0:40]' --y-type labels --kx 'normalize(weighted-degree(degree=4, shift=2))' --C 10 -o s.h5
    good "$ranks" predict s.h5 --x 'dna.txt[40:]' -o s.csv
    good 1 score --truth 'site.csv[40:]' --pred s.csv --y-type labels --loss zero-one
    below "$(value zero-one)" 0.21 "sites on $ranks ranks"
done

# Images: the first kernel is the inner product, the others need their shape.
normal 12 20 7 >x.csv
good 3 gram --x x.csv --kx 'local-patch(shape=5x4, width=1, degree=1)' -o p.csv
good 1 gram --x x.csv --kx linear -o l.csv
good 1 score --truth l.csv --pred p.csv --loss mse
below "$(value rmse)" 1e-12 "a window of one pixel"
good 1 gram --x x.csv --kx 'local-patch(shape=5x4, width=3, degree=2)' -o p1.csv
good 3 gram --x x.csv --kx 'local-patch(shape=5x4, width=3, degree=2)' -o p3.csv
cmp -s p1.csv p3.csv || fail "images on 1 and 3 ranks"
wrong 'images of 4x4 have 16 pixels, and these rows have 20 columns' gram --x x.csv --kx 'local-patch(shape=4x4)' -o made/k.csv
wrong 'needs the shape of the images' gram --x x.csv --kx local-patch -o made/k.csv
wrong 'width must be odd' gram --x x.csv --kx 'local-patch(shape=5x4, width=4)' -o made/k.csv
finish

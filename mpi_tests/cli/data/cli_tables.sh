#!/usr/bin/env bash
# Tables with names, text columns and missing values: from a CSV to predictions with names.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# table SEED: length, color (text), width, and the class of a plant; some cells are missing.
table() {
    echo 'length,color,width,plant'
    normal 60 2 "$1" | awk -F, '{
        color = $1 > 0.4 ? "red" : ($1 > -0.4 ? "\"light, blue\"" : "green")
        plant = $1 > 0.4 ? "rose" : ($2 > 0 ? "iris" : "moss")
        length_ = NR % 13 == 7 ? "" : $1 * 100 + 50
        width = NR % 17 == 3 ? "NA" : $2
        print length_ "," (NR % 19 == 5 ? "?" : color) "," width "," plant
    }'
}
table 3 >train.csv
table 4 >new.csv

# The three commands of the tutorial, on 1 and 3 ranks.
for ranks in 1 3; do
    good "$ranks" fit krr --x 'train.csv[:, !plant]' --y 'train.csv[:, plant]' --kx 'rbf(sigma=1)' \
        --gamma 1e-2 --missing mean --standardize -o "m$ranks.h5"
    says out 'classes, 3: iris, moss, rose' "the target"
    says out '3 columns, 1 of text; 5 in all, standardized' "the inputs"
    good "$ranks" predict "m$ranks.h5" --x new.csv -o "p$ranks.csv"
    good "$ranks" score --truth 'new.csv[:, plant]' --pred "p$ranks.csv" --loss accuracy --confusion
    below 0.8 "$(value accuracy)" "accuracy on $ranks ranks"
    says out 'rose' "the confusion matrix names classes"
done
cmp -s p1.csv p3.csv || fail "1 and 3 ranks predict otherwise: $(diff p1.csv p3.csv | head -4)"

# Words without names above them are rows from the first line on, where one of them comes again; names are names.
printf 'cat\ndog\ncat\nowl\n' >words.csv
printf 'kind\ncat\ndog\ncat\nowl\n' >named.csv
printf 'cat\ndog\ncat\ncat\n' >guess.csv
for truth in words.csv named.csv; do
    good 2 score --truth "$truth" --pred guess.csv --loss accuracy
    [ "$(value rows) $(value accuracy)" = "4 0.75" ] || fail "$truth and guess.csv: $(cat out)"
done
printf 'a,b\nx,1\na,2\n' >mixed.csv
good 1 info 'mixed.csv[:, b]'
says out 'names in the first line' "text above numbers"

# Columns are found by name in whatever order they are, and by number.
awk -F, 'BEGIN { OFS = "," } /light/ { print $NF, $4, $1, $2 "," $3; next } { print $4, $3, $1, $2 }' new.csv >other.csv
good 3 predict m1.h5 --x other.csv -o q.csv
cmp -s p1.csv q.csv || fail "columns in another order: $(diff p1.csv q.csv | head -4)"
good 3 predict m3.h5 --x 'new.csv[:, 0:3]' -o q.csv
cmp -s p1.csv q.csv || fail "columns by number"
good 1 predict m3.h5 --x 'new.csv[:, length,color,width]' -o q.csv
cmp -s p1.csv q.csv || fail "columns by name"

# What numbers become: by hand for a small table. Means fill in; deviations are those of all rows.
printf 'a,b\n1,10\n,20\n3,60\n' >small.csv
for ranks in 1 3; do
    good "$ranks" fit kpca --x small.csv --kx linear --components 2 --missing mean --standardize -o k.h5
    good "$ranks" predict k.h5 --x small.csv -o z.csv
    good "$ranks" gram --x z.csv --kx linear -o g.csv
done
awk -F, '{ trace += $NR } END { exit !(trace > 5.999999 && trace < 6.000001) }' g.csv ||
    fail "three standardized rows of two columns: $(cat g.csv)"
good 3 fit krr --x 'small.csv[:, a]' --y 'small.csv[:, b]' --kx linear --gamma 1e-9 --missing median -o l.h5
good 3 predict l.h5 --x 'small.csv[:, a]' -o l.csv
awk 'NR == 2 { exit !($1 > 32.857 && $1 < 32.858) }' l.csv || fail "the median of 1 and 3: $(cat l.csv)"
good 3 fit krr --x 'small.csv[:, a]' --y 'small.csv[:, -1]' --kx linear --gamma 1e-9 --missing drop -o d.h5
[ "$(value dropped) $(value m)" = "1 2" ] || fail "a row is left out: $(cat out)"

# What is wrong is said, on every rank, and nothing is written.
printf 'length,color\n1,red\n' >plain.csv
printf 'length,color,width\n1,pink,2\n' >pink.csv
mkdir -p made
wrong "no column 'width', which the model was trained on" predict m1.h5 --x plain.csv -o made/q.csv
bad "pink.csv:2: column 2 color is 'pink', which did not occur" predict m1.h5 --x pink.csv -o made/q.csv
wrong "there is no column 'weight': it has 4, length, color" fit krr --x 'new.csv[:, weight]' \
    --y 'new.csv[:, plant]' --kx linear --gamma 1 -o made/m.h5
wrong 'not both' fit krr --x 'new.csv[:, !width,length]' --y 'new.csv[:, plant]' --kx linear --gamma 1 -o made/m.h5
bad 'is empty: --missing drop, mean or median' fit krr --x small.csv --y 'small.csv[:, b]' \
    --kx linear --gamma 1 -o made/m.h5
wrong 'missing value, and the model was trained with --missing drop' predict d.h5 \
    --x 'small.csv[:, a]' -o made/q.csv
wrong 'columns, and the model was trained on 3' predict m1.h5 --x 'small.csv[:, 0:2]' -o made/q.csv

# ARFF, dense and sparse, with the last columns as labels; an XML file may count them.
printf '%% a comment\n@relation r\n@attribute size numeric\n@attribute "the color" {red, green}\n' >toy.arff
printf '@ATTRIBUTE a {0,1}\n@attribute b {0,1}\n@data\n1.5, red, 1, 0\n2.5, green, 0, 1\n0.5, ?, 1, 1\n3, red, 0, 0\n' >>toy.arff
printf '@relation r\n@attribute u numeric\n@attribute v numeric\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n{0 1.5,2 1}\n{0 2.5, 1 1,3 1}\n{0 0.5,1 0.5,2 1,3 1}\n{ 0 3}\n' >sparse.arff
printf '<labels>\n<label name="a"></label>\n<label name="b"></label>\n</labels>\n' >names.xml
printf '0\n1\n0,1\n\n' >sets.csv
for ranks in 1 3; do
    good "$ranks" fit krr --x toy.arff --y toy.arff --labels 2 --missing mean --kx 'rbf(sigma=1)' --gamma 1e-3 -o a.h5
    says out 'label sets, 2 labels' "labels of ARFF"
    good "$ranks" predict a.h5 --x toy.arff --labels 2 -o a.csv
    cmp -s a.csv sets.csv || fail "dense ARFF on $ranks ranks: $(cat a.csv)"
    good "$ranks" fit krr --x sparse.arff --y sparse.arff --labels names.xml --kx 'rbf(sigma=1)' --gamma 1e-3 -o a.h5
    good "$ranks" predict a.h5 --x sparse.arff --labels 2 -o a.csv
    cmp -s a.csv sets.csv || fail "sparse ARFF on $ranks ranks: $(cat a.csv)"
    good "$ranks" score --truth sparse.arff --pred a.csv --labels 2 --loss hamming
    [ "$(value hamming)" = 0 ] || fail "ARFF as truth: $(cat out)"
done
printf '@relation r\n@attribute u numeric\n@data\n{3 1}\n' >bad.arff
bad 'bad.arff:4: columns of a sparse row' gram --x bad.arff --kx linear -o made/g.csv
printf '@relation r\n@attribute u numeric\n' >cut.arff
bad 'no line @data' gram --x cut.arff --kx linear -o made/g.csv
wrong 'there are 4 columns' fit krr --x sparse.arff --y sparse.arff --labels 4 --kx linear --gamma 1 -o made/m.h5

# Settings are chosen with the same columns.
good 3 cv krr --x 'train.csv[:, !plant]' --y 'train.csv[:, plant]' --kx 'rbf(sigma=1)' \
    --gamma 1e-2,1e4 --missing median --standardize --folds 3 --loss accuracy
[ "$(value best)" = gamma=1e-2 ] || fail "cv of a table: $(cat out)"
finish

#!/usr/bin/env bash
# What does not go together with maps between objects, their pre-images and baselines: every run ends
# on all ranks with exit 1 and one line that names the file or option and the remedy.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

awk 'BEGIN { srand(5); for (i = 0; i < 20; i++) {
    print 2 * rand() - 1 "," 2 * rand() - 1 > "x.csv"; print 2 * rand() - 1 "," rand() "," rand() > "y.csv"
    print i % 3 > "labels.csv"; print 300 * rand() "," 1 > "pixels.csv"
    print substr("aababcab", i % 4 + 1, 4) > "s.txt" } }'
fit=(--x x.csv --kx 'rbf(sigma=1)')
good 2 fit kde "${fit[@]}" --y y.csv --ky 'rbf(sigma=1)' --components 4 --gamma 0.1 -o kde.h5
good 2 fit kde "${fit[@]}" --y s.txt --ky 'spectrum(p=2)' --components 2 --gamma 0.1 -o strings.h5
good 2 fit kpca --x y.csv --kx 'rbf(sigma=1)' --components 3 -o kpca.h5
good 2 fit knn "${fit[@]}" --y labels.csv --y-type labels --k 3 -o knn.h5
good 2 fit knn "${fit[@]}" --y s.txt --ky 'spectrum(p=2)' --k 3 -o knns.h5
good 2 fit hopfield --x x.csv --y y.csv -o net.h5
good 2 encode kpca.h5 --x y.csv -o z.csv

# Candidates.
for empty in 'y.csv[0:0]' 's.txt[0:0]'; do
    [ "$empty" = 'y.csv[0:0]' ] && model=kde.h5 || model=strings.h5
    wrong "$empty: there are no candidates" predict "$model" --x x.csv --candidates "$empty" -o made/p.txt
done
wrong "s.txt: candidates are strings, and the model's objects are dense" \
    predict kde.h5 --x x.csv --candidates s.txt -o made/p.csv
wrong "y.csv: candidates are dense, and the model's objects are strings" \
    predict strings.h5 --x x.csv --candidates y.csv -o made/p.txt
wrong "x.csv: candidates have 2 columns, and the model's objects have 3" \
    decode kpca.h5 --z z.csv --candidates x.csv -o made/p.csv
awk -F, -v OFS=, 'NR == 4 { $2 = "nan" } { print }' y.csv >nan.csv
bad "nan.csv|4|2" predict kde.h5 --x x.csv --candidates nan.csv -o made/p.csv
wrong "the best 21 of 20 candidates cannot be listed: ask for at most 20" \
    predict kde.h5 --x x.csv --top 21 -o made/p.csv

awk 'BEGIN { for (i = 0; i < 20; i++) for (j = 0; j < 20; j++)
    printf "%s%s", exp(-(i - j) ^ 2 / 20), j < 19 ? "," : "\n" }' >gram.csv
awk 'BEGIN { for (i = 0; i < 20; i++) for (j = 0; j < 20; j++)
    printf "%s%s", i < j ? j - i : i - j, j < 19 ? "," : "\n" }' >apart.csv
for type in gram distance; do
    [ $type = gram ] && file=gram.csv || file=apart.csv
    good 2 fit kde "${fit[@]}" --y "$file" --y-type $type --ky $type --components 3 --gamma 0.1 -o $type.h5
    good 3 predict $type.h5 --x x.csv --top 2 -o p.csv
    wrong "${file}[:, 0:9]: candidates have 9 columns, and the model's objects have 20" \
        predict $type.h5 --x x.csv --candidates "${file}[:, 0:9]" --y-type $type -o made/p.csv
done
wrong "gram.csv[0:5]: rows of a gram matrix do not tell how long new candidates are" \
    predict gram.h5 --x x.csv --candidates 'gram.csv[0:5]' --y-type gram -o made/p.csv
good 3 predict distance.h5 --x x.csv --candidates 'apart.csv[0:5]' --y-type distance --top 5 -o p.csv
[ "$(awk -F, '{ for (j = 1; j <= NF; j += 2) if ($j > 4) print }' p.csv)" = "" ] ||
    fail "candidates by their distances: $(head -2 p.csv)"

# Methods, and the settings that go with them.
wrong "strings does not suit the kernel rbf(sigma=1) on dense|use candidates, fixed-point" \
    predict kde.h5 --x x.csv --preimage strings -o made/p.csv
wrong "kz = spectrum(p=2) is no kernel on coordinates" \
    predict kde.h5 --x x.csv --preimage learned --kz 'spectrum(p=2)' -o made/p.csv
wrong "--gamma-z is the ridge of --kz" predict kde.h5 --x x.csv --gamma-z 1 -o made/p.csv
wrong "z.csv: the model has 4 components, these rows 3 columns" decode kde.h5 --z z.csv -o made/p.csv
wrong "kpca.h5: a model of kpca predicts coordinates|decode" \
    predict kpca.h5 --x y.csv --preimage fixed-point -o made/p.csv
wrong "kpca.h5: a model of kpca predicts coordinates" predict kpca.h5 --x y.csv --top 2 -o made/p.csv
wrong "knn.h5: a model of knn, and this command is for kpca or kde" decode knn.h5 --z z.csv -o made/p.csv
wrong "kde.h5: a model of kde, and this command is for kpca or lle" encode kde.h5 --x x.csv -o made/p.csv

# Kernels and objects, told by their side.
map=(fit kde --components 2 --gamma 1 -o made/m.h5)
wrong "y: linear is a kernel for dense or sparse" "${map[@]}" "${fit[@]}" --y s.txt --ky linear
wrong "x: linear is a kernel for dense or sparse" "${map[@]}" --x s.txt --kx linear --y y.csv --ky linear
yes abba | head -n 20 >same.txt
bad "y: the centered kernel matrix is zero" "${map[@]}" "${fit[@]}" --y same.txt --ky 'spectrum(p=2)'
wrong "y: the gram matrix of training objects is 20 x 3" "${map[@]}" "${fit[@]}" --y y.csv --y-type gram \
    --ky gram

# Baselines.
wrong "k = 21 neighbors of 20 examples" fit knn "${fit[@]}" --y y.csv --k 21 -o made/m.h5
wrong "x has no rows" fit knn --x 'x.csv[0:0]' --y 'y.csv[0:0]' --kx linear -o made/m.h5
for setting in "--neighbours 2" "--window 3" "--preimage gradient" "--kz linear"; do
    # shellcheck disable=SC2086
    wrong "knns.h5: a model of knn predicts the nearest" predict knns.h5 --x x.csv $setting -o made/p.txt
    # shellcheck disable=SC2086
    wrong "fit it with one (ky)" predict knn.h5 --x x.csv $setting -o made/p.csv
done
wrong "x has no rows" fit hopfield --x 'x.csv[0:0]' --y 'y.csv[0:0]' -o made/m.h5
wrong "row 0 of x has the number|from -1 to 1" fit hopfield --x pixels.csv --y y.csv -o made/m.h5
wrong "pixels.csv: row 0 of x has the number" predict net.h5 --x pixels.csv -o made/p.csv
wrong "x.csv" score --truth y.csv --pred y.csv --loss mse --baseline copy --x x.csv

# Pictures and made problems.
wrong "--rows y.csv + : there is no file beside the +" \
    montage --shape 1x3 --rows 'y.csv + ' -o made/p.png
good 1 montage --shape 1x3 --rows y.csv --rows 'x.csv[0:4]' --count 50 -o p.png
[ "$(value count)" = 20 ] || fail "a picture of 20 images has $(value count)"
on 2 montage --shape 8by3 --rows y.csv -o none.png
expect 2 "a shape without an x"
says err "--shape expects HxW" "a shape without an x"
bad "no/where: cannot make this folder|make the one above it first" \
    gen strings --n 3 --out-dir no/where
finish

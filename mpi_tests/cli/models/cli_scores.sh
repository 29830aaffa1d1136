#!/usr/bin/env bash
# Scores, probabilities and thresholds of predictions, and models that cv refits.
# shellcheck disable=SC2016
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

normal 90 2 5 >x.csv
normal 60 2 6 >new.csv
for f in x new; do
    normal 90 1 "$((7 + ${#f}))" >"noise_$f.csv"
    paste -d, "$f.csv" "noise_$f.csv" | head -n "$(wc -l <$f.csv)" |
        awk -F, '{ v = $1 + 0.3 * $3; print (v > 0.5 ? "high" : (v > -0.5 ? "middle" : "low")) }' >"y_$f.txt"
    paste -d, "$f.csv" "noise_$f.csv" | head -n "$(wc -l <$f.csv)" |
        awk -F, '{ s = ($1 + 0.4 * $3 > 0.4 ? "0" : "") ($2 > 0.6 ? "," 1 : ""); sub(/^,/, "", s); print (s == "" ? 2 : s) }' >"sets_$f.csv"
done

# Decision values name the class by their largest column; probabilities are in the same order, sum to
# 1 and have a smaller log loss than the shares of the classes.
for ranks in 1 3; do
    good "$ranks" fit krr --x x.csv --y y_x.txt --kx 'rbf(sigma=1)' --gamma 1e-2,1e-1,1 -o m.h5
    below "$(value loo_nll)" 1.0 "the log loss of examples that are left out"
    good "$ranks" predict m.h5 --x new.csv -o p.txt
    good "$ranks" predict m.h5 --x new.csv --scores -o "s$ranks.csv"
    good "$ranks" predict m.h5 --x new.csv --proba -o "q$ranks.csv"
    for file in "s$ranks.csv" "q$ranks.csv"; do
        awk -F, '{ b = $1 >= $2 && $1 >= $3 ? "high" : ($2 >= $3 ? "low" : "middle"); print b }' "$file" |
            cmp -s - p.txt || fail "$file and the classes on $ranks ranks"
    done
    awk -F, '{ s = $1 + $2 + $3; if (s < 1 - 1e-12 || s > 1 + 1e-12) exit 1 }' "q$ranks.csv" || fail "sums"
    good "$ranks" score --truth y_new.txt --pred "q$ranks.csv" --loss nll,auc,top-1
    below "$(value nll)" "$(value baseline_nll)" "log loss on $ranks ranks"
    below 0.8 "$(value auc)" "auc on $ranks ranks"
done
good 1 score --truth s1.csv --pred s3.csv --loss mse
below "$(value rmse)" 1e-10 "scores on 1 and 3 ranks"
good 3 fit svm --x x.csv --y y_x.txt --kx 'rbf(sigma=1)' --C 1 -o v.h5

# LIBSVM on one rank, and all ranks together: decision values agree to the tolerance that both stop at.
good 1 fit svm --x x.csv --y y_x.txt --kx 'rbf(sigma=1)' --C 1 --tolerance 1e-6 --solver libsvm -o one.h5
for ranks in 2 3; do
    good "$ranks" fit svm --x x.csv --y y_x.txt --kx 'rbf(sigma=1)' --C 1 --tolerance 1e-6 \
        --solver decomposition -o all.h5
    for model in one all; do
        good 1 predict "$model.h5" --x new.csv --scores -o "$model.csv" -q
    done
    good 1 score --truth one.csv --pred all.csv --loss mse
    below "$(value rmse)" 1e-5 "decision values of LIBSVM and of $ranks ranks"
done
good 3 predict v.h5 --x new.csv --scores -o s.npy

# A score per class or candidate, in their order: the lists of --top in another form.
awk '{ print ($1 == "high" ? 9 : ($1 == "low" ? 3 : 5)) }' y_x.txt >odd.csv
printf 'high\nlow\nmiddle\n' >names.txt
for ranks in 1 3; do
    good "$ranks" fit jkm --x x.csv --y odd.csv --y-type labels --kx 'rbf(sigma=1)' --C 10 -o j.h5
    good "$ranks" predict j.h5 --x new.csv --scores -o "j$ranks.csv"
    good "$ranks" predict j.h5 --x new.csv --top 3 -o top.csv
    awk -F, '{ v[$1] = $2; v[$3] = $4; v[$5] = $6; print v[3] "," v[5] "," v[9] }' top.csv |
        cmp -s - "j$ranks.csv" || fail "scores of classes by jkm on $ranks ranks: $(head -2 "j$ranks.csv")"
    good "$ranks" fit kde --x x.csv --y y_x.txt --kx 'rbf(sigma=1)' --ky 'spectrum(p=1)' --components all --gamma 0.1 -o k.h5
    good "$ranks" predict k.h5 --x new.csv --candidates names.txt --scores -o "k$ranks.csv"
    good "$ranks" predict k.h5 --x new.csv --candidates names.txt -o k.txt
    awk -F, '{ print ($1 >= $2 && $1 >= $3 ? "high" : ($2 >= $3 ? "low" : "middle")) }' "k$ranks.csv" |
        cmp -s - k.txt || fail "scores of candidates by kde on $ranks ranks"
done
wrong 'without a list of the best' predict k.h5 --x new.csv --scores --top 2 -o made/s.csv

# Label sets: the share of the greatest score with the best leave-one-out F1.
for ranks in 1 3; do
    good "$ranks" fit krr --x x.csv --y sets_x.csv --y-type label-sets --kx 'rbf(sigma=1)' --gamma 0.1 --loo -o t.h5
    share=$(value threshold_share)
    good "$ranks" predict t.h5 --x new.csv --threshold auto -o "a$ranks.csv"
    good "$ranks" predict t.h5 --x new.csv --scores -o g.csv
    awk -F, -v share="$share" '{
        most = $1 > $2 ? $1 : $2
        most = $3 > most ? $3 : most
        s = ($1 >= share * most ? ",0" : "") ($2 >= share * most ? ",1" : "") ($3 >= share * most ? ",2" : "")
        print substr(s, 2)
    }' g.csv | cmp -s - "a$ranks.csv" || fail "auto is a share of $share on $ranks ranks"
    good "$ranks" predict t.h5 --x new.csv --threshold 2 -o none.csv
    grep -q . none.csv && fail "no label reaches 2: $(head -2 none.csv)"
    good "$ranks" score --truth sets_new.csv --pred "a$ranks.csv" --y-type label-sets --loss f1-examples
    below "$(value baseline_f1-examples)" "$(value f1-examples)" "thresholds on $ranks ranks"
done
cmp -s a1.csv a3.csv || fail "thresholds on 1 and 3 ranks"
mkdir -p made
wrong 'fitted without leave-one-out errors' predict v.h5 --x new.csv --proba -o made/p.csv
wrong 'a number or auto' predict t.h5 --x new.csv --threshold high -o made/p.csv
wrong 'give one of' predict t.h5 --x new.csv --threshold 1 --scores -o made/p.csv
wrong 'probabilities are of classes' predict t.h5 --x new.csv --proba -o made/p.csv
good 1 fit knn --x x.csv --y y_x.txt --kx linear --k 3 -o k.h5
wrong 'where its outputs have a kernel' predict k.h5 --x new.csv --scores -o made/p.csv

# cv refits the best setting; the model is that of fit.
for ranks in 1 3; do
    good "$ranks" cv krr --x x.csv --y y_x.txt --kx 'rbf(sigma=$s)' --try s=0.5,1 --gamma 1e-8,1e-4,1 \
        --folds 3 --loss accuracy --standardize -o best.h5 --table "table$ranks.csv"
    best=$(value best)
    sigma=${best#s=}
    good "$ranks" fit krr --x x.csv --y y_x.txt --kx "rbf(sigma=${sigma%%,*})" --gamma "${best##*=}" --standardize -o f.h5
    good "$ranks" predict best.h5 --x new.csv -o b.txt
    good "$ranks" predict f.h5 --x new.csv -o f.txt
    cmp -s b.txt f.txt || fail "refitted and fitted on $ranks ranks"
    [ "$(wc -l <"table$ranks.csv")" = 7 ] || fail "the table: $(cat "table$ranks.csv")"
    head -1 "table$ranks.csv" | grep -q '^setting,accuracy,stderr$' || fail "names of the table"
done
cmp -s table1.csv table3.csv || fail "tables on 1 and 3 ranks: $(diff table1.csv table3.csv | head -3)"
good 3 cv krr --x x.csv --y x.csv --kx linear --gamma 1e-3,1e2,1e4 --folds 3
says err 'the best value of --gamma lies at an end' "the end of a list"
# shellcheck disable=SC2016
good 3 cv krr --x x.csv --y x.csv --kx 'scale(linear, by=$b)' --try b=1,10,100 --gamma 1e-3,1e2,1e4 --folds 3
# shellcheck disable=SC2016
says err 'the best value of --gamma and of $b lies at an end' "the ends of two lists"
finish

#!/usr/bin/env bash
# Joint kernel maps from the command line: fit, save, load, predict; the same on any number of ranks.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# The identity map on the sphere: the more the diagonal counts, the better it is learnt.
good 1 gen identity --n 60 --dim 16 --seed 3 --out-dir sphere
last=9
for lambda in 0 0.5 1; do
    for ranks in 1 3; do
        good $ranks fit jkm --x 'sphere/x.npy[0:10]' --y 'sphere/y.npy[0:10]' --kx linear \
            --joint "diag(lambda=$lambda)" --epsilon 0.125 -o "m$ranks.h5"
        grep -E '^(rounds|constraints|support|dual)' out >"counts$ranks"
    done
    cmp -s counts1 counts3 || fail "lambda = $lambda: $(cat counts1) is not $(cat counts3)"
    good 2 predict m1.h5 --x 'sphere/x.npy[10:60]' -o p2.npy
    good 1 predict m3.h5 --x 'sphere/x.npy[10:60]' -o p1.npy
    cmp -s p1.npy p2.npy || fail "lambda = $lambda: 1 and 2 ranks predict otherwise"
    good 1 score --truth 'sphere/y.npy[10:60]' --pred p1.npy --loss mse
    below "$(value mse)" "$last" "lambda = $lambda"
    last=$(value mse)
done
below "$last" 1e-6 "the diagonal alone"
good 1 info m1.h5

# Classes, with a slack for each example and with one for all; lists of the best with their scores.
awk 'BEGIN { srand(5); for (i = 0; i < 60; i++) { c = i % 3
    print 3 * (c == 0) + rand() "," 3 * (c == 1) + rand() "," rand() > "c.csv"; print c > "l.csv" } }'
for slacks in each one; do
    good 2 fit jkm --x c.csv --y l.csv --y-type labels --kx linear --C 1 --slacks $slacks -o c.h5
    [ "$(value outputs)" = classes ] || fail "classes: $(cat out)"
    below "$(value gap)" 1e-3 "the gap with slacks $slacks"
    good 3 predict c.h5 --x c.csv -o found.csv
    good 1 score --truth l.csv --pred found.csv --y-type labels --loss zero-one
    below "$(value zero-one)" 0.05 "classes with slacks $slacks"
done
good 2 predict c.h5 --x 'c.csv[0:6]' --top 3 -o top.csv
[ "$(awk -F, 'NF == 6 && $2 >= $4 && $4 >= $6' top.csv | wc -l)" = 6 ] || fail "--top: $(cat top.csv)"

# More new constraints in a round than pass at a time: 300 examples, of which all are violated at first.
awk 'BEGIN { srand(7); for (i = 0; i < 300; i++) { c = i % 3
    print 3 * (c == 0) + rand() "," 3 * (c == 1) + rand() "," rand() > "many.csv"; print c > "many_l.csv" } }'
for ranks in 1 3; do
    good $ranks fit jkm --x many.csv --y many_l.csv --y-type labels --kx linear --C 1 --slacks each --rounds 2 -o "m$ranks.h5"
    [ "$(value constraints)" -gt 256 ] || fail "constraints of 300 examples: $(cat out)"
    good 1 predict "m$ranks.h5" --x c.csv --top 3 -o "m$ranks.csv"
done
cmp -s m1.csv m3.csv || fail "many new constraints: 1 and 3 ranks predict otherwise"

# Strings through candidates, of which the right ones are found again.
awk 'BEGIN { for (i = 0; i < 60; i++) print substr("aabab" "bccbc" "cacca", 5 * (i % 3) + 1, 5) }' >s.txt
printf 'aabab\nbccbc\ncacca\nccccc\n' >cand.txt
good 2 fit jkm --x c.csv --y s.txt --candidates cand.txt --kx 'rbf(sigma=2)' --C 10 \
    --ky 'normalize(spectrum(p=2))' -o s.h5
good 3 predict s.h5 --x c.csv -o s_found.txt
[ "$(paste s.txt s_found.txt | awk '$1 != $2' | wc -l)" -lt 3 ] || fail "strings: $(head -3 s_found.txt)"

# Letters of outputs by the stretches of inputs around them: x and y swap at every b, and candidates
# that differ in one letter are told apart, also of strings that were not learnt from.
awk 'BEGIN { srand(3); for (i = 0; i < 60; i++) { x = y = w = ""
    for (k = 0; k < 12; k++) x = x substr("abc", 1 + int(3 * rand()), 1)
    for (k = 1; k <= 12; k++) { b = substr(x, k - 1, 3) ~ /b/; y = y (b ? "x" : "y")
        w = w ((k == 6) != b ? "x" : "y") }
    print x > "px.txt"; print y > "py.txt"; print y > "pc.txt"; print w > "pc.txt"
    print 2 * i > "place.csv" } }'
for ranks in 1 3; do
    good $ranks fit jkm --x 'px.txt[0:40]' --y 'py.txt[0:40]' --candidates pc.txt --kx 'spectrum(p=1)' \
        --joint 'strings(p=3)' --C 1 -o "p$ranks.h5"
    grep -E '^(rounds|constraints|support|dual)' out >"counts$ranks"
    good $ranks predict "p$ranks.h5" --x 'px.txt[40:60]' --top 5 -o "p$ranks.npy"
done
cmp -s counts1 counts3 || fail "strings(p=3): $(cat counts1) is not $(cat counts3)"
cmp -s p1.npy p3.npy || fail "strings(p=3): 1 and 3 ranks predict otherwise"
good 2 score --truth 'place.csv[40:60]' --y-type labels --pred p1.npy --loss rank
below "$(value rank)" 2 "the mean rank of the right string of 120"
on 2 fit jkm --x c.csv --y s.txt --kx linear --joint 'strings(p=3)' -o none.h5
expect 2 "strings(p=3) with numbers"
says err "is for inputs that are strings, these are dense" "strings(p=3) with numbers"
echo abcabcabcabcabc >long.txt
on 2 predict p1.h5 --x px.txt --candidates long.txt -o none.txt
expect 2 "a candidate that is too long"
says err "candidate 0 has 15 letters" "a candidate that is too long"
printf 'aabab\nbccbc\n' >few.txt
on 2 fit jkm --x c.csv --y s.txt --candidates few.txt --kx linear --ky 'spectrum(p=2)' -o none.h5
expect 2 "candidates without the truth"
says err "row 2 of y is not among the candidates" "candidates without the truth"

# How the loss scales slacks and margins: one example x = 1, y = 1 among 1, 0.5 and -1, so that
# F(x, y) = w y and the objective is one of w alone.
echo 1 >one.csv
printf '1\n0.5\n-1\n' >three.csv
while read -r rescale objective; do
    good 2 fit jkm --x one.csv --y one.csv --candidates three.csv --kx linear --C 1 \
        --rescale "$rescale" --tolerance 1e-6 -o r.h5
    awk -v a="$(value primal)" -v b="$objective" 'BEGIN { exit !(a > b - 1e-5 && a < b + 1e-5) }' ||
        fail "--rescale $rescale: an objective of $(value primal), not $objective"
done <<'END'
none 0.875
slack 0.2086168
margin 0.5
END

# Candidates that count for each example: without the one in the way, a hard margin is found.
awk 'BEGIN { for (i = 0; i < 12; i++) { print (i % 3 == 0) "," (i % 3 == 1) "," (i % 3 == 2) > "e.csv"
    print i == 5 ? 0 : i % 3 > "f.csv"; print i == 5 ? "0,1" : "0,1,2" > "lists.svm" } }'
on 2 fit jkm --x e.csv --y f.csv --y-type labels --kx linear -o none.h5
expect 1 "an example in the wrong class"
says err "not separable" "an example in the wrong class"
says err "with C of about 1," "an example in the wrong class"
good 3 fit jkm --x e.csv --y f.csv --y-type labels --kx linear --lists lists.svm -o lists.h5
below "$(value violation)" 1e-3 "a hard margin with lists"

# The same for new inputs: what is chosen from scores of all candidates by hand.
awk 'BEGIN { for (i = 40; i < 60; i++) print (i * 7) % 120 "," (i * 13 + 5) % 120 (i % 2 ? "" : "," 2 * i) }' >few.csv
good 1 predict p1.h5 --x 'px.txt[40:60]' --scores -o scores.csv
paste -d' ' scores.csv few.csv | awk '{ n = split($1, score, ","); l = split($2, list, ","); line = ""
    delete taken
    for (k = 1; k <= 3; k++) { best = -1
        for (j = 1; j <= l; j++) { c = list[j]
            if (!(c in taken) && (best < 0 || score[c + 1] > score[best + 1] ||
                (score[c + 1] == score[best + 1] && c + 0 < best + 0))) best = c }
        taken[best]
        line = line (k > 1 ? "," : "") (best < 0 ? "nan,nan" : best "," score[best + 1]) }
    print line }' >by_hand.csv
awk -F, 'NR == FNR { object[NR - 1] = $0; next } { print object[$1] }' pc.txt by_hand.csv >by_hand.txt
for ranks in 1 3; do
    good $ranks predict p1.h5 --x 'px.txt[40:60]' --candidate-lists few.csv --top 3 -o top.csv
    cmp -s top.csv by_hand.csv || fail "--candidate-lists --top: $(paste -d' ' top.csv by_hand.csv | head -2)"
    good $ranks predict p1.h5 --x 'px.txt[40:60]' --candidate-lists few.csv -o chosen.txt
    cmp -s chosen.txt by_hand.txt || fail "--candidate-lists: $(paste -d' ' chosen.txt by_hand.txt | head -2)"
    good $ranks predict p1.h5 --x 'px.txt[40:60]' --candidate-lists few.csv --scores -o some.csv
    paste -d' ' scores.csv some.csv few.csv | awk '{ n = split($1, all, ","); split($2, some, ","); c = "," $3 ","
        for (j = 1; j <= n; j++) if (some[j] != (c ~ "," j - 1 "," ? all[j] : "nan")) bad = 1 }
        END { exit bad || NR != 20 }' || fail "--candidate-lists --scores: $(head -1 some.csv)"
    good $ranks score --truth 'place.csv[40:60]' --y-type labels --pred top.csv --loss rank
    [ "$(value rank)" = "$(awk -F, '{ r = 4; for (k = 1; k <= 3; k++) if ($(2 * k - 1) == 2 * (NR + 39)) r = k; s += r }
        END { print s / NR }' top.csv)" ] || fail "ranks in lists that end early: $(cat out)"
done
# Of classes, by their places: one of two that count.
awk 'BEGIN { for (i = 0; i < 12; i++) print i % 3 == 2 ? "0,1" : i % 3 ",2" }' >two.csv
good 3 predict lists.h5 --x e.csv --candidate-lists two.csv --top 2 -o top.csv
awk -F, 'NR == FNR { a[NR] = $1; b[NR] = $2; next } $1 != a[FNR] && $1 != b[FNR] { exit 1 } FNR % 3 && $1 != (FNR - 1) % 3 && FNR != 6 { exit 1 }' \
    two.csv top.csv || fail "lists of classes: $(cat top.csv)"
mkdir -p made
printf '0\n' >short.csv
must_refuse 2 "short.csv has 1 rows but e.csv has 12" predict lists.h5 --x e.csv --candidate-lists short.csv -o made/p.csv
sed '4s/.*/7/' two.csv >high.csv
must_refuse 2 "high.csv|candidate 7" predict lists.h5 --x e.csv --candidate-lists high.csv -o made/p.csv
sed '4s/.*//' two.csv >empty.svm
must_refuse 2 "empty.svm|row 3|empty" predict lists.h5 --x e.csv --candidate-lists empty.svm -o made/p.csv

# Equal inputs with different outputs: multipliers grow until rounding ends it, and no C is advised.
good 1 gen strings --n 80 --seed 1 --out-dir strings
for ranks in 1 2; do
    on $ranks fit jkm --x strings/x.txt --y strings/y.txt --kx 'normalize(spectrum(p=2))' \
        --ky 'normalize(spectrum(p=2))' -o none.h5
    expect 1 "strings that are not separable"
    says err "allow slack (C, for instance 1)" "strings that are not separable"
done

# A threshold between right outputs and others, each half a margin away; the program is spread over the
# ranks or not.
awk 'BEGIN { for (i = 0; i < 12; i++) print i % 3 > "t.csv" }'
for spread in 4 1000; do
    good 3 fit jkm --x e.csv --y t.csv --y-type labels --kx linear --threshold --spread $spread -o t.h5
    grep -E '^(rounds|constraints|support|dual|threshold)' out >"counts$spread"
    [ "$(value program)" = "$([ $spread = 4 ] && echo spread)" ] || fail "--spread $spread: $(cat out)"
    good 2 predict t.h5 --x e.csv --top 3 -o top.csv
    [ "$(awk -F, '$2 > 0.499 && $4 < -0.499 && $6 < -0.499' top.csv | wc -l)" = 12 ] ||
        fail "--threshold --spread $spread: $(head -3 top.csv)"
done
cmp -s counts4 counts1000 || fail "spread: $(cat counts4), not $(cat counts1000)"
on 2 fit jkm --x e.csv --y e.csv --kx linear --outputs free --threshold -o none.h5
expect 2 "a threshold with free outputs"
says err "free ones have scores above any" "a threshold with free outputs"

# Ranks of the truth in lists of the best: all first where classes are told apart.
good 2 predict c.h5 --x c.csv --top 3 -o list.npy
good 2 score --truth l.csv --y-type labels --pred list.npy --loss rank
below "$(value rank)" 1.1 "the mean rank of the right class"

# Wrong uses.
wrong() { # STATUS MESSAGE OPTIONS...
    local wanted=$1 message=$2
    shift 2
    on 2 fit jkm --x 'sphere/x.npy[0:10]' --y 'sphere/y.npy[0:10]' --kx linear "$@" -o none.h5
    expect "$wanted" "fit jkm $*"
    says err "$message" "fit jkm $*"
}
wrong 2 "lambda must be from 0 to 1" --joint 'diag(lambda=2)'
wrong 2 "larger than the image" --joint 'patch(shape=4x4, size=5)'
wrong 2 "x has 16 columns" --joint 'patch(shape=5x5, size=2, step=1)'
wrong 2 "at most 2 apart" --epsilon 2
wrong 2 "epsilon must be 0 or more" --epsilon -1
wrong 2 "C" --C 0
wrong 2 "unknown name 'diagonal'" --joint diagonal
awk 'BEGIN { for (i = 0; i < 10; i++) print (i == 7 ? "0,0" : i + 1 ",1") }' >zero.csv
on 2 fit jkm --x 'sphere/x.npy[0:10]' --y zero.csv --kx linear -o none.h5
expect 2 "an output of zero length"
says err "row 7 of y is zero" "an output of zero length"
[ -e none.h5 ] && fail "a failed run left a file"
finish

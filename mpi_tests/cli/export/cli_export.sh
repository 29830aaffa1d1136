#!/usr/bin/env bash
# dkmap export: C files compile without a warning and predict what dkmap predicts; ONNX graphs do so by
# an evaluator on numpy, where Python has onnx; what cannot be exported is refused in one line.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=mpi_tests/cli/common.sh
. "$here/../common.sh"
# shellcheck source=mpi_tests/cli/export/export_cases.sh
. "$here/export_cases.sh"
python=/usr/bin/python3
command -v cc >/dev/null || { echo "no cc"; exit 77; }

compile() {
    cc -std=c99 -Wall -Wextra -pedantic -Werror -O1 -DDKMAP_MAIN "$1.c" -o "$1" -lm 2>compile.log ||
        fail "$1.c does not compile: $(head -3 compile.log)"
}

# same A B WHAT: two files of numbers are equal to 1e-12, relative to the larger of 1 and a number.
same() {
    awk -F, 'NR == FNR { a[FNR] = $0; n = FNR; next }
        { m = split(a[FNR], u, ","); if (m != NF) bad = 1
          for (j = 1; j <= NF; j++) { d = u[j] - $j; if (d < 0) d = -d
            size = $j < 0 ? -$j : $j; if (size < 1) size = 1
            if (!(d <= 1e-12 * size)) { bad = 1; if (d > most) most = d } } }
        END { if (bad || FNR != n || n == 0) { print most + 0; exit 1 } }' "$1" "$2" >apart ||
        fail "$3: differ by $(cat apart)"
}

make_export_cases
for name in "${cases[@]}"; do
    input=new.csv
    [ "$name" = table ] && input=new_holes.csv
    compile "$name"
    "./$name" <"$input" >"$name.out"
    same "$name.out" "$name.truth.csv" "$name in C"
done

# The same file from any number of ranks.
cp kernel0.c one.c
good 3 export kernel0.h5 --c kernel0.c --onnx kernel0.onnx
cmp -s kernel0.c one.c || fail "kernel0.c on 3 ranks is another file"

# Coordinates back to objects: linear, fixed-point by itself, candidates on demand.
good 1 fit kpca --x train.csv --kx linear --components 3 -o axes.h5
good 1 fit kpca --x train.csv --kx 'rbf(sigma=2)' --components 3 -o back.h5
good 1 encode back.h5 --x new.csv -o z.csv
cp few.h5 marks.h5
for name in axes back marks; do
    good 1 export $name.h5 --c $name.c
    [ "$(value decodes)" = yes ] || fail "export of $name does not decode"
    compile $name
    good 1 decode $name.h5 --z z.csv -o $name.truth.csv
    ./$name decode <z.csv >$name.out
    same $name.out $name.truth.csv "decode of $name"
done
good 1 export back.h5 --preimage candidates --c near2.c
compile near2
good 1 decode back.h5 --z z.csv --preimage candidates -o near2.truth.csv
./near2 decode <z.csv >near2.out
same near2.out near2.truth.csv "decode to candidates"

# Classes: names, decision values and probabilities.
good 1 fit krr --x train.csv --y names.txt --kx 'rbf(sigma=1)' --gamma 0.01,0.1 -o classes.h5
good 1 export classes.h5 --c classes.c --onnx classes.onnx
compile classes
good 1 predict classes.h5 --x new.csv -o classes.truth.txt
good 1 predict classes.h5 --x new.csv --scores -o scores.csv
good 1 predict classes.h5 --x new.csv --proba -o proba.csv
./classes <new.csv >classes.out
cmp -s classes.out classes.truth.txt || fail "classes in C: $(diff classes.out classes.truth.txt | head -3)"
cat >caller.c <<'C'
#include <stdio.h>
void classes_score(const double *x, double *s);
void classes_probabilities(const double *x, double *s);
int main(int argc, char **argv)
{
    double x[4], s[3];
    (void)argv;
    while (scanf("%lf,%lf,%lf,%lf", x, x + 1, x + 2, x + 3) == 4) {
        (argc > 1 ? classes_probabilities : classes_score)(x, s);
        printf("%.17g,%.17g,%.17g\n", s[0], s[1], s[2]);
    }
    return 0;
}
C
cc -std=c99 -Wall -Werror caller.c classes.c -o caller -lm || fail "a program with classes.c does not link"
./caller <new.csv >scores.out
./caller p <new.csv >proba.out
same scores.out scores.csv "scores in C"
same proba.out proba.csv "probabilities in C"

# The graphs, by an evaluator that knows nothing but the definitions of the operators.
if "$python" -c 'import onnx, numpy' 2>/dev/null; then
    "$python" "$here/onnx_numpy.py" "${cases[@]}" || fail "ONNX graphs"
    "$python" "$here/onnx_numpy.py" --classes classes scores.csv proba.csv classes.truth.txt ||
        fail "ONNX graph of classes"
fi

# What cannot be exported.
printf 'ab\nba\nabc\n' >s.txt
head -3 y.csv >s.csv
good 1 fit krr --x s.txt --y s.csv --kx 'spectrum(p=1)' --gamma 1 -o strings.h5
wrong 'strings.h5|strings|dense rows' export strings.h5 --c made/strings.c
good 1 fit knn --x train.csv --y y.csv --kx linear --k 3 -o knn.h5
wrong 'knn.h5|models of knn cannot be exported' export knn.h5 --onnx made/knn.onnx
good 1 fit krr --x train.csv --y y.csv --kx 'rownorm(rbf(sigma=1))' --gamma 1 -o rownorm.h5
wrong 'rownorm.h5|the kernel rownorm cannot be exported' export rownorm.h5 --c made/rownorm.c
head -3 s.txt >t.txt
good 1 fit kde --x s.csv --y t.txt --kx linear --ky 'spectrum(p=1)' --components all --gamma 1 -o words.h5
wrong 'words.h5|cannot be exported for strings objects' export words.h5 --c made/words.c
on 1 export knn.h5
says err 'give --c FILE.c or --onnx FILE.onnx' 'export without a file'
finish

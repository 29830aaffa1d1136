#!/usr/bin/env bash
# From coordinates back to objects: encode and decode, and what each pre-image method is for.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# Noisy points on a circle in five dimensions, and the circle itself.
awk 'BEGIN { srand(7); for (i = 0; i < 80; i++) {
    t = 6.283185 * i / 80; a = 3 * cos(t); b = 3 * sin(t)
    print a "," b "," a + b "," a - b "," 0.5 * a > "clean.csv"
    for (k = 0; k < 5; k++) e[k] = 0.3 * (rand() + rand() + rand() + rand() - 2)
    print a + e[0] "," b + e[1] "," a + b + e[2] "," a - b + e[3] "," 0.5 * a + e[4] > "noisy.csv" } }'

# same A B LIMIT WHAT: two files of numbers agree.
same() {
    good 1 score --truth "$1" --pred "$2" --loss mse
    below "$(value rmse)" "$3" "$4"
}

# Denoising: nearer to the circle than what came in, and the same on any number of ranks.
good 1 score --truth clean.csv --pred noisy.csv --loss mse
noise=$(value mse)
good 3 fit kpca --x noisy.csv --kx 'rbf(sigma=6)' --components 5 -o m.h5
good 2 encode m.h5 --x noisy.csv -o z.npy
for method in fixed-point gradient; do
    [ $method = gradient ] && others="3 4" || others="2 6"
    good 1 decode m.h5 --z z.npy -o "$method.npy" --preimage "$method"
    good 1 score --truth clean.csv --pred "$method.npy" --loss mse
    below "$(value mse)" "$(awk -v n="$noise" 'BEGIN { print 0.7 * n }')" "$method denoises"
    for ranks in $others; do
        good "$ranks" decode m.h5 --z z.npy -o r.npy --preimage "$method"
        same "$method.npy" r.npy 1e-5 "$method on $ranks ranks"
    done
done
same fixed-point.npy gradient.npy 1e-4 "both iterations find the same"
good 2 decode m.h5 --z z.npy -o auto.npy
same fixed-point.npy auto.npy 1e-5 "auto takes the fixed point for an rbf"

# Distances to neighbours.
good 2 decode m.h5 --z z.npy -o mds.npy --preimage mds --neighbours 8
good 3 decode m.h5 --z z.npy -o r.npy --preimage mds --neighbours 8
same mds.npy r.npy 1e-9 "mds on 2 and 3 ranks"
good 1 score --truth clean.csv --pred mds.npy --loss mse
below "$(value mse)" "$noise" "mds denoises"

# Closed forms give back what was encoded.
good 2 fit kpca --x noisy.csv --kx linear --components all -o l.h5
good 1 encode l.h5 --x clean.csv -o zl.npy
for method in linear exact gradient; do
    good 2 decode l.h5 --z zl.npy -o x.csv --preimage "$method"
    same clean.csv x.csv 1e-6 "$method of a linear kernel"
done
good 3 fit kpca --x 'noisy.csv[:, 0:2]' --kx 'poly(degree=3, c=1)' --components all -o p.h5
good 2 encode p.h5 --x 'clean.csv[:, 0:2]' -o zp.npy
good 3 decode p.h5 --z zp.npy -o x.csv --preimage exact
same 'clean.csv[:, 0:2]' x.csv 1e-6 "exact of a cubic kernel"

# A learned map has a kernel and a ridge of its own, and is the same on any number of ranks.
good 1 decode m.h5 --z z.npy -o learned.npy --preimage learned --kz 'rbf(sigma=1)' --gamma-z 0.1
good 1 score --truth clean.csv --pred learned.npy --loss mse
below "$(value mse)" "$noise" "a learned map denoises"
for ranks in 2 3 6; do
    good "$ranks" decode m.h5 --z z.npy -o r.npy --preimage learned --kz 'rbf(sigma=1)' --gamma-z 0.1
    same learned.npy r.npy 1e-10 "a learned map on $ranks ranks"
done

# The same methods turn what kde predicts into objects; its coordinates can be decoded as well.
good 2 fit kde --x noisy.csv --y clean.csv --kx 'rbf(sigma=3)' --ky 'rbf(sigma=6)' --components 6 \
    --gamma 0.01 -o k.h5
good 3 predict k.h5 --x noisy.csv -o y.npy --preimage fixed-point
good 1 score --truth clean.csv --pred y.npy --loss mse
below "$(value mse)" "$noise" "kde with a fixed point"
good 2 predict k.h5 --x noisy.csv -o zk.npy --preimage coordinates
good 3 decode k.h5 --z zk.npy -o x.npy --preimage fixed-point
same y.npy x.npy 1e-5 "decoding the coordinates that kde predicts"

# Objects of every type come back from a kpca model through candidates.
printf '%s\n' abab babb bbba aaba >s.txt
good 2 fit kpca --x s.txt --kx 'normalize(spectrum(p=2))' --components all -o s.h5
good 1 encode s.h5 --x s.txt -o zs.npy
good 2 decode s.h5 --z zs.npy -o back.txt
cmp -s s.txt back.txt || fail "strings come back: $(cat back.txt)"
good 1 decode s.h5 --z zs.npy -o top.csv --top 2
[ "$(awk -F, 'END { print NR, NF }' top.csv)" = "4 4" ] || fail "decode --top 2: $(cat top.csv)"

# Strings letter by letter, from a window on the input: the same on any number of ranks, ties by the
# seed, lengths of the inputs.
awk 'BEGIN { srand(3); for (i = 0; i < 40; i++) { x = y = ""; n = 5 + int(6 * rand())
    for (p = 0; p < n; p++) { c = int(3 * rand()); x = x substr("abc", c + 1, 1); y = y (c == 1 ? "h" : "e") }
    print x > "x.txt"; print y > "y.txt"; print x "\t" y > "xy.txt" } }'
for output in "y.txt|normalize(spectrum(p=2))" "xy.txt|normalize(strings(p=3))"; do
    good 3 fit kde --x 'x.txt[0:30]' --y "${output%|*}[0:30]" --kx 'normalize(spectrum(p=2))' \
        --ky "${output#*|}" --components all --gamma 0.1 -o t.h5
    good 1 predict t.h5 --x 'x.txt[30:]' -o t1.txt --preimage strings --neighbours 3
    good 3 predict t.h5 --x 'x.txt[30:]' -o t3.txt --preimage strings --neighbours 3
    cmp -s t1.txt t3.txt || fail "strings by ${output#*|} on 1 and 3 ranks"
    good 1 score --truth 'y.txt[30:]' --pred t1.txt --loss hamming
    below "$(value hamming)" 0.1 "letters by ${output#*|}"
done

# Weights of the window's places by leave-one-out: y says which letter came two places before.
awk 'BEGIN { srand(4); for (i = 0; i < 90; i++) { x = y = ""; n = 5 + int(6 * rand()); b = d = "z"
    for (p = 0; p < n; p++) { c = substr("abcd", 1 + int(4 * rand()), 1); x = x c; y = y toupper(b); b = d; d = c }
    print x > "wx.txt"; print y > "wy.txt" } }'
good 2 fit kde --x 'wx.txt[0:70]' --y 'wy.txt[0:70]' --kx 'normalize(spectrum(p=2))' --ky 'normalize(spectrum(p=2))' \
    --components 5 --gamma 0.1 -o w.h5
for ranks in 1 3; do
    good $ranks predict w.h5 --x 'wx.txt[70:]' -o "w$ranks.txt" --preimage strings --window 7 --window-weights loo
done
cmp -s w1.txt w3.txt || fail "weights by leave-one-out on 1 and 3 ranks"
good 1 predict w.h5 --x 'wx.txt[70:]' -o equal.txt --preimage strings --window 7
good 1 score --truth 'wy.txt[70:]' --pred equal.txt --loss hamming
equal=$(value hamming)
good 1 score --truth 'wy.txt[70:]' --pred w1.txt --loss hamming
below "$(value hamming)" 0.02 "weights by leave-one-out"
below "$(value hamming)" "$equal" "weights by leave-one-out, and equal ones"

# Wrong uses.
wrong 'window weights go with' predict w.h5 --x wx.txt -o none.txt --window-weights loo --preimage candidates
wrong 'not with kz' predict w.h5 --x wx.txt -o none.txt --preimage strings --window-weights loo --kz 'rbf(sigma=1)'
on 1 decode t.h5 --z z.npy'[0:2]' -o none.txt --preimage strings
expect 2 "strings without inputs"
on 1 predict t.h5 --x x.txt -o none.txt --preimage strings --window 4
expect 2 "a window without a middle"
says err "odd number" "a window without a middle"
on 1 fit kde --x x.txt --y y.txt --kx 'spectrum(p=2)' --ky 'strings(p=3)' --components 2 --gamma 1 -o none.h5
expect 2 "strings that are no pairs"
says err "with a TAB between them" "strings that are no pairs"
on 2 decode m.h5 --z z.npy -o none.npy --preimage exact
expect 2 "an exact pre-image of an rbf"
says err "use candidates, fixed-point, gradient" "an exact pre-image of an rbf"
on 1 decode m.h5 --z z.npy -o none.npy --preimage mds --neighbours 81
expect 2 "more neighbours than objects"
on 2 decode s.h5 --z zs.npy -o none.txt --preimage gradient
expect 2 "gradients of strings"
says err "does not suit the kernel normalize(spectrum(p=2)) on strings" "gradients of strings"
on 2 decode m.h5 --z clean.csv -o none.npy --top 3 --preimage fixed-point
expect 2 "the best of what is not chosen"
on 2 decode l.h5 --z z.npy'[:, 0:3]' -o none.npy
expect 2 "too few coordinates"
says err "z.npy[:, 0:3]: the model has 5 components" "too few coordinates"
good 1 fit krr --x noisy.csv --y clean.csv --kx linear --gamma 1 -o krr.h5
on 1 decode krr.h5 --z z.npy -o none.npy
expect 2 "decoding with a ridge model"
says err "krr.h5: a model of krr" "decoding with a ridge model"
[ -e none.npy ] || [ -e none.txt ] && fail "a failed run left a file"
finish

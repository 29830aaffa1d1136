#!/usr/bin/env bash
# A model file that is damaged, or made to do harm, ends all ranks with one line; no file but the
# model and kernels beside it is read.

# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# spoilt MODEL CHANGE...: a copy of the model in made.h5 with one thing changed, sealed again.
spoilt() {
    local model=$1
    shift
    cp "$model" made.h5
    "$DKMAP_EDITOR" made.h5 "$@" || fail "the editor cannot: $*"
}

# refused TEXTS MODEL CHANGE...: the changed model does not predict.
refused() {
    local texts=$1
    shift
    spoilt "$@"
    bad "$texts" predict made.h5 --x x.csv -o made/p.npy
}

normal 24 3 1 >x.csv
normal 24 2 2 >y.csv
awk 'BEGIN { for (i = 0; i < 24; i++) print i % 2 }' >c.csv
good 2 fit krr --x x.csv --y y.csv --kx 'rbf(sigma=2)' --gamma 0.1 -o krr.h5
good 1 fit krr --x x.csv --y y.csv --kx linear --gamma 0.1 -o primal.h5
good 1 fit krr --x x.csv --y c.csv --y-type labels --kx 'rbf(sigma=2)' --gamma 0.1 -o class.h5
good 1 fit kpca --x x.csv --kx 'rbf(sigma=2)' --components 2 -o kpca.h5
good 1 fit kde --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky 'rbf(sigma=2)' --components 2 \
    --gamma 0.1 -o kde.h5
good 1 fit knn --x x.csv --y y.csv --kx linear --k 2 -o knn.h5
good 1 fit svm --x x.csv --y c.csv --y-type labels --kx 'rbf(sigma=2)' --C 1 -o svm.h5
good 1 fit jkm --x x.csv --y c.csv --y-type labels --kx 'rbf(sigma=2)' --ky class --joint tensor \
    --C 1 -o jkm.h5
good 1 fit jkm --x x.csv --y y.csv --kx linear --ky linear --joint tensor --candidates y.csv --C 1 \
    -o jkmc.h5
good 1 gram --x x.csv --kx 'rbf(sigma=2)' -o k.npy
good 1 extend fit --gram k.npy --features x.csv -o q.h5

# Accidents: the checksum tells them before HDF5 sees the file.
cp krr.h5 flipped.h5
printf '\377' | dd of=flipped.h5 bs=1 seek=900 conv=notrunc 2>/dev/null
bad "flipped.h5|checksum" predict flipped.h5 --x x.csv -o made/p.npy
bad "flipped.h5|checksum" info flipped.h5
head -c $(($(wc -c <krr.h5) - 5)) krr.h5 >cut.h5
bad "cut.h5|cut short or damaged" predict cut.h5 --x x.csv -o made/p.npy
good 2 info krr.h5
says out "checksum verified" "info of a model"

# Models of versions before the checksum.
spoilt krr.h5 unseal
good 2 predict krr.h5 --x x.csv -o p.csv
good 3 predict made.h5 --x x.csv -o old.csv
awk -F, -v OFS=, 'NR == FNR { a[FNR] = $0; next }
    { split(a[FNR], w); for (j = 1; j <= NF; j++) if (($j - w[j]) ^ 2 > 1e-20) exit 1 }' \
    p.csv old.csv || fail "a model without a checksum predicts otherwise"
good 2 info made.h5
says out "no checksum" "info of an old model"

# Numbers that cannot be.
damaged="made.h5|damaged model file"
for value in nan 1e300 2.5; do
    for of in krr:output_cols class:target_cols primal:input_cols knn:k jkm:coordinates \
        jkm:space_cols q:features_count; do
        name=${of#*:}
        [ "${of%:*}" = q ] && input=--features || input=--x
        spoilt "${of%:*}.h5" real "$name" "$value"
        if [ "${of%:*}" = q ]; then
            bad "$damaged|$name" extend apply made.h5 "$input" x.csv -o made/p.npy
        else
            bad "$damaged|$name" predict made.h5 "$input" x.csv -o made/p.npy
        fi
    done
done
refused "$damaged|class_unit|not finite" jkm.h5 real class_unit nan
refused "$damaged|inputs|not finite" jkm.h5 fill inputs/values nan
refused "$damaged|coefficients|not finite" krr.h5 fill coefficients/values inf
refused "$damaged|coordinates" jkm.h5 real coordinates 7
refused "damaged model file" krr.h5 real output_cols 1
refused "damaged model file" krr.h5 text output_type labels

# Sizes and types that do not fit.
refused "$damaged|coefficients" krr.h5 shape coefficients/values 24 3
refused "$damaged|machine" jkm.h5 shape machine/values 24 5
refused "$damaged|classes" class.h5 real classes 1
refused "$damaged|intercept" krr.h5 real intercept 1
refused "$damaged|weights" primal.h5 shape weights/values 2 2
refused "$damaged|components" kpca.h5 shape components/values 24 1
refused "$damaged|coefficients" kde.h5 shape coefficients/values 1 1
refused "$damaged|candidates" jkmc.h5 shape candidates/values 24 1
refused "'inputs" krr.h5 attribute inputs type strings
refused "damaged model file|kernel" krr.h5 text kernel 'rbf(sigma=-1)'
refused "damaged model file|kernel" krr.h5 text kernel 'ssk(r=3'

# Parts that are missing, listed twice or called by a path.
for of in krr:kernel krr:inputs krr:coefficients kpca:eigenvalues kde:means jkm:machine jkmc:candidates \
    knn:outputs svm:classes; do
    refused "made.h5|'${of#*:}|missing" "${of%:*}.h5" drop "${of#*:}"
done
parts() {
    printf '%s\n' "$@"
    echo .
}
list=$(parts output_type output_cols kernel inputs gamma intercept target_type target_cols coefficients)
refused "'parts' is missing or damaged" krr.h5 attribute / parts "${list%??}"
list=$(parts kernel inputs inputs)
refused "'parts' is missing or damaged" krr.h5 attribute / parts "${list%.}"
list=$(parts kernel inputs/values)
refused "'parts' is missing or damaged" krr.h5 attribute / parts "${list%.}"
list=$(parts output_type output_cols joint_kernel kx ky epsilon C threshold inputs machine space \
    space_type space_cols coordinates class_unit)
refused "damaged model file|do not fit" jkmc.h5 attribute / parts "${list%.}"

# Other files are not read.
refused "inputs/values|not followed" krr.h5 external inputs/values svm.h5
refused "inputs|not followed" krr.h5 external inputs svm.h5
refused "kernel|not followed" krr.h5 soft kernel /nowhere
refused "inputs/values|external storage" krr.h5 storage inputs/values k.npy
refused "inputs/values|virtual" krr.h5 virtual inputs/values svm.h5
for change in external storage virtual; do
    good 1 predict krr.h5 --x x.csv -o data.h5
    set=$("$DKMAP" info data.h5 | sed -n 's/.*data.h5:\/\([^ ]*\) .*/\1/p')
    cp data.h5 other.h5
    "$DKMAP_EDITOR" data.h5 "$change" "$set" other.h5 || fail "the editor cannot make $change"
    bad "data.h5|other file" gram --x data.h5 --kx linear -o made/k.npy
    bad "data.h5|other file" gram --x "data.h5:/$set" --kx linear -o made/k.npy
    good 1 info data.h5
    says out "other file" "info of a data file with $change"
done

# Kernels in files: beside the model or where the user says, and never the model itself.
good 2 fit krr --x x.csv --y y.csv --kx 'extend(q.h5)' --gamma 0.1 -o e.h5
good 3 predict e.h5 --x x.csv -o e.csv
mkdir apart kernels
cp e.h5 apart
bad "apart/e.h5|q.h5|--kernel-dir" predict apart/e.h5 --x x.csv -o made/p.npy
cp q.h5 kernels
good 3 predict apart/e.h5 --x x.csv --kernel-dir kernels -o apart.csv
cmp -s e.csv apart.csv || fail "--kernel-dir: another prediction"
refused "made.h5|in the file itself" krr.h5 text kernel 'extend(made.h5)'
refused "made.h5|in the file itself" krr.h5 text kernel "extend($PWD/made.h5)"
refused "made.h5|passwd|--kernel-dir" krr.h5 text kernel 'extend(/etc/passwd)'
refused "made.h5|q.h5|--kernel-dir" krr.h5 text kernel 'extend(apart/../kernels/none/q.h5x)'
spoilt krr.h5 text kernel 'extend(b.h5)'
mv made.h5 a.h5
spoilt krr.h5 text kernel 'extend(a.h5)'
mv made.h5 b.h5
bad "in the file itself" predict a.h5 --x x.csv -o made/p.npy
finish

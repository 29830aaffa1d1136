# shellcheck shell=bash
# Models that cli_export.sh and cli_onnxruntime.sh export, each with its inputs and what dkmap predicts
# for them. Sourced after common.sh.

# The kernels on rows of numbers, in a few sums so that a fit tries many of them.
export_kernels=(
    'rbf(sigma=1.5)'
    'sum(linear, poly(degree=3, c=1), expdot(sigma=3), cosine, tanimoto)'
    'sum(laplace(sigma=2), matern(nu=0.5, sigma=2), matern(nu=1.5, sigma=2), matern(nu=2.5, sigma=2), rq(alpha=0.7, sigma=1.3))'
    'sum(rbf(sigma=1;2;0.5;3), laplace(sigma=1;2;0.5;3), on(1;3, rbf(sigma=2)), on(0:2, linear))'
    'sum(product(linear, rbf(sigma=2)), scale(cosine, by=0.3), power(cosine, degree=2), exp(scale(linear, by=0.1)))'
    'sum(normalize(poly(degree=2, c=0)), normalize(exp(linear)), rbf(poly(degree=2, c=1), sigma=4), normalize(expdot(sigma=2)))'
)

# export_case NAME KIND PREDICT_OPTIONS...: export NAME.h5 in both formats, and predict NAME.truth.csv
# for new.csv; KIND is what `dkmap` calls that, predict or encode.
export_case() {
    local name=$1 kind=$2
    shift 2
    good 1 export "$name.h5" --c "$name.c" --onnx "$name.onnx" "${preimage[@]}"
    good 1 "$kind" "$name.h5" --x "${inputs:-new.csv}" -o "$name.truth.csv" "$@"
}

# make_export_cases: fit and predict all of them. Case names are left in `cases`.
make_export_cases() {
    local k
    preimage=()
    cases=()
    normal 60 4 1 | awk -F, -v OFS=, '{ print; if (NR == 7) print "0,0,0,0" }' >train.csv
    { normal 9 4 2; echo 0,0,0,0; head -2 train.csv; } >new.csv
    awk -F, -v OFS=, '{ print $1 * $2 + $3, sin($4) }' train.csv >y.csv
    awk -F, '{ print ($1 > 0.5 ? "a \"b\"" : $2 > 0 ? "c" : "d") }' train.csv >names.txt
    for k in "${!export_kernels[@]}"; do
        good 1 fit krr --x train.csv --y y.csv --kx "${export_kernels[k]}" --gamma 0.1 --center -o "kernel$k.h5"
        export_case "kernel$k" predict
        cases+=("kernel$k")
    done
    good 1 fit krr --x train.csv --y y.csv --kx linear --gamma 0.1 -o primal.h5
    export_case primal predict
    sed '3s/^[^,]*/nan/' train.csv >holes.csv
    sed '2s/^[^,]*/nan/' new.csv >new_holes.csv
    good 1 fit krr --x holes.csv --y y.csv --kx 'rbf(sigma=1)' --gamma 0.1 --standardize --missing median -o table.h5
    inputs=new_holes.csv export_case table predict
    good 1 fit kpca --x train.csv --kx 'poly(degree=2, c=1)' --components 3 -o pca.h5
    export_case pca encode
    good 1 fit kpca --x train.csv --kx 'rbf(sigma=2)' --components 3 --landmarks 20 -o few.h5
    export_case few encode
    good 1 fit kde --x train.csv --y y.csv --kx 'rbf(sigma=1)' --ky linear --components 2 --gamma 0.1 -o map.h5
    export_case map predict
    good 1 fit kde --x train.csv --y y.csv --kx 'rbf(sigma=1)' --ky 'rbf(sigma=1)' --components 4 --gamma 0.1 -o near.h5
    export_case near predict
    cases+=(primal table pca few map near)
}

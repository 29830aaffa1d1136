#!/usr/bin/env bash
# Proves the layers: a folder of src/ includes only from itself and from folders that come before it
# in the list, only src/linalg names the linear algebra libraries, src/cli includes public headers and
# its own alone, MPI_COMM_WORLD appears in src/cli/core/main.c alone, the library neither prints, exits
# nor aborts, communicators are derived in core/mpi_calls.c alone, no agreement hides inside an if, and
# no failure leaves a phase open; and that the walks of docs/theory/architecture.md name functions that
# are defined where they say.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# The order. A folder that is not named itself belongs to the longest beginning of its path that is.
# Pre-images are learned by ridge regression, and kpca and kde have pre-images: so preimage stands
# between the models. Folders on one line may include each other.
layers='
core
comm
matrix
linalg
data
io
kernels/evaluation
kernels/vector
kernels/discrete kernels/string kernels/graph kernels/combine kernels/precomputed
kernels/expression
kernels/gram
kernels/joint
solvers
search
models/registry
models/common
models/lle
models/features
models/krr
models/svm
preimage
models
export
selection/metrics selection/cluster selection/alignment
selection
cli'

# The folder that defines the functions of each public header.
headers='
core context machine random status types version
comm grid
matrix dmat
linalg bench
linalg/backend blas_memory
data arrays categories data
export export
io runlog
io/checkpoint checkpoint
io/describe describe
io/table table
io/montage montage
kernels/evaluation kernel kernel_callback
kernels/joint joint
solvers/eigen eigen psd
solvers/extrapolate extrapolate
solvers/landmarks landmarks
solvers/nystroem nystroem
solvers/ridge ridge
solvers/ridge_path ridge_path
solvers/svm svm_dual
models/extend complete extend
models/features features
models/hopfield hopfield
models/jkm jkm
models/kde kde
models/knn knn
models/kpca kpca
models/krr krr
models/lle lle
models/registry conformal estimate method model model_parts preimage report settings store update
models/svm svm
selection/alignment kernel_alignment
selection/cluster kmeans
selection/cv cv folds
selection/gram_eval gram_eval
selection/metrics score
cli dkmap extended'

declare -A place=() header_place=() header_folder=()
next=0
while read -r -a names; do
    for name in "${names[@]}"; do
        place[$name]=$next
    done
    next=$((next + 1))
done <<<"$layers"

# layer_of PATH: sets layer to the folder of the list that a path below src/ belongs to, or to "".
layer_of() {
    layer=${1%/*}
    while [ -z "${place[$layer]:-}" ]; do
        case $layer in
        */*) layer=${layer%/*} ;;
        *) layer='' && return ;;
        esac
    done
}

while read -r folder names; do
    [ -n "$folder" ] || continue
    layer_of "$folder/x"
    for name in $names; do
        header_place[$name]=${place[$layer]}
        header_folder[$name]=$layer
    done
done <<<"$headers"

# Every header that a file includes, as "quoted NAME" or "public NAME".
includes_of() { # FILE
    sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]+)".*/quoted \1/p
             s/^[[:space:]]*#[[:space:]]*include[[:space:]]*<dkmap\/([^>]+)\.h>.*/public \1/p' "$1"
}

# check_reach FILE LAYER PLACE: what FILE, a part of LAYER, includes must not come after LAYER.
check_reach() {
    local kind name other
    while read -r kind name; do
        if [ "$kind" = public ]; then
            other=${header_place[$name]:-} layer=${header_folder[$name]:-}
        else
            layer_of "$name"
            other=${place[$layer]:-}
        fi
        if [ -z "$other" ]; then
            echo "$1: no layer for the $kind header $name"
        elif [ "$other" -gt "$3" ]; then
            echo "$1: layer $2 reaches down to $layer for $name"
        elif [ "$2 $kind" = "cli quoted" ] && [ "$layer" != cli ]; then
            echo "$1: src/cli includes \"$name\", which is not public"
        fi
    done < <(includes_of "$1")
}

# lines PATTERN FILE: lines of code (not comments) that match.
lines() {
    grep -nHE -- "$1" "$2" | grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/?\*|//)'
}

algebra='\b(cblas_[a-z]|LAPACKE_|C?blacs_|elpa_|openblas_|numroc_|descinit_)|\bp?[sdcz][a-z0-9]{3,7}_ *\('
speaking='\b(printf|puts|putchar|perror|exit|_exit|abort|MPI_Abort) *\('
careless='\b(atoi|atol|atof|sprintf|strcpy|strcat|gets|system|popen|rand|srand) *\('
careless+='|\bMPI_Reduce *\([^;]*MPI_IN_PLACE' # MPICH 4.0 crashes where the root is not rank 0

# branches FILE: agreements on a failure inside an if, which some ranks may never reach: DKM_REQUIRE
# is for that.
branches() {
    awk '{
        line = $0
        sub(/^[[:space:]]+/, "", line)
        if (inside && after_if && (pending line) ~ /(DKM_AGREE|dkm_agree)\([^,;]*,[[:space:]]*dkm_(fail|error_user)\(/)
            print FILENAME ":" FNR ": an agreement inside an if: " pending line
        if (line ~ /^(return |status = )?(DKM_AGREE|dkm_agree)\([^;]*,$/) {
            pending = line " "
            inside = 1
            next
        }
        inside = 0
        pending = ""
        if (after_if && line ~ /(DKM_AGREE|dkm_agree)\([^,;]*,[[:space:]]*dkm_(fail|error_user)\(/)
            print FILENAME ":" FNR ": an agreement inside an if: " line
        if (line ~ /^((\} )?else )?if \(/ || (after_if && !ended))
            after_if = 1
        else
            after_if = 0
        ended = line ~ /[)]( \{)?$/ || line ~ /;$/
        if (line ~ /;$/ || line == "}")
            after_if = 0
    }' "$1"
}

# phases FILE: a jump between the begin and the end of a phase must lead to an `out:` before its end.
phases() {
    awk '/^}/ { if (begun) print FILENAME ":" begun ": a phase that is not ended"; begun = jump = 0 }
        /dkm_phase_begin *\(/ { begun = FNR; jump = 0; next }
        /^out:/ { jump = 0 }
        begun && /dkm_phase_end *\(/ {
            if (jump)
                print FILENAME ":" jump ": leaves a phase open on failure"
            begun = jump = 0
        }
        begun && !jump && /DKM_TRY|DKM_AGREE|[ \t](return|goto)[ ;]/ { jump = FNR }' "$1"
}

check_source() { # FILE
    local path=${1##*src/} own
    layer_of "$path"
    if [ -z "$layer" ]; then
        echo "$1: its folder is in no layer"
        return
    fi
    own=$layer
    check_reach "$1" "$own" "${place[$own]}"
    [ -n "${suspect[$1]:-}" ] || return
    [ "$own" = linalg ] || lines "$algebra" "$1"
    [ "$own" = cli ] || lines "$speaking" "$1"
    [ "$path" = cli/core/main.c ] || lines 'MPI_COMM_WORLD' "$1"
    lines "$careless" "$1"
    [ "$own" = cli ] || [ "$path" = core/mpi_calls.c ] || lines 'MPI_Comm_(split|dup|create)[a-z_]* *\(' "$1"
    branches "$1"
    [ "$path" = core/profile.c ] || phases "$1"
}

check_header() { # FILE
    local name=${1##*include/dkmap/}
    name=${name%.h}
    if [ -z "${header_place[$name]:-}" ]; then
        echo "$1: which layer has it? The list of headers does not say"
    else
        check_reach "$1" "${header_folder[$name]}" "${header_place[$name]}"
    fi
}

violations() { # FILES...
    local file
    declare -A suspect=() # files that a rule other than that of includes may be about
    while read -r file; do
        suspect[$file]=1
    done < <(grep -lE "$algebra|$speaking|$careless|MPI_COMM_WORLD|MPI_Comm_|dkm_phase_begin|(DKM_AGREE|dkm_agree)\(" "$@")
    for file in "$@"; do
        case $file in
        */include/*) check_header "$file" ;;
        *) check_source "$file" ;;
        esac
    done
}

shopt -s nullglob globstar
found=$(violations "$DKMAP_SOURCE"/src/**/*.c "$DKMAP_SOURCE"/src/**/*.h \
    "$DKMAP_SOURCE"/src/**/*.inc "$DKMAP_SOURCE"/include/dkmap/**/*.h)
[ -z "$found" ] || fail "$found"

# Headers can be included together: no two have the same guard, and no type is defined twice.
clashes() { # DIRECTORY
    cat "$1"/src/**/*.h "$1"/include/dkmap/**/*.h | sed -nE 's/^#ifndef (DKMAP_[A-Z0-9_]+_H)$/\1/p
        s/^(typedef )?(struct|enum|union) (dkm_[a-z0-9_]+) \{.*/\3/p' | sort | uniq -d
}
found=$(clashes "$DKMAP_SOURCE")
[ -z "$found" ] || fail "in two headers: $found"
mkdir -p twins/src/data twins/src/models
printf '#ifndef DKMAP_TWIN_H\ntypedef struct dkm_a {\n' >twins/src/data/twin.h
printf '#ifndef DKMAP_OTHER_TWIN_H\ntypedef enum dkm_b {\n' >twins/src/models/twin.h
[ -z "$(clashes twins)" ] || fail "blamed for nothing: $(clashes twins)"
printf '#ifndef DKMAP_TWIN_H\ntypedef enum dkm_a {\n' >>twins/src/models/twin.h
[ "$(clashes twins | wc -l)" = 2 ] || fail "not found out: a guard and a type in two headers"

# offend FILE LINE: a file with that line must be found out, and without it must not.
offend() {
    mkdir -p "tree/${1%/*}"
    printf '#include <stdio.h>\n/* calls printf(), exit() on MPI_COMM_WORLD */\n' >"tree/$1"
    [ -z "$(violations "tree/$1")" ] || fail "reported without a cause: $1"
    printf '%s\n' "$2" >>"tree/$1"
    [ -n "$(violations "tree/$1")" ] || fail "not found out: $1 with $2"
}

offend src/core/made_up.c '#include "kernels/evaluation/kernel_impl.h"'
offend src/data/made_up.h '#include <dkmap/krr.h>'
offend src/data/made_up.c '#  include <dkmap/no_such_header.h>'
offend src/kernels/vector/made_up.c '#include "kernels/gram/gram.h"'
offend src/kernels/vector/made_up.c '    dgemm_(a, b);'
offend src/solvers/ridge/made_up.c '    Cblacs_gridinit(&context, order, P, Q);'
offend src/models/krr/made_up.c '#include "preimage/preimage.h"'
offend src/models/kde/made_up.c '    pdpotrf_(uplo, &n, a);'
offend src/selection/cv/made_up.c '    MPI_Comm comm = MPI_COMM_WORLD;'
offend src/cli/commands/cmd_made_up.c '#include "core/alloc.h"'
offend src/cli/commands/cmd_made_up.c '    int size = atoi(argv[1]);'
offend src/io/made_up.c '    MPI_Reduce(root ? MPI_IN_PLACE : part, part, n, MPI_DOUBLE, MPI_SUM, owner,'
offend src/io/made_up.c '    printf("hello\n");'
offend src/comm/made_up.c '    exit(1);'
offend src/solvers/ridge/made_up.c '    dkm_phase_begin(ctx, "a"); /* and no end */
}'
offend src/cli/commands/cmd_made_up.c '    dkm_phase_begin(ctx, "a");
    DKM_TRY(step());
    dkm_phase_end(ctx);
out:
}'
offend include/dkmap/dmat.h '#include <dkmap/model.h>'
offend src/solvers/ridge/made_up.c '    if (!(gamma > 0))
        DKM_AGREE(ctx, dkm_fail(ctx, DKM_ERR_ARG, "gamma"));'
offend src/solvers/ridge/made_up.c '    if (!(gamma > 0) ||
        gamma > 9) {
        return dkm_agree(ctx,
                         dkm_fail(ctx, DKM_ERR_ARG, "gamma"));'
offend src/comm/made_up.c '    MPI_Comm_split(comm, 0, 0, &part);'
# strays PAGE: functions that a walk of the page, its rows of number, name and file, has in a file that does not
# define them. The command's functions are static; definitions begin a line.
# shellcheck disable=SC2016
strays() {
    local name file
    while read -r name file; do
        grep -qE "^(static )?[a-z_]+ \\*?$name\\(" "$DKMAP_SOURCE/src/$file" 2>/dev/null || echo "$name is not in $file"
    done < <(sed -nE 's/^\| [0-9]+ \| `([a-z0-9_]+)` \| `([^`]+)` \|.*/\1 \2/p' "$1")
}
page=$DKMAP_SOURCE/docs/theory/architecture.md
# shellcheck disable=SC2016
[ "$(grep -cE '^\| [0-9]+ \| `[a-z0-9_]+` \|' "$page")" -ge 40 ] || fail "four walks of ten functions in $page"
found=$(strays "$page")
[ -z "$found" ] || fail "$found"
# shellcheck disable=SC2016
printf '| 1 | `cmd_fit` | `cli/commands/cmd_fit.c` |\n| 2 | `cmd_fit` | `cli/core/run.c` |\n' >walk.md
[ "$(strays walk.md)" = "cmd_fit is not in cli/core/run.c" ] || fail "not found out: a walk that strays"

mkdir -p tree/src/annex
echo 'int x;' >tree/src/annex/made_up.c
[ -n "$(violations tree/src/annex/made_up.c)" ] || fail "not found out: a folder in no layer"
finish

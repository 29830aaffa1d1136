#!/usr/bin/env bash
# Proves the layers: a room of src/ includes only from itself and the rooms above it in the list,
# only src/scalapack names the linear algebra libraries, src/cli includes public headers alone,
# MPI_COMM_WORLD appears in src/cli/main.c alone, the library neither prints, exits nor aborts,
# communicators are derived in core/mpi_calls.c alone, no agreement hides inside an if, and no failure
# leaves a phase open.
# shellcheck source=mpi_tests/common.sh
. "${BASH_SOURCE%/*}/common.sh"

# A public header belongs to the lowest room with a source file of its name, or is named here.
declare -A place=() room_of=([types]=core [store]=store [dkmap]=cli)
next=0
for room in core grid dmat scalapack data kernel solve model select store cli; do
    place[$room]=$next
    next=$((next + 1))
    [ "$room" = cli ] && break
    for file in "$DKMAP_SOURCE/src/$room"/*.c; do
        name=${file##*/}
        room_of[${name%.c}]=$room
    done
done

# Every header that a file includes, as "quoted NAME" or "public NAME".
includes_of() { # FILE
    sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]+)".*/quoted \1/p
             s/^[[:space:]]*#[[:space:]]*include[[:space:]]*<dkmap\/([^>]+)\.h>.*/public \1/p' "$1"
}

# check_reach FILE ROOM: what FILE, a part of ROOM, includes must not lie below ROOM.
check_reach() {
    local kind name other
    while read -r kind name; do
        case $kind-$name in
        public-*) other=${room_of[$name]:-unknown} ;;
        quoted-*/*) other=${name%%/*} ;;
        *) other=$2 ;;
        esac
        if [ -z "${place[$other]:-}" ]; then
            echo "$1: no room for the $kind header $name"
        elif [ "${place[$other]}" -gt "${place[$2]}" ]; then
            echo "$1: room $2 reaches down to $other for $name"
        elif [ "$2 $kind" = "cli quoted" ] && [ "$name" != "${name#*/}" ]; then
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

# branches FILE: agreements on a failure inside an if, which some ranks may never reach: DKM_REQUIRE
# is for that.
branches() {
    awk '{
        line = $0
        sub(/^[[:space:]]+/, "", line)
        if (inside && after_if && (pending line) ~ /(DKM_AGREE|dkm_agree)\([^,;]*,[[:space:]]*dkm_(fail|refuse)\(/)
            print FILENAME ":" FNR ": an agreement inside an if: " pending line
        if (line ~ /^(return |status = )?(DKM_AGREE|dkm_agree)\([^;]*,$/) {
            pending = line " "
            inside = 1
            next
        }
        inside = 0
        pending = ""
        if (after_if && line ~ /(DKM_AGREE|dkm_agree)\([^,;]*,[[:space:]]*dkm_(fail|refuse)\(/)
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
    local room=${1%/*}
    room=${room##*/}
    if [ -z "${place[$room]:-}" ]; then
        echo "$1: there is no room $room"
        return
    fi
    check_reach "$1" "$room"
    [ "$room" = scalapack ] || lines "$algebra" "$1"
    [ "$room" = cli ] || lines "$speaking" "$1"
    [ "$room/${1##*/}" = cli/main.c ] || lines 'MPI_COMM_WORLD' "$1"
    lines "$careless" "$1"
    [ "$room" = cli ] || lines 'MPI_Comm_(split|dup|create)[a-z_]* *\(' "$1" | grep -v '/core/mpi_calls.c:'
    branches "$1"
    [ "$room/${1##*/}" = core/phase.c ] || phases "$1"
}

check_header() { # FILE
    local name=${1##*/}
    name=${name%.h}
    if [ -z "${room_of[$name]:-}" ]; then
        echo "$1: which room has it? No source file is called after it"
    else
        check_reach "$1" "${room_of[$name]}"
    fi
}

violations() { # FILES...
    local file
    for file in "$@"; do
        case $file in
        */include/*) check_header "$file" ;;
        *) check_source "$file" ;;
        esac
    done
}

shopt -s nullglob
found=$(violations "$DKMAP_SOURCE"/src/*/*.c "$DKMAP_SOURCE"/src/*/*.h \
    "$DKMAP_SOURCE"/src/*/*.inc "$DKMAP_SOURCE"/include/dkmap/*.h)
[ -z "$found" ] || fail "$found"

# Headers can be included together: no two have the same guard, and no type is defined twice.
clashes() { # DIRECTORY
    cat "$1"/src/*/*.h "$1"/include/dkmap/*.h | sed -nE 's/^#ifndef (DKMAP_[A-Z0-9_]+_H)$/\1/p
        s/^(typedef )?(struct|enum|union) (dkm_[a-z0-9_]+) \{.*/\3/p' | sort | uniq -d
}
found=$(clashes "$DKMAP_SOURCE")
[ -z "$found" ] || fail "in two headers: $found"
mkdir -p twins/src/data twins/src/model
printf '#ifndef DKMAP_TWIN_H\ntypedef struct dkm_a {\n' >twins/src/data/twin.h
printf '#ifndef DKMAP_OTHER_TWIN_H\ntypedef enum dkm_b {\n' >twins/src/model/twin.h
[ -z "$(clashes twins)" ] || fail "blamed for nothing: $(clashes twins)"
printf '#ifndef DKMAP_TWIN_H\ntypedef enum dkm_a {\n' >>twins/src/model/twin.h
[ "$(clashes twins | wc -l)" = 2 ] || fail "not found out: a guard and a type in two headers"

# offend FILE LINE: a file with that line must be found out, and without it must not.
offend() {
    mkdir -p "tree/${1%/*}"
    printf '#include <stdio.h>\n/* calls printf(), exit() on MPI_COMM_WORLD */\n' >"tree/$1"
    [ -z "$(violations "tree/$1")" ] || fail "blamed for nothing: $1"
    printf '%s\n' "$2" >>"tree/$1"
    [ -n "$(violations "tree/$1")" ] || fail "not found out: $1 with $2"
}

offend src/core/made_up.c '#include "kernel/kernel_impl.h"'
offend src/data/made_up.h '#include <dkmap/krr.h>'
offend src/data/made_up.c '#  include <dkmap/no_such_header.h>'
offend src/kernel/made_up.c '    dgemm_(a, b);'
offend src/solve/made_up.c '    Cblacs_gridinit(&context, order, P, Q);'
offend src/model/made_up.c '    pdpotrf_(uplo, &n, a);'
offend src/select/made_up.c '    MPI_Comm comm = MPI_COMM_WORLD;'
offend src/cli/cmd_made_up.c '#include "core/alloc.h"'
offend src/cli/cmd_made_up.c '    int size = atoi(argv[1]);'
offend src/store/made_up.c '    printf("hello\n");'
offend src/grid/made_up.c '    exit(1);'
offend src/solve/made_up.c '    dkm_phase_begin(ctx, "a"); /* and no end */
}'
offend src/cli/cmd_made_up.c '    dkm_phase_begin(ctx, "a");
    DKM_TRY(step());
    dkm_phase_end(ctx);
out:
}'
offend include/dkmap/dmat.h '#include <dkmap/model.h>'
offend src/solve/made_up.c '    if (!(gamma > 0))
        DKM_AGREE(ctx, dkm_fail(ctx, DKM_ERR_ARG, "gamma"));'
offend src/solve/made_up.c '    if (!(gamma > 0) ||
        gamma > 9) {
        return dkm_agree(ctx,
                         dkm_fail(ctx, DKM_ERR_ARG, "gamma"));'
offend src/grid/made_up.c '    MPI_Comm_split(comm, 0, 0, &part);'
mkdir -p tree/src/annex
echo 'int x;' >tree/src/annex/made_up.c
[ -n "$(violations tree/src/annex/made_up.c)" ] || fail "not found out: a new room"
finish

#!/usr/bin/env bash
# The public interface: the library exports what public headers declare and nothing else, each header
# stands alone in C and in C++, and the version is the same everywhere.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

headers=("$DKMAP_SOURCE"/include/dkmap/*.h)

for header in "${headers[@]}"; do
    case ${header##*/} in
    dkmap.h | extended.h | types.h) continue ;;
    esac
    [ "$(grep -cE '^DKM_API_(BEGIN|END)$' "$header")" = 2 ] ||
        fail "$header: DKM_API_BEGIN and DKM_API_END must enclose what it declares"
done

# Every name that a public header declares: functions and data.
cat "${headers[@]}" | grep -oE '\bdkm_[a-z0-9_]+' | sort -u >declared
library=$DKMAP_BUILD/libdkmap.so
if [ -e "$library" ]; then
    # The locks of OpenMP are common to a program.
    nm -D --defined-only "$library" | awk '$3 !~ /^\.gomp_critical_/ { print $3 }' | sort -u >exported
    unexpected=$(comm -23 exported declared)
    [ -z "$unexpected" ] || fail "exported, and in no public header: $unexpected"
    grep -qx dkm_krr_fit exported || fail "dkm_krr_fit is not exported"
    ! grep -qx dkm_objs_init exported || fail "dkm_objs_init, which is internal, is exported"
fi

# compile COMPILER STANDARD NAME: a program that includes one header twice.
compile() {
    # shellcheck disable=SC2086
    ${MPI_COMPILER:-$1} $2 -Wall -Wextra -Wpedantic -I"$DKMAP_SOURCE/include" -c "$3" -o one.o 2>err ||
        fail "$3: $(head -5 err)"
    ! grep "$DKMAP_SOURCE/include.*warning" err || fail "$3: warnings"
}

for header in "${headers[@]}"; do
    name=dkmap/${header##*/}
    printf '#include <%s>\n#include <%s>\nint main(void) { return 0; }\n' "$name" "$name" >one.c
    compile mpicc -std=c11 one.c
done
if command -v mpicxx >/dev/null; then
    for header in "${headers[@]}"; do
        printf '#include <dkmap/%s>\n' "${header##*/}"
    done >one.cpp
    cat >>one.cpp <<'C'
#include <cstring>
int main()
{
    return std::strcmp(dkm_version(), DKMAP_VERSION) || dkm_version_number() != DKM_VERSION_NUMBER;
}
C
    compile mpicxx -std=c++11 one.cpp
    if [ -e "$library" ]; then
        mpicxx one.o -o one -L"$DKMAP_BUILD" -ldkmap -Wl,-rpath,"$DKMAP_BUILD" 2>err ||
            fail "a C++ program does not link: $(head -3 err)"
        ./one || fail "the library is of another version than its headers"
    fi
fi

version=$("$DKMAP" --version) || fail "no version"
number=$(sed -nE 's/^#define DKM_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+)$/\2/p' \
    "$DKMAP_SOURCE/include/dkmap/version.h" | paste -sd.)
case $version in
"dkmap $number"*) ;;
*) fail "--version says '$version', the header $number" ;;
esac
finish

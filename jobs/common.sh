# What the other scripts of this folder share. Sourced, not run.
# Sets: root (the project's folder), build (where it is built), launch (how to start ranks).

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${DKMAP_BUILD:-$root/build}
packages="gcc make cmake pkg-config libopenmpi-dev openmpi-bin libscalapack-openmpi-dev
libopenblas-dev libelpa-dev libhdf5-openmpi-dev zlib1g-dev libjansson-dev"

fail() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# install_packages NAME...: those Debian packages that are not there yet
install_packages() {
    local missing=() name admin=()
    command -v dpkg-query >/dev/null ||
        { echo "${0##*/}: not a Debian system: taking for granted that $* are there"; return 0; }
    for name in "$@"; do
        dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null ||
            fail "missing packages, and neither root nor sudo to install them: ${missing[*]}"
        admin=(sudo)
    fi
    echo "Installing ${missing[*]}"
    { "${admin[@]}" apt-get update -qq &&
        "${admin[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >/dev/null ||
        fail "could not install ${missing[*]}: see the lines above"
}

# build_dkmap [CMAKE OPTION...]: configure and compile, quietly unless something is wrong
build_dkmap() {
    local log
    mkdir -p "$build"
    log=$build/build.log
    echo "Building in $build"
    { cmake -S "$root" -B "$build" "$@" && cmake --build "$build" --parallel "$(nproc)"; } >"$log" 2>&1 ||
        { tail -n 20 "$log" >&2; fail "the build failed: the whole log is $log"; }
}

export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
[ "$(id -u)" = 0 ] && export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
launch=${DKMAP_LAUNCH:-mpirun --oversubscribe --bind-to none --mca pml ob1 --mca btl self,vader,tcp --mca mpi_yield_when_idle 1}

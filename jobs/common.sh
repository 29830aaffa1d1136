# shellcheck shell=bash disable=SC2034
# What the other scripts of this folder share. Sourced, not run.
# Sets: root (the project's folder), build (where it is built), packages (what building needs on
# Debian), python_packages (what the Python package and its tests need), launch (how ranks are started).
# Heeds: DKMAP_BUILD (another folder to build in), DKMAP_LAUNCH (another launcher, such as "srun").

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${DKMAP_BUILD:-$root/build}
packages="gcc make cmake pkg-config libopenmpi-dev openmpi-bin libscalapack-openmpi-dev
libopenblas-dev libelpa-dev libhdf5-openmpi-dev zlib1g-dev libpng-dev libsvm-dev
libjansson-dev libparasail-dev libyaml-dev gnuplot-nox libnlopt-dev"
python_packages="python3-numpy python3-scipy python3-mpi4py python3-sklearn python3-pandas
python3-h5py python3-pytest"

# cores: how many there are, whatever OMP_NUM_THREADS says
cores() {
    env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc
}

fail() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# find_dkmap: the program that was built here, else the one in PATH; DKMAP names another
find_dkmap() {
    if [ -n "${DKMAP:-}" ]; then
        echo "$DKMAP"
    elif [ -x "$build/dkmap" ]; then
        echo "$build/dkmap"
    else
        command -v dkmap || fail "no dkmap: neither $(short "$build")/dkmap nor one in PATH; DKMAP names another"
    fi
}

# short PATH: as someone in the current folder would type it
short() {
    echo "${1#"$PWD"/}"
}

# explain: the comment at the top of the script that was started, from its second line on
explain() {
    sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"
}

# read_options "NAME ..." "$@": an option --NAME VALUE sets the variable NAME, which has _ for each - of the option;
# --help explains the script
read_options() {
    local names=" $1 " name
    shift
    while [ $# -gt 0 ]; do
        case $1 in
        -h | --help)
            explain
            exit
            ;;
        esac
        [[ $1 == --* && $names == *" ${1#--} "* ]] || fail "unknown option '$1'; see --help"
        [ $# -gt 1 ] || fail "$1 needs a value; see --help"
        name=${1#--}
        printf -v "${name//-/_}" '%s' "$2"
        shift 2
    done
}

# need FILE...: files of the folder of data sets, which is $data
need() {
    local file
    [ -n "${data:-}" ] || fail "name the folder of the data sets with --data or DKMAP_DATA"
    for file in "$@"; do
        [ -r "$data/$file" ] || fail "no $data/$file: see --help for where it is from"
    done
}

# run_dkmap LOG ARGUMENTS...: the command on $ranks ranks; what it reports goes to LOG, where `reported` looks
run_dkmap() {
    local start=()
    last=$1
    shift
    # shellcheck disable=SC2206
    [ "${ranks:-1}" = 1 ] || start=($launch -np "$ranks")
    "${start[@]}" "$build/dkmap" "$@" --quiet >"$last" 2>&1 </dev/null ||
        fail "dkmap $*: $(grep ^dkmap "$last" | head -n 2)"
}

# crowded OUT ERR COMMAND...: a run of many ranks on few cores. A rank that ends well waits a few seconds for
# mpirun to answer (PMIx_Finalize), and mpirun says that it "exited improperly" where it got no turn on a core
# meanwhile (Open MPI 4, its issue 9389): the output is there then and right, and mpirun's status is 1. Such a run
# is repeated, twice at most.
crowded() {
    local out=$1 err=$2 turn
    shift 2
    for turn in 1 2 3; do
        "$@" >"$out" 2>"$err" && return
        if grep -q '^dkmap: ' "$err" || ! grep -q 'exiting improperly' "$err"; then break; fi
        echo "${0##*/}: try $turn: mpirun says a rank exited improperly" >&2
    done
    return 1
}

# reported NAME [LOG]: a value of the last run, or of the one with that log
reported() {
    awk -v name="$1" '$1 == name { print $2; exit }' "${2:-$last}"
}

# missing_packages NAME...: those Debian packages that are not there; all is well elsewhere
missing_packages() {
    local name
    command -v dpkg-query >/dev/null || return 0
    for name in "$@"; do
        dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || echo "$name"
    done
}

# install_packages NAME...: those Debian packages that are not there yet
install_packages() {
    local missing admin=() log
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null ||
            fail "packages are missing, with neither root nor sudo to install them: ${missing[*]}"
        admin=(sudo)
    fi
    echo "Installing with apt-get: ${missing[*]}"
    log=$(mktemp)
    { "${admin[@]}" apt-get update -q || echo "apt-get update failed: trying with what is known"
        "${admin[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -q --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 ||
        { grep -E '^[EW]:' "$log" >&2 || tail -n 5 "$log" >&2
            fail "could not install ${missing[*]}: the whole log is $log"; }
    rm -f "$log"
}

# build_dkmap TARGET [CMAKE OPTION...]: configure and compile, quietly unless something is wrong
build_dkmap() {
    local target=$1 log=$build/build.log
    shift
    mkdir -p "$build" || fail "cannot make the folder $build"
    echo "Building in $(short "$build")"
    { cmake -S "$root" -B "$build" "$@" &&
        cmake --build "$build" --target "$target" --parallel "$(cores)"; } >"$log" 2>&1 ||
        { grep -E -A 3 'CMake Error|error:' "$log" >&2 || tail -n 20 "$log" >&2
            fail "the build failed: the whole log is $log"; }
    choose_launch
}

# choose_launch: how ranks are started. A build knows its MPI; an installed command is started by the
# mpirun of the path. Ranks may share cores here: they are not bound to any, and give way while they wait.
choose_launch() {
    launch=${DKMAP_LAUNCH:-}
    [ -z "$launch" ] || return 0
    if [ -r "$build/launch" ]; then
        read -r launch <"$build/launch"
    elif mpirun --version 2>&1 | grep -qi 'hydra\|mpich'; then
        launch="mpirun -genv MPIR_CVAR_POLLS_BEFORE_YIELD 1"
    else
        launch="mpirun --oversubscribe --bind-to none --mca pml ob1 --mca btl self,vader,tcp --mca mpi_yield_when_idle 1"
    fi
}

# beside_sklearn SCRIPT THREADS ARGUMENTS...: run a python script of jobs/compare with a built dkmap,
# scikit-learn on so many threads (empty: all cores); tells that it is skipped where that is missing.
# The system's own python: another one earlier on the path would not see Debian's packages.
beside_sklearn() {
    local script=$1 threads=$2 python=/usr/bin/python3
    shift 2
    case " $* " in *" --help "* | *" -h "*)
        explain
        exit
        ;;
    esac
    if ! "$python" -c 'import numpy, sklearn' 2>/dev/null; then
        echo "Skipped: no scikit-learn for $python. On Debian: apt-get install python3-sklearn python3-numpy"
        exit 0
    fi
    # shellcheck disable=SC2086
    install_packages $packages
    build_dkmap dkmap_command
    unset OMP_NUM_THREADS
    [ -z "$threads" ] || export OMP_NUM_THREADS=$threads OPENBLAS_NUM_THREADS=$threads
    DKMAP=$build/dkmap DKMAP_LAUNCH=$launch exec "$python" "$root/jobs/compare/$script" "$@"
}

export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
if [ "$(id -u)" = 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
choose_launch

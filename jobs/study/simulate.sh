#!/usr/bin/env bash
# Fits on simulated nodes: the distributed parts of dkmap, compiled for SimGrid's SMPI, with their products
# timed by a calibration instead of computed. Writes the records of a run: seconds, bytes and messages by
# phase. SIMULATED TIMES ARE NO MEASUREMENTS: caches, memory buses, noise and other users are not in them.
#
#   jobs/study/simulate.sh METHOD --ranks 16,64,256 --n 8192 --record FILE [OPTION...]
#   jobs/study/simulate.sh krr --weak 2048 --ranks 16,64,256 --record weak.jsonl
#
# METHOD: krr (Gram matrix, Cholesky factor and solves of one fit in double), pcg (the same by conjugate
# gradients with landmarks), kpca (block Lanczos), kde, jkm (the cutting-plane loop), factor (Cholesky, and
# one solve), product (K V).
#   --ranks LIST         ranks to simulate, in turn
#   --n N                rows; or --weak L: L sqrt(ranks) of them, so that every rank has L x L numbers of K
#   --d N --outputs N --components N --landmarks N --iterations N --block N     as for dkmap; 0 chooses
#   --sample N           of the factor only N panels of 256 columns at each of three places, 6 say, from which the time
#                        of all follows (jobs/study/simulate/sample.c); 0 simulates all (0)
#   --rates FILE         a calibration file of `dkmap bench calibrate`; else of one rank of this machine
#   --record FILE        one JSON line per rank count is appended to it
#   --cores N            of a node (32)          --bandwidth GBPS  of a node's link, in Gb/s (100)
#   --latency US         end to end (1.5)        --overhead US     of a call that sends or receives (0.3)
#   --memory-bandwidth GB  of a copy within a node, in GB/s (8)    --leaf N  nodes below a switch (16)
#   --build DIR          where to compile (build/simulate)
# Needs Debian's libsimgrid-dev, libopenblas-dev, libjansson-dev, libparasail-dev and libsvm-dev; exits with
# 77 where SimGrid is not installed.
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "$0")/../common.sh"

usage() {
    echo "${0##*/}: $*" >&2
    explain >&2
    exit 2
}

case ${1:-} in
-h | --help) explain && exit ;;
krr | pcg | kpca | kde | jkm | factor | product) method=$1 ;;
*) usage "give a method: krr, pcg, kpca, kde, jkm, factor or product" ;;
esac
shift
ranks='' n='' weak='' rates='' record='' cores=32 bandwidth=100 latency=1.5 overhead=0.3 copy=8 leaf=16
into=$build/simulate sizes=()
while [ $# -gt 0 ]; do
    [ $# -gt 1 ] || usage "$1 needs a value"
    case $1 in
    --ranks) ranks=$2 ;;
    --n) n=$2 ;;
    --weak) weak=$2 ;;
    --rates) rates=$2 ;;
    --record) record=$2 ;;
    --cores) cores=$2 ;;
    --bandwidth) bandwidth=$2 ;;
    --latency) latency=$2 ;;
    --overhead) overhead=$2 ;;
    --memory-bandwidth) copy=$2 ;;
    --leaf) leaf=$2 ;;
    --build) into=$2 ;;
    --d | --outputs | --components | --landmarks | --iterations | --block | --sample) sizes+=("${1#--}=$2") ;;
    *) usage "unknown option $1" ;;
    esac
    case $1 in --rates | --record | --build | --ranks) ;; *)
        [[ $2 =~ ^[0-9]+(\.[0-9]+)?$ ]] || usage "$1 $2 is not a number"
        ;;
    esac
    shift 2
done
[[ $ranks =~ ^[1-9][0-9]*(,[1-9][0-9]*)*$ ]] || usage "give --ranks, such as 16,64"
[ -n "$record" ] || usage "give --record FILE"
case ${n:+n}${weak:+weak} in n | weak) ;; *) usage "give --n or --weak" ;; esac
if ! command -v smpicc >/dev/null || ! command -v smpirun >/dev/null; then
    echo "Skipped: SimGrid is not installed. On Debian: apt-get install libsimgrid-dev" >&2
    exit 77
fi

# ---- compile ----
here=$root/jobs/study/simulate
# Functions that the ones of jobs/study/simulate are put before.
wrapped="dkm_alloc_at dkm_calloc_at dkm_free_block dkm_blas_gemm dkm_blas_syrk dkm_blas_trsm_right
dkm_blas_potrf dkm_ts_kernels_baseline dkm_map_gauss dkm_symm_apply dkm_symm_apply_again dkm_symm_multivec
dkm_la_potrs_multivec dkm_la_syrk PMPI_Wtime PMPI_Send PMPI_Isend PMPI_Recv PMPI_Irecv PMPI_Bcast
PMPI_Alltoallv PMPI_Waitsome PMPI_Testsome dkm_la_potrf_from
dkm_potrf_ws_open dkm_bcast_start"

# shellcheck disable=SC2016
# write_makefile: one object per source of the library, without those that read files; of the vector kernels
# (src/core/simd.h) the plainest, as they are timed by the calibration.
write_makefile() {
    local flags source object sources
    flags="-std=c11 -O2 -fno-math-errno -fno-trapping-math -D_POSIX_C_SOURCE=200809L -DDKMAP_SIMULATE -DDKMAP_SIMD_LEVEL=baseline
        -I$root/include -I$root/src -I$here -ffunction-sections -fdata-sections -isystem /usr/include/libsvm
        -MMD -MP -Wno-all"
    sources=$(cd "$root/src" && find core comm matrix linalg data kernels solvers search models preimage \
        -name '*.c' | sort
        echo io/runlog.c io/path.c io/archive/archive.c io/archive/matrix_entry.c \
            io/archive/timestamp.c io/checkpoint/checkpointer.c io/checkpoint/state_table.c cli/profile/mpi_profiler.c)
    echo "FLAGS = ${flags//$'\n'/ }"
    # shellcheck disable=SC2086
    echo "WRAP =$(printf ' -Wl,--wrap=%s' $wrapped)"
    echo "LIBS = -Wl,-Bsymbolic -lopenblas -ljansson -lparasail -lsvm -lm"
    # shellcheck disable=SC2086
    echo "OBJECTS =$(printf ' %s' $sources | sed 's|/|_|g; s|[.]c|.o|g') fits.o work.o memory.o messages.o sample.o"
    # What the fits do not reach, files and ScaLAPACK among it, becomes functions that say so.
    printf '%s\n' 'fits: $(OBJECTS) Makefile' \
        '	@smpicc -o $@ $(OBJECTS) -Wl,--gc-sections $(WRAP) $(LIBS) 2>link.log || true' \
        "	@sed -n \"s/.*undefined reference to .\\([A-Za-z0-9_]*\\)'.*/REACHED(\\1)/p\" link.log | sort -u >missing.inc" \
        '	@smpicc $(FLAGS) -I. -c '"$here"'/unreached.c -o unreached.o' \
        '	smpicc -o $@ $(OBJECTS) unreached.o -Wl,--gc-sections $(WRAP) $(LIBS)'
    for source in $sources; do
        object=${source//\//_}
        printf '%s: %s %s\n\tsmpicc $(FLAGS) -include %s -c $< -o $@\n' "${object%.c}.o" \
            "$root/src/$source" "$here/shared_copy.h" "$here/shared_copy.h"
    done
    echo '-include *.d'
    for source in fits work memory messages sample; do
        printf '%s.o: %s %s\n\tsmpicc $(FLAGS) -Werror=incompatible-pointer-types -c $< -o $@\n' "$source" \
            "$here/$source.c" "$here/simulate.h"
    done
}

mkdir -p "$into"
into=$(cd "$into" && pwd)
write_makefile >"$into/Makefile.new"
cmp -s "$into/Makefile.new" "$into/Makefile" || mv "$into/Makefile.new" "$into/Makefile"
make -C "$into" -j "$(cores)" fits >"$into/build.log" 2>&1 ||
    { grep -m 5 -E 'error:|undefined|No rule' "$into/build.log" >&2 || tail -n 5 "$into/build.log" >&2
        fail "the simulation cannot be built: the whole log is $into/build.log"; }
cc -O2 -shared -fPIC -o "$into/no_processor_clock.so" "$here/no_processor_clock.c"

# ---- the node's rates ----
if [ -z "$rates" ]; then
    rates=$into/one_rank
    if [ ! -e "$rates" ]; then
        dkmap=$(find_dkmap)
        [ -x "$dkmap" ] || fail "no $dkmap to calibrate with: build it first, or give --rates"
        mkdir -p "$into/calibration"
        # shellcheck disable=SC2086
        DKMAP_CALIBRATION=$into/calibration $launch -np 1 "$dkmap" bench calibrate --n 1024 >/dev/null ||
            fail "cannot calibrate: give --rates"
        mv "$into"/calibration/*-1.calibration "$rates"
    fi
fi
[ -r "$rates" ] || fail "$rates: cannot be read"

# ---- run ----
# platform NODES: a fat tree of two levels, of one where a switch has ports for all of them, or one node.
platform() {
    awk -v nodes="$1" -v cores="$cores" -v gbps="$bandwidth" -v us="$latency" -v copy="$copy" -v leaf="$leaf" '
        function ceil(x) { return int(x) + (x > int(x)) }
        BEGIN {
            common = sprintf("<cluster id=\"nodes\" prefix=\"node-\" suffix=\"\" radical=\"0-%d\" speed=\"1Gf\" core=\"%d\" bw=\"%gGBps\" sharing_policy=\"SPLITDUPLEX\" loopback_bw=\"%gGBps\" loopback_lat=\"0.4us\"", nodes - 1, cores, gbps / 8, copy)
            if (nodes == 1) rest = sprintf(" lat=\"%gus\"/>", us / 2)
            else if (nodes <= leaf) rest = sprintf(" lat=\"%gus\" topology=\"FAT_TREE\" topo_parameters=\"1;%d;1;1\"/>", us / 2, nodes)
            else rest = sprintf(" lat=\"%gus\" topology=\"FAT_TREE\" topo_parameters=\"2;%d,%d;1,%d;1,1\"/>", us / 4, leaf, ceil(nodes / leaf), leaf)
            print "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">"
            print "<platform version=\"4.1\">\n" common rest "\n</platform>"
        }'
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
label="SimGrid, nodes of $cores cores, $bandwidth Gb/s, $latency us"
for count in ${ranks//,/ }; do
    nodes=$(((count + cores - 1) / cores))
    # A full tree: nodes beyond those used stand idle.
    [ "$nodes" -le "$leaf" ] || nodes=$(((nodes + leaf - 1) / leaf * leaf))
    rows=$n
    [ -z "$weak" ] || rows=$(awk -v l="$weak" -v p="$count" 'BEGIN { printf "%d", l * sqrt(p) + 0.5 }')
    platform "$nodes" >"$work/platform.xml"
    for ((k = 0; k < nodes; k++)); do
        for ((c = 0; c < cores; c++)); do echo "node-$k"; done
    done >"$work/hosts"
    # From 4096 ranks on SMPI's choices for Open MPI take broadcasts that first send a message from each rank to each.
    collectives=()
    [ "$count" -lt 4096 ] || collectives=(--cfg=smpi/allreduce:rdb --cfg=smpi/bcast:binomial_tree
        --cfg=smpi/reduce:binomial --cfg=smpi/barrier:ompi_recursivedoubling)
    seconds=$(date +%s)
    # Bytes take the time of the links alone: no factors of TCP. Messages are as eager as Open MPI's. Shares of a
    # link are found to 1e-3: with SimGrid's 1e-5 its solver loses itself in roundings on 256 ranks, and crashes.
    OPENBLAS_NUM_THREADS=1 DKMAP_SIMD=baseline DKMAP_SIM_RATES=$rates DKMAP_SIM_RECORD=$record DKMAP_SIM_LABEL=$label \
        LD_PRELOAD=$into/no_processor_clock.so smpirun -np "$count" -platform "$work/platform.xml" \
        -hostfile "$work/hosts" \
        --cfg=smpi/simulate-computation:no --cfg=smpi/privatization:no --cfg=contexts/stack-size:1024 \
        --cfg=network/model:CM02 --cfg=network/latency-factor:1 --cfg=network/bandwidth-factor:0.97 \
        --cfg=network/weight-S:0 --cfg=network/TCP-gamma:1e9 --cfg="smpi/os:0:${overhead}e-6:0" \
        --cfg="smpi/ois:0:${overhead}e-6:0" --cfg="smpi/or:0:${overhead}e-6:0" --cfg=smpi/test:0 \
        --cfg=smpi/iprobe:1e-6 --cfg=smpi/send-is-detached-thresh:4096 --cfg=smpi/grow-injected-times:no \
        --cfg=smpi/coll-selector:ompi --cfg=smpi/alltoallv:ompi_basic_linear ${collectives[@]+"${collectives[@]}"} \
        --cfg=maxmin/precision:1e-3 --cfg=smpi/shared-malloc:global --log=root.thres:critical \
        "$into/fits" "$method" "n=$rows" ${sizes[@]+"${sizes[@]}"} >"$work/out" 2>"$work/err" || true
    grep '^simulated' "$work/out" || # SMPI may end with 0 after a failure
        { cat "$work/out" "$work/err" | tail -n 5 >&2
            fail "the simulation of $method on $count ranks failed"; }
    echo "  took $(($(date +%s) - seconds)) s"
done

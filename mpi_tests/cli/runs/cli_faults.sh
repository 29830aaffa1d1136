#!/usr/bin/env bash
# A sample of the faults of files, MPI and memory; faults/run.sh with DKMAP_FAULTS=all tries them all.
exec bash "${BASH_SOURCE%/*}/../../faults/run.sh"

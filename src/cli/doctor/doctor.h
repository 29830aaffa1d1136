/** @file doctor.h  What `dkmap doctor` looks at, and what it found. */
#ifndef DKMAP_CLI_DOCTOR_DOCTOR_H
#define DKMAP_CLI_DOCTOR_DOCTOR_H

#include "cli/core/run.h"
#include "cli/doctor/loaded_libraries.h"

enum { FINDING = 400 };

typedef struct doctor {
    run *r;
    loaded_libraries libraries;
    int failed;          /**< checks that did not pass */
    char first[FINDING]; /**< what the first of them found, and the remedy */
    int nodes, ranks_per_node;
} doctor;

/** Report that something is as it should be. Logically collective; rank 0 prints. */
void doctor_good(doctor *d, const char *what, const char *text);

/** Report what does not fit, or may not, with the remedy: the first makes the command fail, the
 *  second does not. Logically collective; rank 0 prints. */
void doctor_bad(doctor *d, const char *what, const char *format, ...) DKM_PRINTF(3, 4);
void doctor_doubt(doctor *d, const char *what, const char *format, ...) DKM_PRINTF(3, 4);

/** Which libraries there are, and whether they belong to one MPI and one launcher. Collective. */
DKM_NODISCARD dkm_status doctor_check_libraries(doctor *d);

/** Cores, threads and memory of the nodes. Collective. */
DKM_NODISCARD dkm_status doctor_check_nodes(doctor *d);

/** A system that is solved with ScaLAPACK, and rates of products and messages. Collective. */
DKM_NODISCARD dkm_status doctor_check_work(doctor *d);

#endif

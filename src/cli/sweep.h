/** @file sweep.h  Points of a grid of settings: kernels with values of --try, times the lists that
 *  options of a method take in commands that sweep.
 *
 *  Each point is a command line of its own, with one value an option: what reads settings from
 *  options need not know of grids.
 */
#ifndef DKMAP_CLI_SWEEP_H
#define DKMAP_CLI_SWEEP_H

#include "trials.h"

enum { SWEEP_KERNELS = 3, SWEEP_LABEL = 2 * TRIAL_LABEL };

typedef struct sweep {
    run *r;
    trials trials;
    const char *const *lists; /**< names of the options that may have several values, ended by NULL;
                                   that of the last changes fastest */
    int64_t kernels, settings;
} sweep;

/** Read the grid. Logically collective; sweep_close() frees what it holds, also after a failure.
 *  @return DKM_OK; DKM_ERR_ARG as of trials_read(); DKM_ERR_MEMORY */
DKM_NODISCARD
dkm_status sweep_open(sweep *s, run *r, const char *const *lists);
void sweep_close(sweep *s);

/** A point as a run of its own on @p ctx. */
typedef struct sweep_point {
    run run;
    args args;
    char *kernel[SWEEP_KERNELS]; /**< what --kx, --ky and --joint come to, or NULL */
} sweep_point;

/** Make a point. Logically collective on @p ctx; sweep_point_free() frees what it holds, also after
 *  a failure.
 *  @param[in] kx  stands in for --kx; NULL: what the kernel's number says */
DKM_NODISCARD
dkm_status sweep_at(const sweep *s, dkm_ctx *ctx, int64_t kernel, int64_t setting, const char *kx,
                    sweep_point *point);
void sweep_point_free(sweep_point *point);

/** A point for a person, as "s=0.1,gamma=1e-3": what does not vary is left out. At most SWEEP_LABEL
 *  bytes. Local. */
void sweep_label(const sweep *s, int64_t kernel, int64_t setting, char *label);

#endif

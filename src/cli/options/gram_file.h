/** @file gram_file.h  A kernel matrix in a file, made into a distributed matrix. */
#ifndef DKMAP_CLI_OPTIONS_GRAM_FILE_H
#define DKMAP_CLI_OPTIONS_GRAM_FILE_H

#include <dkmap/extrapolate.h>
#include <dkmap/kernel.h>
#include <dkmap/psd.h>

#include "cli/core/run.h"

#define ROW_GRAM(flags_, text)                                                                     \
    {                                                                                              \
        .name = "gram", .kind = OPT_TEXT, .flags = flags_, .metavar = "FILE", .help = text         \
    }
#define ROW_CUTOFF                                                                                 \
    {                                                                                              \
        .name = "cutoff", .kind = OPT_REAL, .metavar = "C",                                        \
        .help =                                                                                    \
            "singular values of the features below this part of the largest count as zero; "       \
            "rounding alone when not given. Features that are nearly dependent blow up values "    \
            "of new objects"                                                                       \
    }
#define ROW_CLIP                                                                                   \
    {                                                                                              \
        .name = "clip", .kind = OPT_FLAG,                                                          \
        .help = "drop negative eigenvalues first, and tell how many there were, their share of "   \
                "the absolute spectrum, and its smallest and largest"                              \
    }

/** Read the file of the option @p name. Collective.
 *
 *  @param[in,out] grid  made where it is NULL, as --grid and --block say; else the one to lie on
 *  @param[out]    K     new, owned by the caller: symmetric, both triangles; NULL on failure
 *  @return as dkm_data_read() and dkm_gram_from_rows(), the file named
 */
DKM_NODISCARD dkm_status gram_file_read(run *r, const char *name, dkm_grid **grid, dkm_dmat **K);

/** --no-shear and --cutoff. Logically collective.
 *  @return DKM_OK; DKM_ERR_ARG */
DKM_NODISCARD dkm_status gram_file_extrapolation(run *r, dkm_extrapolate_settings *settings);

/** Drop negative eigenvalues where --clip is given, and tell of them. Collective. */
DKM_NODISCARD dkm_status gram_file_clip(run *r, dkm_dmat *K);

/** The matrix of inner products of rows. Collective.
 *  @param[out] G  new, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status gram_file_products(run *r, const dkm_data *Z, dkm_data **G);

/** Write the matrix of inner products of rows to -o, and tell its shape. Collective. */
DKM_NODISCARD dkm_status gram_file_write_products(run *r, const dkm_data *Z);

/** Report what was clipped. Local; rank 0 prints. */
void gram_file_tell_clipped(run *r, const dkm_psd_info *spectrum);

#endif

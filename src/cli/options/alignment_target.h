/** @file alignment_target.h  What a Gram matrix is aligned with: clusters, labels, a matrix or a
 * kernel. */
#ifndef DKMAP_CLI_OPTIONS_ALIGNMENT_TARGET_H
#define DKMAP_CLI_OPTIONS_ALIGNMENT_TARGET_H

#include <dkmap/kmeans.h>

#include "cli/options/gram_problem.h"

#define ROWS_TARGET                                                                                \
    {.name = "clusters",                                                                           \
     .kind = OPT_INT,                                                                              \
     .metavar = "N",                                                                               \
     .min = 1,                                                                                     \
     .help = "target: 1 for objects of one of N clusters found by k-means, else 0; dense rows "    \
             "only. 30 clusters when no target is given"},                                         \
        {.name = "labels",                                                                         \
         .kind = OPT_TEXT,                                                                         \
         .metavar = "FILE",                                                                        \
         .help = "target: 1 for objects of one label, else 0"},                                    \
        {.name = "gram", .kind = OPT_TEXT, .metavar = "FILE", .help = "target: a matrix, dense"},  \
    {                                                                                              \
        .name = "kz", .kind = OPT_TEXT, .metavar = "KERNEL",                                       \
        .help = "target: the matrix of another kernel of the objects"                              \
    }

typedef struct alignment_target {
    const char *name;         /**< of the option that gives it */
    dkm_data *labels;         /**< objects of one label belong together; or */
    dkm_dmat *T;              /**< the matrix itself */
    dkm_kmeans_info clusters; /**< of a target of clusters */
} alignment_target;

/** Find out which target is wanted. Logically collective.
 *  @return DKM_OK; DKM_ERR_ARG when two are */
DKM_NODISCARD dkm_status alignment_target_choose(alignment_target *t, run *r);

/** Make it for some objects. Collective; target_free() frees what it holds, also after a failure.
 */
DKM_NODISCARD dkm_status alignment_target_make(alignment_target *t, const gram_problem *s);

/** The alignment of a Gram matrix of these objects with the target. Collective. */
DKM_NODISCARD dkm_status alignment_target_align(const alignment_target *t, const dkm_dmat *K,
                                                int center, double *alignment);

/** Report what the target is. Local; rank 0 prints. */
void alignment_target_report(const alignment_target *t, run *r);

void alignment_target_free(alignment_target *t);

#endif

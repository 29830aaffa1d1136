/** @file panel.h  Prepared objects brought together on a rank, ready for tiles to be evaluated.
 *
 *  A panel is opened once for at most `capacity` objects and filled many times. On one rank it
 *  borrows the arrays of the prepared objects; else objects are fetched. For tiles in single
 *  precision the dense values are converted once a filling. Dense values that are small integers
 * are stored as such too: their inner products cost less.
 */
#ifndef DKMAP_KERNELS_EVALUATION_PANEL_H
#define DKMAP_KERNELS_EVALUATION_PANEL_H

#include "kernels/evaluation/kernel_impl.h"

/** Dense values as 16-bit numbers, where they are small integers, and as bytes. */
typedef struct dkm_int16_rows {
    int16_t *rows;  /**< of `capacity` objects, or NULL */
    double most;    /**< the largest size among them; negative: they are not such numbers */
    uint8_t *bytes; /**< the same numbers, or NULL */
    int are_bytes;  /**< whether all of them are in 0 to 255 */
} dkm_int16_rows;

struct dkm_panel {
    const dkm_prepared *of;
    const dkm_node *root; /**< the tree whose tiles are wanted */
    dkm_precision precision;
    dkm_side side;
    dkm_idx n, capacity;
    int borrowed;           /**< the arrays of `objs` are those of the prepared objects */
    dkm_objs *objs;         /**< one per slot */
    float **single;         /**< one per slot: dense values in single precision, or NULL */
    dkm_int16_rows *int16;  /**< one per slot: dense values that are small integers */
    int threads;            /**< that may evaluate tiles with it at the same time */
    char *workspace;        /**< of rows: for products of dense values, or NULL */
    dkm_idx workspace_each; /**< bytes of it that a thread takes */
    double *diag;           /**< k(x, x), `capacity` numbers per node */
};

/** k(x, x) of the panel's objects under a node's kernel. Local. */
static inline double *dkm_panel_diag(const dkm_panel *panel, const dkm_node *node)
{
    return panel->diag + node->index * panel->capacity;
}

/** The objects in a node's slot. Local. */
static inline const dkm_objs *dkm_panel_objs(const dkm_panel *panel, const dkm_node *node)
{
    return &panel->objs[node->slot];
}

/** k(x, x) = the first extra of each object, for kinds whose precomputation puts it there. Local.
 */
void dkm_panel_diag_from_extra(const dkm_node *node, dkm_panel *panel);

/** Dense values of a node's slot in the panel's precision, from object @p i on. Local. */
const void *dkm_panel_values(const dkm_panel *panel, const dkm_node *node, dkm_idx i);

/** Numbers from the start of one of them to that of the next. Local. */
dkm_idx dkm_panel_step(const dkm_panel *panel, const dkm_node *node);

/** Workspace of a thread for products with the rows of @p panel, aligned to 64 bytes, or NULL. Local. */
static inline void *dkm_panel_workspace(const dkm_panel *panel, int thread)
{
    return panel->workspace ? panel->workspace + thread * panel->workspace_each : NULL;
}

/** Allocate the objects that tiles of @p root need, whose slots are filled. Local;
 *  dkm_panel_close() frees, also after a failure. */
DKM_NODISCARD dkm_local dkm_panel_open(dkm_panel *panel, const dkm_prepared *of,
                                       const dkm_node *root, dkm_side side, dkm_precision precision,
                                       dkm_idx capacity);

/** Bring @p count objects together; each rank names its own. Collective. */
DKM_NODISCARD dkm_status dkm_panel_fill(dkm_panel *panel, dkm_idx count, const dkm_idx *indices);

/** Look at @p count objects of this rank's own slab from its @p first on. Local. */
void dkm_panel_view(dkm_panel *panel, dkm_idx first, dkm_idx count);

/** Open a panel on all objects of this rank's own slab for their k(x, x) alone: no tiles can be
 *  evaluated, and it takes a few numbers per object. Local; dkm_panel_close() frees, also after a
 *  failure. */
DKM_NODISCARD dkm_local dkm_panel_open_diag(dkm_panel *panel, const dkm_prepared *of);

/** Free. Local. */
void dkm_panel_close(dkm_panel *panel);

#endif

/** @file objects.h  A rank's own array of objects, and how objects move between ranks.
 *
 *  Three ways of keeping objects serve all types:
 *    values  n x d numbers, row-major (dense, gram, distance; labels with d = 1)
 *    lists   start[n + 1], col[], val[] (sparse, graph; label sets with val = NULL)
 *    bytes   start[n + 1], bytes[] (strings, sets, graphs)
 *  Beside them each object may carry a few numbers more, extra[n x extras], that a kernel has
 *  worked out for it (squared norm, k(x, x)): they travel with it.
 */
#ifndef DKMAP_DATA_OBJECTS_H
#define DKMAP_DATA_OBJECTS_H

#include <dkmap/data.h>

typedef struct dkm_objs {
    dkm_ctx *ctx;
    dkm_type type;
    dkm_idx n, d;
    double *values;
    dkm_idx apart; /**< of values that are some columns of wider rows: how wide those are; else 0 */
    dkm_idx *start;
    dkm_idx *col;
    double *val;
    char *bytes;
    dkm_idx extras;
    double *extra;
} dkm_objs;

/** Numbers from the start of one row of values to that of the next. Local. */
static inline dkm_idx dkm_objs_step(const dkm_objs *objs)
{
    return objs->apart > 0 ? objs->apart : objs->d;
}

/** A type in a set of types. */
#define DKM_TYPE_BIT(type) (1u << (unsigned)(type))

typedef enum dkm_storage_form {
    DKM_STORED_VALUES,
    DKM_STORED_LISTS,
    DKM_STORED_BYTES
} dkm_storage_form;

/** How objects of a type are stored. Local. */
dkm_storage_form dkm_type_storage_form(dkm_type type);

/** Memory for n objects of d columns with @p items list entries or bytes in all; start[] is zero.
 *  Local. @p objs must be zeroed or fresh; dkm_objs_clear() frees what it holds, also after a
 *  failure. Lists of DKM_LABEL_SETS have no val. */
DKM_NODISCARD dkm_local dkm_objs_init(dkm_objs *objs, dkm_ctx *ctx, dkm_type type, dkm_idx n,
                                      dkm_idx d, dkm_idx items);

/** Memory for @p extras numbers more an object. Local. */
DKM_NODISCARD dkm_local dkm_objs_add_extra(dkm_objs *objs, dkm_idx extras);

/** Free the arrays and zero the struct. Local. */
void dkm_objs_clear(dkm_objs *objs);

struct dkm_data {
    dkm_ctx *ctx;
    dkm_idx m;     /**< over all ranks */
    dkm_idx first; /**< of this rank's slab */
    dkm_objs mine;
    int borrowed;   /**< the values of `mine` are a caller's array */
    dkm_idx shares; /**< owners beside the first */
    dkm_data *self; /**< for those who borrow it as const and come to own a share */
};

/** The same objects for another owner, who must not change them: they are freed when the last owner
 *  destroys them. Local. */
dkm_data *dkm_data_share(const dkm_data *data);

/** Wrap this rank's slab of m objects; takes over @p objs (zeroed on return, also on failure).
 *  Collective. */
DKM_NODISCARD dkm_status dkm_data_wrap(dkm_ctx *ctx, dkm_idx m, dkm_objs *objs, dkm_data **data);

/** Bring the objects @p wanted (each rank its own list, any length, any order) to this rank.
 *
 *  Collective. Moves the fewest bytes: indices to the holders, objects back, in chunks of bounded
 *  size. Extras travel too.
 *
 *  @param[out] got  zeroed or fresh; to be cleared by the caller, also after a failure
 *  @return DKM_OK; DKM_ERR_ARG for an index outside [0, m); DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_status dkm_data_fetch(const dkm_data *data, dkm_idx count, const dkm_idx *indices,
                                        dkm_objs *got);

#endif

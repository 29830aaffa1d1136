/** @file data.h  Objects of any kind, spread over the ranks, and the files they come from.
 *
 *  A dkm_data holds m objects of one type. Each rank holds a slab of consecutive ones
 *  (dkm_slab_first); no rank needs to hold them all. A file is named by `path`, `path[slice]` or,
 *  for HDF5, `path:/dataset[slice]`; its ending says what it holds, a type name overrules that.
 */
#ifndef DKMAP_DATA_H
#define DKMAP_DATA_H

#include <dkmap/context.h>

DKM_API_BEGIN

/** Every type of object with the name users type. */
#define DKM_TYPE_LIST(X)                                                                           \
    X(DKM_DENSE, "dense")           /* rows of d numbers */                                        \
    X(DKM_SPARSE, "sparse")         /* rows of d numbers, most of them zero */                     \
    X(DKM_LABELS, "labels")         /* one integer: a class   */                                   \
    X(DKM_LABEL_SETS, "label-sets") /* a set of integers      */                                   \
    X(DKM_STRINGS, "strings")       /* bytes */                                                    \
    X(DKM_SETS, "sets")             /* a set of words, stored sorted and separated by blanks */    \
    X(DKM_GRAM, "gram")             /* a row of kernel values to the m training objects */         \
    X(DKM_DISTANCE, "distance")     /* a row of distances to the m training objects */             \
    X(DKM_GRAPH, "graph")           /* a vertex: its neighbors and the weights of the edges */     \
    X(DKM_GRAPHS, "graphs")         /* a small labelled graph, as text: C C O | 0-1 1-2 */

#define DKM_TYPE_ENUM(code, name) code,
typedef enum dkm_type { DKM_TYPE_LIST(DKM_TYPE_ENUM) DKM_TYPE_COUNT } dkm_type;
#undef DKM_TYPE_ENUM

/** Name of a type. Local. */
const char *dkm_type_name(dkm_type type);
/** The type called @p name; DKM_TYPE_COUNT when there is none. Local. */
dkm_type dkm_type_from_name(const char *name);

/** What a file is read for: an svmlight file is its rows as inputs, its label field as outputs. */
typedef enum dkm_role { DKM_INPUTS, DKM_OUTPUTS } dkm_role;

typedef struct dkm_data dkm_data;
typedef struct dkm_source dkm_source;
typedef struct dkm_sink dkm_sink;

/** Read a file. Collective.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in]  where  path with optional dataset and slice
 *  @param[in] role  inputs or outputs, which decides what endings mean
 *  @param[in]  type   name of a type, or NULL for what the ending says
 *  @param[out] data   new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_IO; DKM_ERR_FORMAT; DKM_ERR_ARG; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_data_read(dkm_ctx *ctx, const char *where, dkm_role role,
                                       const char *type, dkm_data **data);

/** Say how many of the last columns of ARFF files are labels: inputs are the columns before them,
 *  outputs the label sets. Logically collective.
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] count  borrowed until it is replaced; NULL: none are */
void dkm_data_label_columns(dkm_ctx *ctx, const dkm_idx *count);

/** Write all of @p data to a file whose ending says how (.npy .csv .tsv .h5 .txt). Collective.
 *  The file appears complete or not at all. */
DKM_NODISCARD dkm_status dkm_data_write(const dkm_data *data, const char *where);

/** m dense rows of d numbers, all zero, spread in slabs. Collective. */
DKM_NODISCARD dkm_status dkm_data_create_dense(dkm_ctx *ctx, dkm_idx m, dkm_idx d, dkm_data **data);
/** m labels, all zero, spread in slabs. Collective. */
DKM_NODISCARD dkm_status dkm_data_create_labels(dkm_ctx *ctx, dkm_idx m, dkm_data **data);

/** m strings of blanks, spread in slabs, whose letters are to be set through dkm_data_string().
 * Collective.
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] m  strings of all ranks
 *  @param[in] lengths  of this rank's own strings, in order
 *  @param[out] data  new, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status dkm_data_create_strings(dkm_ctx *ctx, dkm_idx m, const dkm_idx *lengths,
                                                 dkm_data **data);

dkm_ctx *dkm_data_ctx(const dkm_data *data);
dkm_type dkm_data_type(const dkm_data *data);
dkm_idx dkm_data_rows(const dkm_data *data); /**< m, over all ranks */
dkm_idx dkm_data_cols(const dkm_data *data); /**< d; 1 for labels; 0 for strings and sets */
dkm_idx dkm_data_local_first(const dkm_data *data);
dkm_idx dkm_data_local_rows(const dkm_data *data);
/** This rank's rows of dense data, Gram rows, distances or labels: row-major, ld = d. Local. */
double *dkm_data_values(dkm_data *data);
const double *dkm_data_values_const(const dkm_data *data);
/** The @p il-th of this rank's strings, sets or graphs: @p length bytes, with no zero after them. Local. */
char *dkm_data_string(dkm_data *data, dkm_idx il, dkm_idx *length);
const char *dkm_data_string_const(const dkm_data *data, dkm_idx il, dkm_idx *length);

/** The rows named in @p rows, in that order, distributed in slabs. Collective; every rank gives
 *  all of the list. */
DKM_NODISCARD dkm_status dkm_data_select(const dkm_data *data, dkm_idx count, const dkm_idx *rows,
                                         dkm_data **selected);

/** The objects of @p A and after them those of @p B, distributed in slabs. Collective.
 *
 *  @param[in] A  objects of any type but gram, distance and graph
 *  @param[in] B  objects of the same type
 *  @param[out] joined  new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG for another type, or rows of another width; DKM_ERR_UNSUPPORTED for
 *          gram, distance and graph, whose objects are known by one another; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_data_join(const dkm_data *A, const dkm_data *B, dkm_data **joined);

/** Free. Local; takes NULL and nulls. */
void dkm_data_destroy(dkm_data **data);

/** Open a file to be read in batches, so that memory does not grow with it. Collective. */
DKM_NODISCARD dkm_status dkm_source_open(dkm_ctx *ctx, const char *where, dkm_role role,
                                         const char *type, dkm_source **source);
/** Read NaN, empty cells and the like as NaN instead of refusing them. Local; the same on all ranks. */
void dkm_source_accept_missing(dkm_source *source);
dkm_type dkm_source_type(const dkm_source *source);
dkm_idx dkm_source_rows(const dkm_source *source);
dkm_idx dkm_source_cols(const dkm_source *source);
/** One line for a person: format, number type, order, compression. Local. */
const char *dkm_source_describe(const dkm_source *source);
/** Read objects [first, first + count). Collective. */
DKM_NODISCARD dkm_status dkm_source_read(dkm_source *source, dkm_idx first, dkm_idx count,
                                         dkm_data **data);
/** Read rows [first, first + count) of every rank's own slab of the file, as far as it has so
 *  many: what a rank gets stays with it however often it is read. Collective. */
DKM_NODISCARD dkm_status dkm_source_read_share(dkm_source *source, dkm_idx first, dkm_idx count,
                                               dkm_data **data);
/** Read the objects named in @p rows, in that order, spread in slabs. Collective; every rank gives
 *  all of the list. */
DKM_NODISCARD dkm_status dkm_source_select(dkm_source *source, dkm_idx count, const dkm_idx *rows,
                                           dkm_data **data);
void dkm_source_close(dkm_source **source);

/** Open a file to be written in batches of consecutive objects, @p m in all. Collective.
 *  The file appears under its name when dkm_sink_commit() succeeds, and not before. */
DKM_NODISCARD dkm_status dkm_sink_open(dkm_ctx *ctx, const char *where, dkm_type type, dkm_idx m,
                                       dkm_idx d, dkm_sink **sink);
DKM_NODISCARD dkm_status dkm_sink_write(dkm_sink *sink, const dkm_data *data);
DKM_NODISCARD dkm_status dkm_sink_commit(dkm_sink *sink);
/** Free; what was not committed is removed. Collective; takes NULL and nulls. */
void dkm_sink_close(dkm_sink **sink);

/** Check, before a long run, that a file can be made at @p where. Collective.
 *  @return DKM_OK; DKM_ERR_IO naming the path and the reason */
DKM_NODISCARD dkm_status dkm_file_check_writable(dkm_ctx *ctx, const char *where);

/** Write a file: under a temporary name, then renamed. Collective.
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] path  of the file, the same on every rank
 *  @param[in] bytes, count  what it shall hold; read on rank 0 alone
 *  @return DKM_OK; DKM_ERR_IO naming the path and the reason */
DKM_NODISCARD dkm_status dkm_file_write(dkm_ctx *ctx, const char *path, const void *bytes,
                                        dkm_idx count);

DKM_API_END

#endif

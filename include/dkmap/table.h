/** @file table.h  What is learned of the columns of training inputs and holds for new inputs: names,
 *  categories of text columns, what fills in for missing values, means and deviations.
 *
 *      DKM_TRY(dkm_table_learn(ctx, "train.csv[:, !price]", NULL, &settings, &table));
 *      dkm_table_use(ctx, table);          inputs read from now on go through it
 *
 *  A text column becomes one column of 0 and 1 per category (one-hot); a missing category is all 0,
 *  and one that did not occur is refused. A missing number becomes the mean or median of its column.
 *  Standardized columns have mean 0 and deviation 1 in training; one-hot columns stay as they are.
 *  Columns of files that have names are found by them, in whatever order they are. Every rank holds
 *  all of the table: the names and categories, and four numbers per column.
 */
#ifndef DKMAP_TABLE_H
#define DKMAP_TABLE_H

#include <dkmap/data.h>

DKM_API_BEGIN

typedef struct dkm_table dkm_table;

typedef enum dkm_missing {
    DKM_MISSING_FAIL,
    DKM_MISSING_DROP, /**< rows with missing values stay NaN: dkm_table_drop() leaves them out */
    DKM_MISSING_MEAN,
    DKM_MISSING_MEDIAN
} dkm_missing;

/** Standardize dense inputs, and leave others as they are. */
enum { DKM_STANDARDIZE_DENSE = 2 };

typedef struct dkm_table_settings {
    dkm_missing missing;
    int standardize; /**< 1, 0, or DKM_STANDARDIZE_DENSE */
} dkm_table_settings;

/** Learn from the file of training inputs. Collective; reads it once more where its columns are
 *  text, may be missing or are standardized.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in]  where, type  as of dkm_data_read()
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[out] table        new, owned by the caller; NULL on failure and where there is nothing to
 *                           learn: columns without names that are all taken as they are
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED for inputs that have no columns; as dkm_data_read() else */
DKM_NODISCARD dkm_status dkm_table_learn(dkm_ctx *ctx, const char *where, const char *type,
                                         const dkm_table_settings *settings, dkm_table **table);

/** Let dense inputs that are read from now on go through a table. Logically collective.
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] table  borrowed until it is replaced; NULL ends that */
void dkm_table_use(dkm_ctx *ctx, const dkm_table *table);

/** One line for a person. Local. */
const char *dkm_table_describe(const dkm_table *table);

/** Leave out the rows of inputs that have missing values, and the same of what goes with them.
 *  Collective; all are replaced where there are such rows.
 *  @param[in,out] data     pointers to the inputs and then to other data with as many rows, ended by
 *                          NULL; the others may point to NULL
 *  @param[out]    dropped  how many
 *  @return DKM_OK; DKM_ERR_ARG when no rows are left; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_table_drop(dkm_data **const *data, dkm_idx *dropped);

/** Let outputs that are missing (NaN; strings that are empty, ?, NA and the like) be any output that is
 *  there, with the weight 0: for fits that leave examples of weight 0 out. Collective; both are
 *  replaced where there are such.
 *  @param[in,out] Y  outputs
 *  @param[in,out] weights  of the examples; may point to NULL
 *  @param[out]    missing  how many
 *  @return DKM_OK; DKM_ERR_ARG where all are missing, or a label is no integer; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_table_fill_outputs(dkm_data **Y, dkm_data **weights, dkm_idx *missing);

void dkm_table_destroy(dkm_table **table);

DKM_API_END

#endif

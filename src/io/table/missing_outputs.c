/* Outputs that are not known, of some vertices of a graph: each gets an output that is there, and the
 * weight 0. Replicated: one index per row. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "data/objects.h"
#include "io/table/table.h"
#include "io/text/cells.h"

/* Whether object i is not there: NaN in its row, or a string that stands for nothing. */
static int is_missing(const dkm_objs *y, dkm_idx i)
{
    if (y->type == DKM_STRINGS)
        return dkm_cell_is_missing(
            (dkm_cell){y->bytes + y->start[i], y->start[i + 1] - y->start[i]});
    for (dkm_idx j = 0; y->values && j < y->d; j++)
        if (isnan(y->values[i * y->d + j]))
            return 1;
    return 0;
}

static dkm_local check_labels(const dkm_data *Y)
{
    const dkm_objs *y = &Y->mine;

    for (dkm_idx i = 0; y->type == DKM_LABELS && i < y->n; i++)
        if (!isnan(y->values[i]) && y->values[i] != rint(y->values[i]))
            return dkm_fail(Y->ctx, DKM_ERR_ARG, "row %lld is %g, and labels are integers",
                            (long long)(Y->first + i) + 1, y->values[i]);
    return DKM_LOCAL_OK;
}

/* rows[i] = i, or the first row that is there. */
static dkm_status list_rows(const dkm_data *Y, dkm_idx *rows, dkm_idx *missing)
{
    dkm_status status = DKM_OK;
    dkm_idx first = Y->m;

    for (dkm_idx i = 0; i < Y->mine.n; i++)
        rows[Y->first + i] = is_missing(&Y->mine, i);
    dkm_mpi_allreduce(rows, Y->m, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(Y->ctx));
    *missing = 0;
    for (dkm_idx i = Y->m - 1; i >= 0; i--) {
        *missing += rows[i];
        first = rows[i] ? first : i;
    }
    DKM_REQUIRE(Y->ctx, first < Y->m, DKM_ERR_ARG, "every output is missing");
    for (dkm_idx i = 0; i < Y->m; i++)
        rows[i] = rows[i] ? first : i;
out:
    return status;
}

static dkm_status drop_weights(const dkm_data *Y, const dkm_idx *rows, dkm_data **weights)
{
    dkm_status status = DKM_OK;
    dkm_data *W = NULL;

    DKM_TRY(dkm_data_create_dense(Y->ctx, Y->m, 1, &W));
    for (dkm_idx i = 0; i < W->mine.n; i++)
        W->mine.values[i] = rows[W->first + i] != W->first + i ? 0.0
                            : *weights                         ? (*weights)->mine.values[i]
                                                               : 1.0;
    dkm_data_destroy(weights);
    *weights = W;
out:
    return status;
}

dkm_status dkm_table_fill_outputs(dkm_data **Y, dkm_data **weights, dkm_idx *missing)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = (*Y)->ctx;
    dkm_data *filled = NULL;
    dkm_idx *rows = NULL;

    *missing = 0;
    DKM_AGREE(ctx, check_labels(*Y));
    DKM_AGREE(ctx, dkm_calloc(ctx, (*Y)->m, &rows));
    DKM_TRY(list_rows(*Y, rows, missing));
    if (*missing == 0)
        goto out;
    DKM_TRY(dkm_data_select(*Y, (*Y)->m, rows, &filled));
    DKM_TRY(drop_weights(*Y, rows, weights));
    dkm_data_destroy(Y);
    *Y = filled;
out:
    DKM_FREE(rows);
    return status;
}

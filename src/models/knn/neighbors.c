/* The k nearest training objects of each row, by rows of inner products. Cost: the kernel
 * values, and an insertion into a sorted list of k per row, m k comparisons at most. Local once
 * rows are there. */
#include "models/knn/neighbors.h"

#include "core/alloc.h"

dkm_status dkm_neighbors_ready(dkm_neighbors *s)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->fitted.ctx;
    dkm_idx m = dkm_data_rows(s->fitted.X);

    DKM_TRY(dkm_fitted_kernel_use_distances(&s->fitted));
    DKM_AGREE(ctx, dkm_calloc(ctx, m, &s->diag));
    DKM_TRY(dkm_kernel_diagonal(s->fitted.prepared, s->diag + dkm_data_local_first(s->fitted.X)));
    MPI_Allreduce(MPI_IN_PLACE, s->diag, (int)m, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
out:
    return status;
}

void dkm_neighbors_close(dkm_neighbors *s)
{
    DKM_FREE(s->diag);
    dkm_fitted_kernel_close(&s->fitted);
}

dkm_status dkm_neighbors_add(dkm_neighbors *s, const dkm_data *X, double scale, double *rows)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->fitted.ctx;
    dkm_idx count = dkm_data_local_rows(X) * dkm_data_rows(s->fitted.X);
    double *values = NULL;
    dkm_dmat *K = NULL;

    DKM_TRY(dkm_fitted_kernel_cross(&s->fitted, X, &K));
    DKM_AGREE(ctx, dkm_alloc(ctx, count, &values));
    DKM_TRY(dkm_dmat_to_rows(K, values));
    for (dkm_idx k = 0; k < count; k++)
        rows[k] += scale * values[k];
out:
    DKM_FREE(values);
    dkm_dmat_destroy(&K);
    return status;
}

/* The nearest of a row of inner products. */
static void pick_row(const dkm_neighbors *s, const double *row, dkm_idx top, dkm_idx *index,
                     double *distance)
{
    dkm_idx m = dkm_data_rows(s->fitted.X), count = 0;

    for (dkm_idx i = 0; i < m; i++) {
        double d = s->diag[i] - 2.0 * row[i];
        dkm_idx at = count < top ? count++ : top - 1;
        if (at == top - 1 && i >= top && !(d < distance[at]))
            continue;
        for (; at > 0 && d < distance[at - 1]; at--) {
            distance[at] = distance[at - 1];
            index[at] = index[at - 1];
        }
        distance[at] = d;
        index[at] = i;
    }
}

void dkm_neighbors_pick(const dkm_neighbors *s, dkm_idx n, const double *rows, dkm_idx top,
                        dkm_idx *index, double *distance)
{
    dkm_idx m = dkm_data_rows(s->fitted.X);

    for (dkm_idx i = 0; i < n; i++)
        pick_row(s, rows + i * m, top, index + i * top, distance + i * top);
}

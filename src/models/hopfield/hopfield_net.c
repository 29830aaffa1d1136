/* The linear system on a closed hypercube of Li, Michel and Porod (1989, IEEE Trans. Circuits Syst.
 * 36(11):1405-1422): see dkmap/hopfield.h. With A(s) = mean + P (s - mean) and q = (I - P) mean,
 * which equals (I - P) t for every pattern t, P s = A(s) - q. The rows of U are orthonormal and P =
 * U'U.
 *
 * Cost per step of n states of width w: 4 n w t flops over all ranks, t the dimension of the span.
 */
#include "models/hopfield/hopfield_impl.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"

#define STEP  0.15
#define DECAY 10.0

dkm_status dkm_hopfield_join(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y, dkm_idx cols,
                             dkm_data **joined)
{
    dkm_idx d = dkm_data_cols(X);
    dkm_status status = dkm_data_create_dense(ctx, dkm_data_rows(X), cols, joined);

    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(X); i++) {
        double *row = dkm_data_values(*joined) + i * cols;
        memcpy(row, dkm_data_values_const(X) + i * d, (size_t)d * sizeof *row);
        if (Y)
            memcpy(row + d, dkm_data_values_const(Y) + i * (cols - d),
                   (size_t)(cols - d) * sizeof *row);
    }
    return status;
}

static dkm_local hopfield_net_allocate(dkm_hopfield *s)
{
    dkm_ctx *ctx = s->e.fitted.ctx;
    dkm_idx cols = dkm_data_cols(s->e.fitted.X);
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(ctx, cols, &s->mean));
    DKM_STEP(dkm_alloc(ctx, cols, &s->rest));
    DKM_STEP(dkm_alloc(ctx, dkm_data_local_rows(s->e.fitted.X), &s->squares));
out:
    return local;
}

static void sum_squares(dkm_hopfield *s)
{
    dkm_idx cols = dkm_data_cols(s->e.fitted.X);
    const double *rows = dkm_data_values_const(s->e.fitted.X);

    for (dkm_idx i = 0; i < dkm_data_local_rows(s->e.fitted.X); i++) {
        s->squares[i] = 0.0;
        for (dkm_idx j = i * cols; j < (i + 1) * cols; j++)
            s->squares[i] += rows[j] * rows[j];
    }
}

/* G = S U'U for the states S, whose rows were made less the mean. */
static dkm_status hopfield_net_project(dkm_hopfield *s, const dkm_dmat *S, dkm_dmat *G)
{
    dkm_status status = DKM_OK;
    dkm_dmat *F = NULL;

    DKM_TRY(dkm_dmat_create_like(S, s->e.p, s->e.fitted.nb, DKM_F64, &F));
    dkm_la_gemm('N', 'T', 1.0, S, s->U, 0.0, F);
    dkm_la_gemm('N', 'N', 1.0, F, s->U, 0.0, G);
out:
    dkm_dmat_destroy(&F);
    return status;
}

/* q = mean - mean U'U. */
static dkm_status find_rest(dkm_hopfield *s)
{
    dkm_status status = DKM_OK;
    const dkm_fitted_kernel *fitted = &s->e.fitted;
    dkm_idx cols = dkm_data_cols(fitted->X);
    dkm_dmat *S = NULL, *G = NULL;

    DKM_TRY(dkm_dmat_create(fitted->grid, 1, cols, fitted->nb, fitted->nb, DKM_F64, &S));
    DKM_TRY(dkm_dmat_create_like(S, cols, fitted->nb, DKM_F64, &G));
    dkm_dmat_add_row(S, 1.0, s->mean);
    DKM_TRY(hopfield_net_project(s, S, G));
    DKM_TRY(dkm_dmat_column_means(G, s->rest));
    for (dkm_idx j = 0; j < cols; j++)
        s->rest[j] = s->mean[j] - s->rest[j];
out:
    dkm_dmat_destroy(&G);
    dkm_dmat_destroy(&S);
    return status;
}

dkm_status dkm_hopfield_ready(dkm_hopfield *s)
{
    dkm_status status = DKM_OK;
    const dkm_fitted_kernel *fitted = &s->e.fitted;
    dkm_idx m = dkm_data_rows(fitted->X), cols = dkm_data_cols(fitted->X);
    dkm_dmat *patterns = NULL;

    DKM_AGREE(fitted->ctx, hopfield_net_allocate(s));
    sum_squares(s);
    DKM_TRY(dkm_dmat_create(fitted->grid, m, cols, fitted->nb, fitted->nb, DKM_F64, &patterns));
    DKM_TRY(dkm_dmat_from_rows(patterns, dkm_data_values_const(fitted->X)));
    DKM_TRY(dkm_dmat_column_means(patterns, s->mean));
    DKM_TRY(dkm_dmat_create(fitted->grid, s->e.p, cols, fitted->nb, fitted->nb, DKM_F64, &s->U));
    dkm_la_gemm('T', 'N', 1.0, s->e.W, patterns, 0.0, s->U); /* W'1 = 0: no need to center */
    DKM_TRY(find_rest(s));
out:
    dkm_dmat_destroy(&patterns);
    return status;
}

/* One step of the states in place, G being their projections less the mean. Local.
 * @return the largest change */
static double advance(const dkm_hopfield *s, dkm_dmat *S, const dkm_dmat *G)
{
    const double grow = exp(STEP), fade = exp(-DECAY * STEP);
    const double push = (1.0 - fade) * (1.0 + 1.0 / DECAY);
    double most = 0.0;

    for (dkm_idx jl = 0; jl < S->n_loc; jl++) {
        dkm_idx j = dkm_dmat_global_col(S, jl);
        for (dkm_idx il = 0; il < S->m_loc; il++) {
            double old = dkm_dmat_at(S, il, jl) + s->mean[j];
            double along = dkm_dmat_at(G, il, jl) + s->mean[j] - s->rest[j];
            double next = grow * along + fade * (old - along) + push * s->rest[j];
            next = fmin(1.0, fmax(-1.0, next));
            most = fmax(most, fabs(next - old));
            dkm_dmat_put(S, il, jl, next - s->mean[j]);
        }
    }
    return most;
}

/* States to their equilibrium; rows are less the mean before and after. */
static dkm_status hopfield_net_settle(dkm_hopfield *s, dkm_dmat *S)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->e.fitted.ctx;
    double most = INFINITY;
    dkm_dmat *G = NULL;

    DKM_TRY(dkm_dmat_create_like(S, dkm_dmat_cols(S), s->e.fitted.nb, DKM_F64, &G));
    for (dkm_idx k = 0; k < s->steps && most > s->tolerance; k++) {
        DKM_TRY(hopfield_net_project(s, S, G));
        most = advance(s, S, G);
        MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(ctx));
    }
    if (most > s->tolerance)
        dkm_log(ctx, DKM_INFO, "after %lld steps states of the net still move by %.1e",
                (long long)s->steps, most);
out:
    dkm_dmat_destroy(&G);
    return status;
}

dkm_status dkm_hopfield_complete(dkm_hopfield *s, const dkm_data *X, dkm_data **states)
{
    dkm_status status = DKM_OK;
    const dkm_fitted_kernel *fitted = &s->e.fitted;
    dkm_idx cols = dkm_data_cols(fitted->X);
    dkm_dmat *S = NULL;

    DKM_TRY(dkm_hopfield_join(fitted->ctx, X, NULL, cols, states));
    DKM_TRY(
        dkm_dmat_create(fitted->grid, dkm_data_rows(X), cols, fitted->nb, fitted->nb, DKM_F64, &S));
    DKM_TRY(dkm_dmat_from_rows(S, dkm_data_values_const(*states)));
    dkm_dmat_add_row(S, -1.0, s->mean);
    DKM_TRY(hopfield_net_settle(s, S));
    dkm_dmat_add_row(S, 1.0, s->mean);
    DKM_TRY(dkm_dmat_to_rows(S, dkm_data_values(*states)));
out:
    dkm_dmat_destroy(&S);
    return status;
}

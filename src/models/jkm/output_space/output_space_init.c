/* Candidates as coordinates, where the truth is among them, and a basis of the span of rows. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "kernels/evaluation/object_hash.h"
#include "kernels/joint/joint_impl.h"
#include "models/common/reproducible.h"
#include "models/jkm/output_space/output_space_impl.h"
#include "search/topk.h"

/* Identities of all candidates, on every rank. */
static dkm_status gather_identities(const dkm_data *candidates, double *all)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(candidates);
    dkm_idx n = dkm_data_local_rows(candidates);
    double *own = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, n, &own));
    for (dkm_idx i = 0; i < n; i++)
        own[i] = dkm_object_hash(&candidates->mine, i);
    DKM_TRY(dkm_repro_gather(ctx, dkm_data_rows(candidates), 1, own, 0, dkm_data_rows(candidates),
                             all));
out:
    DKM_FREE(own);
    return status;
}

static dkm_local space_init_look_up(dkm_output_space *s, const dkm_data *Y, dkm_idx count,
                                    const double *all)
{
    for (dkm_idx i = 0; i < dkm_data_local_rows(Y); i++) {
        double mine = dkm_object_hash(&Y->mine, i);
        dkm_idx c = 0;
        while (c < count && all[c] != mine)
            c++;
        if (c == count)
            return dkm_fail(s->ctx, DKM_ERR_ARG,
                            "row %lld of y is not among the candidates: they must contain every "
                            "right output",
                            (long long)(dkm_data_local_first(Y) + i));
        s->truth[i] = c;
    }
    return DKM_LOCAL_OK;
}

dkm_status dkm_output_space_find_truth(dkm_output_space *space, const dkm_data *Y,
                                       const dkm_data *candidates)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_data_local_rows(Y);
    double *all = NULL;

    DKM_AGREE(space->ctx, dkm_alloc(space->ctx, n, &space->truth));
    for (dkm_idx i = 0; i < n; i++)
        space->truth[i] = dkm_data_local_first(Y) + i;
    if (!candidates)
        goto out;
    DKM_AGREE(space->ctx,
              dkm_candidates_match(space->ctx, dkm_data_type(candidates), dkm_data_cols(candidates),
                                   dkm_data_type(Y), dkm_data_cols(Y)));
    DKM_AGREE(space->ctx, dkm_alloc(space->ctx, dkm_data_rows(candidates), &all));
    DKM_TRY(gather_identities(candidates, all));
    DKM_AGREE(space->ctx, space_init_look_up(space, Y, dkm_data_rows(candidates), all));
out:
    DKM_FREE(all);
    return status;
}

static dkm_status space_init_copy_rows(const dkm_data *from, dkm_data **to)
{
    dkm_status status =
        dkm_data_create_dense(dkm_data_ctx(from), dkm_data_rows(from), dkm_data_cols(from), to);

    if (status == DKM_OK)
        memcpy(dkm_data_values(*to), dkm_data_values_const(from),
               (size_t)(dkm_data_local_rows(from) * dkm_data_cols(from)) * sizeof(double));
    return status;
}

dkm_status dkm_output_space_training_rows(dkm_output_space *space)
{
    dkm_status status = DKM_OK;
    dkm_dmat *Z = NULL;

    DKM_TRY(dkm_embedding_training(space->embedding, &Z));
    DKM_TRY(dkm_data_create_dense(space->ctx, dkm_dmat_rows(Z), dkm_dmat_cols(Z), &space->C));
    DKM_TRY(dkm_dmat_to_rows(Z, dkm_data_values(space->C)));
out:
    dkm_dmat_destroy(&Z);
    return status;
}

dkm_status dkm_output_space_embed(dkm_output_space *space, const char *ky, const dkm_layout *layout)
{
    dkm_status status = DKM_OK;
    dkm_eigen_settings all = dkm_eigen_settings_default();
    dkm_eigen_info info = {0};

    if (space->alphabet || (ky && strcmp(ky, DKM_JOINT_LETTERS) == 0))
        return dkm_output_space_onehot_chars(space);
    if (!ky)
        return space_init_copy_rows(space->objects, &space->C);
    all.share = 1;
    all.center = 1;
    all.cutoff = 1e-12;
    all.solver = DKM_EIGEN_FULL;
    DKM_AGREE(space->ctx, dkm_calloc(space->ctx, 1, &space->embedding));
    DKM_TRY(dkm_fitted_kernel_parse(&space->embedding->fitted, NULL, space->objects, ky, layout));
    dkm_data_destroy(&space->objects); /* the embedding holds them */
    DKM_TRY(dkm_embedding_fit(space->embedding, &all, &info));
    DKM_TRY(dkm_output_space_training_rows(space));
out:
    return status;
}

#define DEPENDENT 1e-12 /* squared distance to the span so far, relative to the largest row */

/* Coordinates of rows along a basis of their span: G = L L', row by row with the largest of what is
 * left first; pivot[k] is the row that the k-th direction comes from. On rank 0. */
typedef struct span {
    dkm_idx m, r;
    double *G;      /* m x m */
    double *L;      /* m x m, of which r columns count */
    dkm_idx *pivot; /* r */
} span;

static void close_span(span *s)
{
    DKM_FREE(s->G);
    DKM_FREE(s->L);
    DKM_FREE(s->pivot);
}

static dkm_local open_span(dkm_ctx *ctx, dkm_idx m, span *s)
{
    dkm_local local = DKM_LOCAL_OK;

    *s = (span){.m = m};
    DKM_STEP(dkm_alloc(ctx, m * m, &s->G));
    DKM_STEP(dkm_calloc(ctx, m * m, &s->L));
    DKM_STEP(dkm_alloc(ctx, m, &s->pivot));
out:
    return local;
}

static double left(const span *s, dkm_idx i)
{
    double sum = s->G[i * s->m + i];

    for (dkm_idx k = 0; k < s->r; k++)
        sum -= s->L[i * s->m + k] * s->L[i * s->m + k];
    return sum;
}

static void find_directions(span *s)
{
    double most = 0;

    for (s->r = 0; s->r < s->m; s->r++) {
        dkm_idx best = 0;
        double root;
        for (dkm_idx i = 1; i < s->m; i++)
            if (left(s, i) > left(s, best))
                best = i;
        most = s->r == 0 ? left(s, best) : most;
        if (!(left(s, best) > DEPENDENT * most))
            return;
        root = sqrt(left(s, best));
        s->pivot[s->r] = best;
        for (dkm_idx i = 0; i < s->m; i++) {
            double sum = s->G[i * s->m + best];
            for (dkm_idx k = 0; k < s->r; k++)
                sum -= s->L[i * s->m + k] * s->L[best * s->m + k];
            s->L[i * s->m + s->r] = sum / root;
        }
    }
}

/* The Gram matrix of the rows, on every rank, and the directions, from rank 0. */
static dkm_status span_of(dkm_ctx *ctx, dkm_idx m, dkm_idx q, const double *Y, span *s)
{
    dkm_status status = DKM_OK;
    MPI_Comm comm = dkm_ctx_comm(ctx);
    dkm_idx n = dkm_slab_count(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx)),
            step = dkm_repro_panel_rows(q);
    double *panel = NULL, *own = NULL, *part = NULL;

    DKM_AGREE(ctx, open_span(ctx, m, s));
    DKM_AGREE(ctx, dkm_alloc(ctx, step * q, &panel));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * m, &own));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * step, &part));
    for (dkm_idx first = 0; first < m; first += step) {
        dkm_idx count = m - first < step ? m - first : step;
        DKM_TRY(dkm_repro_gather(ctx, m, q, Y, first, count, panel));
        dkm_repro_gemm_nt(n, count, q, 1.0, (dkm_row_block){Y, q}, (dkm_row_block){panel, q}, 0.0,
                          part);
        for (dkm_idx i = 0; i < n; i++)
            memcpy(own + i * m + first, part + i * count, (size_t)count * sizeof *own);
    }
    DKM_TRY(dkm_repro_gather(ctx, m, m, own, 0, m, s->G));
    if (dkm_ctx_rank(ctx) == 0)
        find_directions(s);
    MPI_Bcast(&s->r, 1, MPI_INT64_T, 0, comm);
    dkm_mpi_bcast(s->pivot, s->r, MPI_INT64_T, 0, comm);
    dkm_mpi_bcast(s->L, m * m, MPI_DOUBLE, 0, comm);
out:
    DKM_FREE(part);
    DKM_FREE(own);
    DKM_FREE(panel);
    return status;
}

/* rows <- L_P^-1 rows with L_P the pivots' rows of L: r rows of q numbers. */
static void space_init_solve_rows(const span *s, dkm_idx q, double *rows)
{
    for (dkm_idx k = 0; k < s->r; k++) {
        const double *l = s->L + s->pivot[k] * s->m;
        for (dkm_idx t = 0; t < k; t++)
            for (dkm_idx j = 0; j < q; j++)
                rows[k * q + j] -= l[t] * rows[t * q + j];
        for (dkm_idx j = 0; j < q; j++)
            rows[k * q + j] /= l[k];
    }
}

/* The basis L_P^-1 Y_P, of which each rank keeps its rows. */
static dkm_status space_init_make_basis(dkm_output_space *space, const dkm_data *Y, const span *s)
{
    dkm_status status = DKM_OK;
    dkm_idx q = space->cols, first;
    dkm_objs rows = {0};

    DKM_TRY(dkm_data_fetch(Y, s->r, s->pivot, &rows));
    space_init_solve_rows(s, q, rows.values);
    DKM_TRY(dkm_data_create_dense(space->ctx, s->r, q, &space->basis));
    first = dkm_data_local_first(space->basis);
    memcpy(dkm_data_values(space->basis), rows.values + first * q,
           (size_t)(dkm_data_local_rows(space->basis) * q) * sizeof(double));
out:
    dkm_objs_clear(&rows);
    return status;
}

dkm_status dkm_output_space_reduce_to_span(dkm_output_space *space, dkm_idx m)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = space->ctx;
    dkm_data *Y = NULL;
    double *Z = NULL;
    span s = {0};
    dkm_idx n, first;

    DKM_TRY(dkm_data_create_dense(ctx, m, space->cols, &Y));
    n = dkm_data_local_rows(Y);
    first = dkm_data_local_first(Y);
    memcpy(dkm_data_values(Y), space->Z, (size_t)(n * space->cols) * sizeof *Z);
    DKM_TRY(span_of(ctx, m, space->cols, space->Z, &s));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * s.r, &Z));
    for (dkm_idx i = 0; i < n; i++)
        memcpy(Z + i * s.r, s.L + (first + i) * m, (size_t)s.r * sizeof *Z);
    DKM_TRY(space_init_make_basis(space, Y, &s));
    space->r = s.r;
    DKM_FREE(space->Z);
    space->Z = Z;
    Z = NULL;
out:
    DKM_FREE(Z);
    close_span(&s);
    dkm_data_destroy(&Y);
    return status;
}

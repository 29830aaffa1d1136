/* Entries (i, j), i >= j, of a Gram matrix are drawn alike on every rank. Their owners put the
 * values in a list that is summed over the ranks; the objects of each pair are brought together and
 * the kernel is worked out from them anew. */
#include <math.h>
#include <stdlib.h>

#include <dkmap/random.h>

#include "cli/bench/bench.h"

enum { STREAM_ENTRIES = 103 };

typedef struct sample {
    dkm_idx count;
    dkm_idx *i, *j;
    double *values;
} sample;

static void free_sample(sample *s)
{
    free(s->i);
    free(s->j);
    free(s->values);
}

static dkm_local draw_sample(bench *b, dkm_idx count, sample *s)
{
    uint64_t seed = dkm_ctx_seed(b->ctx);

    *s = (sample){.count = count};
    s->i = calloc((size_t)count, sizeof *s->i);
    s->j = calloc((size_t)count, sizeof *s->j);
    s->values = calloc((size_t)count, sizeof *s->values);
    if (!s->i || !s->j || !s->values)
        return dkm_fail(b->ctx, DKM_ERR_MEMORY, "no memory for a sample of %lld entries",
                        (long long)count);
    for (dkm_idx k = 0; k < count; k++) {
        dkm_idx one = dkm_random_below(seed, STREAM_ENTRIES, (uint64_t)(2 * k), b->n);
        dkm_idx other = dkm_random_below(seed, STREAM_ENTRIES, (uint64_t)(2 * k + 1), b->n);
        s->i[k] = one > other ? one : other;
        s->j[k] = one > other ? other : one;
    }
    return DKM_LOCAL_OK;
}

static void bench_sample_take_values(const bench *b, const dkm_dmat *K, sample *s)
{
    int P = dkm_grid_rows(b->grid), Q = dkm_grid_cols(b->grid);

    for (dkm_idx k = 0; k < s->count; k++) {
        dkm_idx at = dkm_cyclic_local(s->i[k], b->nb, P) +
                     dkm_cyclic_local(s->j[k], b->nb, Q) * dkm_dmat_ld(K);
        if (dkm_cyclic_owner(s->i[k], b->nb, P) == dkm_grid_row(b->grid) &&
            dkm_cyclic_owner(s->j[k], b->nb, Q) == dkm_grid_col(b->grid))
            s->values[k] = dkm_dmat_precision(K) == DKM_F64 ? dkm_dmat_f64_const(K)[at]
                                                            : (double)dkm_dmat_f32_const(K)[at];
    }
    MPI_Allreduce(MPI_IN_PLACE, s->values, (int)s->count, MPI_DOUBLE, MPI_SUM,
                  dkm_ctx_comm(b->ctx));
}

/* The largest difference, infinite where something is not a number. */
static double bench_sample_compare(bench *b, const sample *s, const dkm_data *A, const dkm_data *B,
                                   bench_definition *definition)
{
    const double *values = s->values + dkm_data_local_first(A);
    double worst = 0;

    for (dkm_idx il = 0; il < dkm_data_local_rows(A); il++) {
        double difference = fabs(values[il] - definition(b, A, B, il));
        worst = difference <= worst ? worst : isnan(difference) ? INFINITY : difference;
    }
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(b->ctx));
    return worst;
}

dkm_status bench_sample(bench *b, const dkm_dmat *K, dkm_idx each, bench_definition *definition,
                        double *worst)
{
    dkm_status status = DKM_OK;
    sample s = {0};
    dkm_data *A = NULL, *B = NULL;

    *worst = NAN;
    DKM_AGREE(b->ctx, draw_sample(b, each * dkm_ctx_size(b->ctx), &s));
    bench_sample_take_values(b, K, &s);
    DKM_TRY(dkm_data_select(b->X, s.count, s.i, &A));
    DKM_TRY(dkm_data_select(b->X, s.count, s.j, &B));
    *worst = bench_sample_compare(b, &s, A, B, definition);
out:
    dkm_data_destroy(&B);
    dkm_data_destroy(&A);
    free_sample(&s);
    return status;
}

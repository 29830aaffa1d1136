/* U = W^+ V by conjugate gradients on the normal equations, min ||W U - V|| (CGLS; Hestenes and
 * Stiefel 1952, J. Res. Natl. Bur. Stand. 49(6):409-436, doi:10.6028/jres.049.044), started at V,
 * which is close to the solution: W V ~ V.
 *
 * Cost per iteration: 4 m k p / ranks flops and two allreduces of m p words. Replicated: the
 * weights and five arrays of m p numbers. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "models/lle/lle_impl.h"

#define STEPS    200
#define RESOLVED 1e-8

typedef struct work {
    dkm_lle *s;
    dkm_ctx *ctx;
    dkm_idx m;
    const dkm_objs *W;
    const dkm_multivec *V;
    dkm_lle_info *info;
} work;

/* out = W in ('N') or W'in ('T'), m x p on every rank, of the rows of W that this rank stands for.
 */
static void lle_cgls_multiply(const work *f, char trans, const double *in, double *out)
{
    dkm_idx p = f->s->p, k = f->s->k, first = dkm_data_local_first(f->s->fitted.X);

    memset(out, 0, (size_t)(f->m * p) * sizeof *out);
    for (dkm_idx i = first; i < first + f->V->n; i++)
        for (dkm_idx a = 0; a < k; a++) {
            const double *row = f->W->values + i * f->W->d;
            dkm_idx at = (dkm_idx)row[a], from = trans == 'N' ? at : i, to = trans == 'N' ? i : at;
            for (dkm_idx j = 0; j < p; j++)
                out[to * p + j] += row[k + a] * in[from * p + j];
        }
    dkm_mpi_allreduce(out, f->m * p, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(f->ctx));
}

static double lle_cgls_square(dkm_idx n, const double *a)
{
    double sum = 0;

    for (dkm_idx k = 0; k < n; k++)
        sum += a[k] * a[k];
    return sum;
}

/* Conjugate gradients for min ||W U - V||, all columns as one vector; arrays of m x p numbers:
 * u, r = V - W u, s = W'r, the direction d, and q = W d. */
static void lle_cgls_solve_weights(work *f, double *arrays[5])
{
    double *u = arrays[0], *r = arrays[1], *s = arrays[2], *d = arrays[3], *q = arrays[4];
    dkm_idx n = f->m * f->s->p;
    double norm = sqrt(lle_cgls_square(n, u)), gamma;

    lle_cgls_multiply(f, 'N', u, r);
    for (dkm_idx k = 0; k < n; k++)
        r[k] = u[k] - r[k];
    lle_cgls_multiply(f, 'T', r, s);
    memcpy(d, s, (size_t)n * sizeof *d);
    gamma = lle_cgls_square(n, s);
    while (f->info->steps < STEPS && sqrt(lle_cgls_square(n, r)) > RESOLVED * norm && gamma > 0) {
        double alpha, before = gamma;
        lle_cgls_multiply(f, 'N', d, q);
        alpha = gamma / lle_cgls_square(n, q);
        for (dkm_idx k = 0; k < n; k++) {
            u[k] += alpha * d[k];
            r[k] -= alpha * q[k];
        }
        lle_cgls_multiply(f, 'T', r, s);
        gamma = lle_cgls_square(n, s);
        for (dkm_idx k = 0; k < n; k++)
            d[k] = s[k] + gamma / before * d[k];
        f->info->steps++;
    }
    f->info->unresolved = norm > 0 ? sqrt(lle_cgls_square(n, r)) / norm : 0.0;
}

static dkm_local lle_cgls_allocate(dkm_ctx *ctx, dkm_idx n, double *arrays[5])
{
    dkm_local local = DKM_LOCAL_OK;

    for (int k = 0; k < 5; k++)
        DKM_STEP(dkm_calloc(ctx, n, &arrays[k]));
out:
    return local;
}

/* U = W^+ V */
static dkm_status resolve(work *f)
{
    dkm_status status = DKM_OK;
    dkm_idx p = f->s->p, first = dkm_data_local_first(f->s->fitted.X);
    double *arrays[5] = {NULL};

    DKM_AGREE(f->ctx, lle_cgls_allocate(f->ctx, f->m * p, arrays));
    for (dkm_idx i = 0; i < f->V->n; i++)
        memcpy(arrays[0] + (first + i) * p, f->V->a + i * f->V->ld, (size_t)p * sizeof(double));
    dkm_mpi_allreduce(arrays[0], f->m * p, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(f->ctx));
    lle_cgls_solve_weights(f, arrays);
    DKM_TRY(dkm_data_create_dense(f->ctx, f->m, p, &f->s->U));
    memcpy(dkm_data_values(f->s->U), arrays[0] + first * p, (size_t)(f->V->n * p) * sizeof(double));
out:
    for (int k = 0; k < 5; k++)
        DKM_FREE(arrays[k]);
    return status;
}

dkm_status dkm_lle_cgls(dkm_lle *s, const dkm_objs *W, const dkm_multivec *V, dkm_lle_info *info)
{
    work w = {s, s->fitted.ctx, dkm_data_rows(s->fitted.X), W, V, info};

    return resolve(&w);
}

/* Derivatives of a function L of K = k(X, X) by parameters of k, given G = dL / dK:
 *
 *   dL / d theta = sum_ij G_ij dK_ij / d theta = sum_i G_ii dK_ii + 2 sum_{i > j} G_ij dK_ij
 *
 * Cost per rank and parameter: that of its tiles of K, m^2 d / ranks flops; objects are sent once,
 * as for K. Held: one tile, and those that nested kernels need. Replicated: the gradient. */
#include "kernels/gram/param_gradient.h"

#include "core/alloc.h"
#include "kernels/gram/gram.h"
#include "matrix/dmat_impl.h"

typedef struct contraction {
    dkm_visitor visitor;
    const dkm_prepared *X;
    const dkm_dmat *G;
    dkm_idx count;
    const dkm_param_place *places;
    double *sums;
} contraction;

/* Elements of a tile below the diagonal count twice; on it stands dk(x, x). */
static double contract(const contraction *c, const dkm_dmat *shape, dkm_idx il, dkm_idx jl,
                       const dkm_tile_task *task, const dkm_tile *D, const double *diag)
{
    const double *d = D->c;
    double sum = 0;

    for (dkm_idx j = 0; j < D->nb; j++) {
        const double *g = c->G->a.f64 + (jl + j) * c->G->ld + il;
        dkm_idx i = task->first[j];
        double below = 0;
        if (i < D->na && dkm_dmat_global_row(shape, il + i) == dkm_dmat_global_col(shape, jl + j)) {
            sum += g[i] * diag[j];
            i++;
        }
        for (; i < D->na; i++)
            below += g[i] * d[i + j * D->ld];
        sum += 2.0 * below;
    }
    return sum;
}

static dkm_local look(dkm_visitor *visitor, const dkm_dmat *shape, dkm_idx il, dkm_idx jl,
                      const dkm_tile_task *task, const dkm_tile *C)
{
    contraction *c = (contraction *)visitor;
    const dkm_node *root = c->X->kernel->node;
    dkm_local local = DKM_LOCAL_OK;
    double *diag = NULL;

    DKM_STEP(dkm_alloc(c->X->ctx, C->nb, &diag));
    for (dkm_idx t = 0; t < c->count; t++) {
        DKM_STEP(dkm_node_param_tile(root, task, &c->places[t], C));
        DKM_STEP(dkm_node_param_diag(root, task->B, task->b, C->nb, &c->places[t], diag));
        c->sums[t] += contract(c, shape, il, jl, task, C, diag);
    }
out:
    DKM_FREE(diag);
    return local;
}

dkm_status dkm_gram_param_gradient(const dkm_prepared *X, const dkm_dmat *G, dkm_idx count,
                                   const dkm_param_place *places, double *gradient)
{
    dkm_status status = DKM_OK;
    contraction c = {.visitor = {.look = look},
                     .X = X,
                     .G = G,
                     .count = count,
                     .places = places,
                     .sums = gradient};

    for (dkm_idx t = 0; t < count; t++)
        gradient[t] = 0;
    dkm_phase_begin(X->ctx, "gradient");
    DKM_TRY(dkm_gram_visit(G->grid, X, G->nb, DKM_F64, &c.visitor));
    MPI_Allreduce(MPI_IN_PLACE, gradient, (int)count, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(X->ctx));
out:
    dkm_phase_end(X->ctx);
    return status;
}

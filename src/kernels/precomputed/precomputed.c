/* Kernels given by a matrix whose rows are the objects: row i holds values to the m training
 * objects, so an object that stands for a column need only know its index among them.
 *   gram      the values are k itself
 *   distance  the values are distances D; k = -1/2 (I - 1 c') D^2 (I - c 1') with c = 1/m, that is
 *             k(x, x') = (s(x) + s(x') - D(x, x')^2) / 2 with s(x) = mean of D(x, t)^2 - g / 2,
 *             g being the mean of all D^2; s(x) is k(x, x), also for new objects */
#include "kernels/precomputed/precomputed.h"

#include <math.h>

#include <dkmap/random.h>

#include "core/alloc.h"
#include "kernels/evaluation/prepare.h"

enum { SELF = DKM_ROW_SELF, INDEX = DKM_ROW_INDEX, EXTRAS = DKM_ROW_EXTRAS };

dkm_local dkm_precomputed_check_square(const dkm_prepared *P)
{
    const dkm_data *X = P->X;

    if (P->training || X->m == X->mine.d)
        return DKM_LOCAL_OK;
    return dkm_fail(P->ctx, DKM_ERR_ARG,
                    "the %s matrix of training objects is %lld x %lld: it must be square",
                    dkm_type_name(X->mine.type), (long long)X->m, (long long)X->mine.d);
}

dkm_local dkm_precomputed_add_extras(const dkm_prepared *P, dkm_objs *rows)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_objs_add_extra(rows, EXTRAS));
    for (dkm_idx i = 0; i < rows->n; i++) {
        dkm_idx index = P->X->first + i;
        rows->extra[i * EXTRAS + INDEX] = P->training ? -1.0 : (double)index;
        rows->extra[i * EXTRAS + SELF] = P->training ? NAN : rows->values[i * rows->d + index];
    }
out:
    return local;
}

/* This rank's part of u'A v - v'A u for random u and v, which is about ||A - A'||, and of ||A||^2.
 */
static dkm_local measure_symmetry(const dkm_prepared *P, double part[2])
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_objs *A = &P->X->mine;
    double *u = NULL, *v;

    DKM_STEP(dkm_alloc(P->ctx, 2 * A->d, &u));
    v = u + A->d;
    for (dkm_idx k = 0; k < A->d; k++) {
        u[k] = dkm_random_normal(0, 0, (uint64_t)k, 0);
        v[k] = dkm_random_normal(0, 1, (uint64_t)k, 0);
    }
    for (dkm_idx i = 0; i < A->n; i++)
        for (dkm_idx k = 0; k < A->d; k++) {
            double a = A->values[i * A->d + k];
            part[0] += a * (u[P->X->first + i] * v[k] - v[P->X->first + i] * u[k]);
            part[1] += a * a;
        }
out:
    DKM_FREE(u);
    return local;
}

static dkm_status precomputed_check_symmetric(const dkm_prepared *P)
{
    dkm_status status = DKM_OK;
    double part[2] = {0, 0}, all[2];

    DKM_AGREE(P->ctx, measure_symmetry(P, part));
    MPI_Allreduce(part, all, 2, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(P->ctx));
    DKM_REQUIRE(P->ctx, !(fabs(all[0]) > 1e-5 * sqrt(all[1])), DKM_ERR_ARG,
                "the %s matrix is not symmetric", dkm_type_name(P->X->mine.type));
out:
    return status;
}

static dkm_local borrow_rows(const dkm_prepared *P, dkm_objs *out)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_precomputed_check_square(P));
    *out = P->X->mine;
    out->extra = NULL;
    DKM_STEP(dkm_precomputed_add_extras(P, out));
out:
    return local;
}

static dkm_status precomputed_fill_rows(const dkm_node *node, dkm_prepared *P,
                                        dkm_local (*make)(const dkm_prepared *P, dkm_objs *out))
{
    dkm_status status = DKM_OK;
    dkm_objs objs = {0};

    DKM_AGREE(P->ctx, make(P, &objs));
    if (!P->training)
        DKM_TRY(precomputed_check_symmetric(P));
    DKM_TRY(dkm_feature_cache_fill(P, node->slot, &objs));
out:
    dkm_feature_cache_drop(P, &objs);
    return status;
}

static dkm_status gram_train(const dkm_node *node, dkm_prepared *P)
{
    dkm_status status = DKM_OK;

    DKM_TRY(precomputed_fill_rows(node, P, borrow_rows));
    DKM_TRY(dkm_feature_cache_keep_extras(P, node->slot));
out:
    return status;
}

void dkm_precomputed_diag(const dkm_node *node, dkm_panel *panel)
{
    for (dkm_idx i = 0; i < panel->n; i++)
        dkm_panel_diag(panel, node)[i] = dkm_panel_objs(panel, node)->extra[i * EXTRAS + SELF];
}

dkm_local dkm_precomputed_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    const dkm_objs *A = dkm_panel_objs(task->A, node), *B = dkm_panel_objs(task->B, node);

    for (dkm_idx j = 0; j < C->nb; j++) {
        dkm_idx index = (dkm_idx)B->extra[(task->b + j) * EXTRAS + INDEX];
        for (dkm_idx i = 0; i < C->na; i++)
            dkm_tile_put(C, i, j, A->values[(task->a + i) * A->d + index]);
    }
    return DKM_LOCAL_OK;
}

/* Mean of the squared distances of each object, in the place of k(x, x). */
static dkm_local make_distances(const dkm_prepared *P, dkm_objs *out)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(borrow_rows(P, out));
    for (dkm_idx i = 0; i < out->n; i++) {
        double sum = 0, own = out->extra[i * EXTRAS + SELF];
        if (own != 0 && !P->training)
            return dkm_fail(P->ctx, DKM_ERR_ARG, "object %lld is at a distance of %g from itself",
                            (long long)(P->X->first + i), own);
        for (dkm_idx k = 0; k < out->d; k++)
            sum += out->values[i * out->d + k] * out->values[i * out->d + k];
        out->extra[i * EXTRAS + SELF] = out->d > 0 ? sum / (double)out->d : 0.0;
    }
out:
    return local;
}

/* The mean of an extra over all objects. Collective. */
static double mean_diag(const dkm_prepared *P, const dkm_node *node)
{
    const dkm_objs *objs = &P->slot[node->slot].full->mine;
    double sum = 0, total = 0;

    for (dkm_idx i = 0; i < objs->n; i++)
        sum += objs->extra[i * EXTRAS + SELF];
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(P->ctx));
    return P->X->m > 0 ? total / (double)P->X->m : 0.0;
}

static dkm_status distance_train(const dkm_node *node, dkm_prepared *P)
{
    dkm_status status = DKM_OK;
    double half;

    DKM_TRY(precomputed_fill_rows(node, P, make_distances));
    /* g / 2: the mean of s over training objects, or half the mean of what will become s */
    half = P->training ? mean_diag(P->training, node) : mean_diag(P, node) / 2;
    for (dkm_idx i = 0; i < P->X->mine.n; i++)
        P->slot[node->slot].full->mine.extra[i * EXTRAS + SELF] -= half;
    DKM_TRY(dkm_feature_cache_keep_extras(P, node->slot));
out:
    return status;
}

static dkm_local distance_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    const dkm_objs *A = dkm_panel_objs(task->A, node), *B = dkm_panel_objs(task->B, node);

    for (dkm_idx j = 0; j < C->nb; j++) {
        const double *b = B->extra + (task->b + j) * EXTRAS;
        for (dkm_idx i = 0; i < C->na; i++) {
            double gap = A->values[(task->a + i) * A->d + (dkm_idx)b[INDEX]];
            double both = A->extra[(task->a + i) * EXTRAS + SELF] + b[SELF];
            dkm_tile_put(C, i, j, 0.5 * (both - gap * gap));
        }
    }
    return DKM_LOCAL_OK;
}

const dkm_kernel_class dkm_kernel_class_gram = {.name = "gram",
                                                .types = DKM_TYPE_BIT(DKM_GRAM),
                                                .train = gram_train,
                                                .diag = dkm_precomputed_diag,
                                                .tile = dkm_precomputed_tile};

const dkm_kernel_class dkm_kernel_class_distance = {.name = "distance",
                                                    .types = DKM_TYPE_BIT(DKM_DISTANCE),
                                                    .is_data_dependent = 1,
                                                    .train = distance_train,
                                                    .diag = dkm_precomputed_diag,
                                                    .tile = distance_tile};

/* matern and rq: kernels of the distance r = ||x - x'|| alone, smoother and rougher than rbf.
 *
 *   matern(nu=1/2)  exp(-r / sigma)
 *   matern(nu=3/2)  (1 + t) exp(-t),             t = sqrt(3) r / sigma
 *   matern(nu=5/2)  (1 + t + t^2 / 3) exp(-t),   t = sqrt(5) r / sigma
 *   rq(alpha)       (1 + r^2 / (2 alpha sigma^2))^-alpha, a mixture of rbf kernels of many widths
 *
 * (Rasmussen, Williams 2006, section 4.2). With a width per column they take sum_k
 * (x_k - x'_k)^2 / sigma_k^2 for r^2 / sigma^2: columns are divided by their widths beforehand.
 * Distances come from inner products, as those of rbf do.
 *
 * Cost of a tile of na x nb values: 2 na nb d flops, by gemm for dense rows, and one pass, which for
 * matern is vectorized (evaluation/tile_maps.h).
 * Local. */
#include <math.h>

#include "kernels/evaluation/median_distance.h"
#include "kernels/evaluation/row_transform.h"
#include "kernels/evaluation/tile_maps.h"
#include "kernels/vector/vectors.h"

enum { SIGMA, SHAPE }; /* nu, or alpha */

static double rational_quadratic(const dkm_node *node, double square)
{
    double alpha = dkm_node_param(node, SHAPE);

    return pow(1.0 + 0.5 * square / alpha, -alpha);
}

static double rate(const dkm_node *node)
{
    double sigma = dkm_node_widths(node) ? 1.0 : dkm_node_param(node, SIGMA);

    return 1.0 / (sigma * sigma);
}

static dkm_local matern_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    double nu = dkm_node_param(node, SHAPE);
    double by[2] = {nu == 0.5 ? 0.0 : 1.0, nu == 2.5 ? 1.0 / 3.0 : 0.0};
    dkm_local local = dkm_vectors_dot(node, task, C);

    dkm_map_matern(C, dkm_panel_objs(task->A, node)->extra + task->a,
                   dkm_panel_objs(task->B, node)->extra + task->b, 2.0 * nu * rate(node), by);
    return local;
}

static dkm_local rq_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    const double *a = dkm_panel_objs(task->A, node)->extra + task->a;
    const double *b = dkm_panel_objs(task->B, node)->extra + task->b;
    dkm_local local = dkm_vectors_dot(node, task, C);
    double r = rate(node);

    for (dkm_idx j = 0; j < C->nb; j++)
        for (dkm_idx i = 0; i < C->na; i++)
            dkm_tile_put(
                C, i, j,
                rational_quadratic(node, r * fmax(0.0, a[i] + b[j] - 2 * dkm_tile_get(C, i, j))));
    return local;
}

/* ||x||^2 + ||x'||^2 - 2 <x, x'> is off by eps max ||x||^2, about. */
static double stationary_loss(const dkm_node *node, const dkm_panel *panel)
{
    const double *squares = dkm_panel_objs(panel, node)->extra;
    double most = 0;

    for (dkm_idx i = 0; i < panel->n; i++)
        most = fmax(most, squares[i]);
    return 2.0 * rate(node) * most;
}

static void rq_derivatives(const dkm_node *node, const dkm_dots *pairs, const dkm_derivatives *out)
{
    double alpha = dkm_node_param(node, SHAPE), r = rate(node);

    for (dkm_idx i = 0; i < pairs->n; i++) {
        double square = r * fmax(0.0, pairs->a[i] + pairs->b[i] - 2.0 * pairs->s[i]);
        out->k[i] = rational_quadratic(node, square);
        out->dk_ds[i] = r * out->k[i] / (1.0 + 0.5 * square / alpha);
        out->dk_da[i] = -0.5 * out->dk_ds[i];
    }
}

/* f'(q) with t = sqrt(2 nu q); of nu = 1/2 it grows without bound at q = 0, where it is multiplied
 * by 0. */
static double matern_slope(const dkm_node *node, double q)
{
    double nu = dkm_node_param(node, SHAPE), t = sqrt(2.0 * nu * q);

    if (nu == 0.5)
        return -0.5 * exp(-t) / fmax(t, 1e-150);
    return nu == 1.5 ? -1.5 * exp(-t) : -5.0 / 6.0 * (1.0 + t) * exp(-t);
}

static dkm_local matern_param_tile(const dkm_node *node, const dkm_tile_task *task,
                                   const dkm_param_place *by, const dkm_tile *D)
{
    return dkm_vectors_width_tile(node, task, by->number, matern_slope, D);
}

static double rq_slope(const dkm_node *node, double q)
{
    double alpha = dkm_node_param(node, SHAPE);

    return -0.5 * pow(1.0 + 0.5 * q / alpha, -alpha - 1.0);
}

/* dk / d alpha = k (z / (1 + z) - log(1 + z)), z = q / (2 alpha). */
static dkm_local rq_param_tile(const dkm_node *node, const dkm_tile_task *task,
                               const dkm_param_place *by, const dkm_tile *D)
{
    const double *a = dkm_panel_objs(task->A, node)->extra + task->a;
    const double *b = dkm_panel_objs(task->B, node)->extra + task->b;
    double alpha = dkm_node_param(node, SHAPE), r = rate(node), *d = D->c;
    dkm_local local = DKM_LOCAL_OK;

    if (by->param == SIGMA)
        return dkm_vectors_width_tile(node, task, by->number, rq_slope, D);
    DKM_STEP(dkm_vectors_dot(node, task, D));
    for (dkm_idx j = 0; j < D->nb; j++)
        for (dkm_idx i = 0; i < D->na; i++) {
            double *at = &d[i + j * D->ld], q = r * fmax(0.0, a[i] + b[j] - 2.0 * *at);
            double z = 0.5 * q / alpha;
            *at = rational_quadratic(node, q) * (z / (1.0 + z) - log1p(z));
        }
out:
    return local;
}

static const char *matern_refuse(const dkm_node *node)
{
    double nu = dkm_node_param(node, SHAPE);

    return nu == 0.5 || nu == 1.5 || nu == 2.5
               ? NULL
               : "nu must be 0.5, 1.5 or 2.5; for greater ones take rbf";
}

static const char *const words[] = {"median", NULL};

static dkm_status stationary_resolve(const dkm_kernel *kernel, const dkm_node *node, int k,
                                     const dkm_data *X, double *number)
{
    (void)k;
    return dkm_median_distance(kernel, node, X, number);
}

#define WIDTH                                                                                      \
    {                                                                                              \
        .name = "sigma", .range = DKM_POSITIVE, .default_value = 1, .is_list = 1, .words = words   \
    }

const dkm_kernel_class dkm_kernel_class_matern = {
    .name = "matern",
    .origin = DKM_ORIGIN_FREE,
    .types = DKM_VECTOR_TYPES,
    .params = DKM_PARAMS(
        WIDTH, {.name = "nu", .range = DKM_POSITIVE, .default_value = 1.5, .is_choice = 1}),
    .divides_columns = 1,
    .refuse = matern_refuse,
    .resolve = stationary_resolve,
    .precompute = dkm_vectors_precompute,
    .diag = dkm_diag_one,
    .loss = stationary_loss,
    .tile = matern_tile,
    .param_tile = matern_param_tile};

const dkm_kernel_class dkm_kernel_class_rq = {
    .name = "rq",
    .origin = DKM_ORIGIN_FREE,
    .types = DKM_VECTOR_TYPES,
    .params = DKM_PARAMS(WIDTH, {.name = "alpha", .range = DKM_POSITIVE, .default_value = 1}),
    .divides_columns = 1,
    .resolve = stationary_resolve,
    .precompute = dkm_vectors_precompute,
    .diag = dkm_diag_one,
    .loss = stationary_loss,
    .tile = rq_tile,
    .derivatives = rq_derivatives,
    .param_tile = rq_param_tile};

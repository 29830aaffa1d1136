/* local-patch: the kernel of local correlations in images, also called locality-improved (Schoelkopf,
 * Simard, Smola and Vapnik 1998, Prior knowledge in support vector kernels, NIPS 10:640-646). Pixels
 * of two images of equal shape are multiplied, the products are summed over a window around each
 * pixel p with weights that fall like a pyramid, and the sums are raised to a power and added up:
 *
 *     k(x, x') = ( sum_p ( sum_q w(p - q) x_q x'_q )^degree )^power,
 *     w(u) = (R + 1 - |u|_max) / W for |u|_max <= R = (width - 1) / 2, W so that w sums to one.
 *
 * What is outside of the image is zero. degree=1 is the inner product of the images, weighted down
 * at their border.
 *
 * The pyramid is a sum of R + 1 square boxes, each the sum of 2 r + 1 rows of sums of 2 r + 1 pixels.
 * Cost: about ((R + 1)^2 + 2 R) d additions per pair of images of d pixels, d multiplications and
 * degree d for the power; nothing is sent except the images. Held: five images per thread. */
#include "core/alloc.h"
#include "core/minmax.h"
#include "kernels/evaluation/panel.h"

enum { SHAPE, WIDTH, DEGREE, POWER };

/* What the pairs of a tile share. */
typedef struct windows {
    dkm_idx height, width, R, degree, power;
    double scale;                  /* 1 / W */
    double *product, *rows, *sums; /* an image each */
} windows;

static double integer_power(double x, dkm_idx n)
{
    double y = 1;

    for (; n > 0; n >>= 1, x *= x)
        if (n & 1)
            y *= x;
    return y;
}

static dkm_local open_windows(windows *w, const dkm_node *node, dkm_ctx *ctx)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *shape = node->param[SHAPE].numbers;
    dkm_idx d;

    *w = (windows){.height = (dkm_idx)shape[0],
                   .width = (dkm_idx)shape[1],
                   .R = ((dkm_idx)dkm_node_param(node, WIDTH) - 1) / 2,
                   .degree = (dkm_idx)dkm_node_param(node, DEGREE),
                   .power = (dkm_idx)dkm_node_param(node, POWER)};
    for (dkm_idx r = 0; r <= w->R; r++)
        w->scale += (double)((2 * r + 1) * (2 * r + 1));
    w->scale = 1.0 / w->scale;
    d = w->height * w->width;
    DKM_STEP(dkm_alloc(ctx, 3 * d, &w->product));
    w->rows = w->product + d;
    w->sums = w->rows + d;
out:
    return local;
}

/* rows(i, j) += product(i, j - r) + product(i, j + r). */
static void widen_rows(const windows *w, dkm_idx r)
{
    for (dkm_idx i = 0; i < w->height; i++) {
        const double *from = w->product + i * w->width;
        double *to = w->rows + i * w->width;
        for (dkm_idx j = r; j < w->width; j++)
            to[j] += from[j - r];
        for (dkm_idx j = 0; j + r < w->width; j++)
            to[j] += from[j + r];
    }
}

/* sums(i, j) += rows(i - r, j) + ... + rows(i + r, j). */
static void add_boxes(const windows *w, dkm_idx r)
{
    for (dkm_idx i = 0; i < w->height; i++) {
        double *to = w->sums + i * w->width;
        dkm_idx end = dkm_idx_min(w->height, i + r + 1);
        for (dkm_idx k = i > r ? i - r : 0; k < end; k++) {
            const double *from = w->rows + k * w->width;
            for (dkm_idx j = 0; j < w->width; j++)
                to[j] += from[j];
        }
    }
}

static double local_patch(const windows *w, const double *x, const double *y)
{
    dkm_idx d = w->height * w->width;
    double sum = 0;

    for (dkm_idx q = 0; q < d; q++) {
        w->product[q] = w->rows[q] = x[q] * y[q];
        w->sums[q] = 0;
    }
    for (dkm_idx r = 0; r <= w->R; r++) {
        if (r > 0)
            widen_rows(w, r);
        add_boxes(w, r);
    }
    for (dkm_idx p = 0; p < d; p++)
        sum += integer_power(w->scale * w->sums[p], w->degree);
    return integer_power(sum, w->power);
}

static dkm_local local_patch_precompute(const dkm_node *node, const dkm_objs *X, dkm_objs *out)
{
    dkm_local local = DKM_LOCAL_OK;
    windows w = {0};

    *out = *X;
    out->extra = NULL;
    DKM_STEP(dkm_objs_add_extra(out, 1));
    DKM_STEP(open_windows(&w, node, X->ctx));
    if (X->d != w.height * w.width) {
        local = dkm_fail(X->ctx, DKM_ERR_ARG,
                         "local-patch: images of %lldx%lld have %lld pixels, and these rows have "
                         "%lld columns",
                         (long long)w.height, (long long)w.width, (long long)(w.height * w.width),
                         (long long)X->d);
        goto out;
    }
    for (dkm_idx i = 0; i < X->n; i++) {
        const double *x = X->values + i * dkm_objs_step(X);
        out->extra[i] = local_patch(&w, x, x);
    }
out:
    DKM_FREE(w.product);
    return local;
}

/* Image i of a panel, converted where the panel is in single precision. */
static const double *image_of(const dkm_panel *panel, const dkm_node *node, dkm_idx i, dkm_idx d,
                              double *buffer)
{
    const float *single = dkm_panel_values(panel, node, i);

    if (!panel->single[node->slot])
        return dkm_panel_values(panel, node, i);
    for (dkm_idx q = 0; q < d; q++)
        buffer[q] = (double)single[q];
    return buffer;
}

static dkm_local local_patch_tile(const dkm_node *node, const dkm_tile_task *task,
                                  const dkm_tile *C)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx d = dkm_panel_objs(task->A, node)->d;
    double *images = NULL;
    windows w = {0};

    DKM_STEP(open_windows(&w, node, task->A->of->ctx));
    DKM_STEP(dkm_alloc(task->A->of->ctx, 2 * d, &images));
    for (dkm_idx j = 0; j < C->nb; j++) {
        const double *y = image_of(task->B, node, task->b + j, d, images + d);
        for (dkm_idx i = 0; i < C->na; i++) {
            int wanted = !task->first || i >= task->first[j];
            dkm_tile_put(
                C, i, j,
                wanted ? local_patch(&w, image_of(task->A, node, task->a + i, d, images), y) : 0.0);
        }
    }
out:
    DKM_FREE(images);
    DKM_FREE(w.product);
    return local;
}

static const char *local_patch_refuse(const dkm_node *node)
{
    const dkm_param_value *shape = &node->param[SHAPE];

    if (shape->count != 2)
        return "local-patch needs the shape of the images: local-patch(shape=28x28)";
    return (dkm_idx)dkm_node_param(node, WIDTH) % 2 == 0
               ? "width must be odd: a window has a pixel in its middle"
               : NULL;
}

const dkm_kernel_class dkm_kernel_class_local_patch = {
    .name = "local-patch",
    .types = DKM_TYPE_BIT(DKM_DENSE),
    .params = DKM_PARAMS({.name = "shape", .range = DKM_COUNT, .is_shape = 1},
                         {.name = "width", .range = DKM_COUNT, .default_value = 9},
                         {.name = "degree", .range = DKM_COUNT, .default_value = 2},
                         {.name = "power", .range = DKM_COUNT, .default_value = 1}),
    .precompute_params = 4,
    .refuse = local_patch_refuse,
    .precompute = local_patch_precompute,
    .diag = dkm_panel_diag_from_extra,
    .tile = local_patch_tile};

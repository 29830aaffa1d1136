/* The loss of decoding leave-one-out predictions against refits one by one, and its gradient by both
 * kernels, the ridge and the temperature against differences. */
#include <math.h>
#include <string.h>

#include <dkmap/random.h>

#include "kernels/gram/gram.h"
#include "kernels/gram/param_gradient.h"
#include "matrix/dmat_impl.h"
#include "matrix/symmetrize.h"
#include "solvers/tune/decode_loss.h"
#include "support/check.h"
#include "support/fixture_objects.h"

enum { M = 23, D = 2, MOST = 6 };

static double input(dkm_idx i, dkm_idx k)
{
    return dkm_random_normal(5, 1, (uint64_t)i, (uint64_t)k);
}

static double output(dkm_idx i, dkm_idx k)
{
    return sin(2.0 * input(i, k)) + 0.2 * dkm_random_normal(5, 2, (uint64_t)i, (uint64_t)k);
}

typedef struct side {
    dkm_data *data;
    dkm_kernel *kernel;
    dkm_prepared *prepared;
    dkm_idx count;
    dkm_param_place places[MOST];
} side;

typedef struct problem {
    dkm_grid *grid;
    dkm_idx nb;
    side x, y;
    double gamma, temperature;
    dkm_dmat *Delta;
} problem;

static void side_open(dkm_ctx *ctx, side *s, double (*value)(dkm_idx, dkm_idx), const char *text)
{
    s->data = objects_values(ctx, DKM_DENSE, M, D, value);
    CHECK_OK(ctx, dkm_kernel_parse(ctx, text, &s->kernel));
    s->count = dkm_kernel_list_params(s->kernel, MOST, s->places);
    CHECK(s->count > 0 && s->count <= MOST);
}

static void side_close(side *s)
{
    dkm_prepared_destroy(&s->prepared);
    dkm_kernel_destroy(&s->kernel);
    dkm_data_destroy(&s->data);
}

static dkm_dmat *gram_of(dkm_ctx *ctx, problem *p, side *s)
{
    dkm_dmat *K = NULL;

    dkm_prepared_destroy(&s->prepared);
    CHECK(dkm_kernel_update(s->kernel).code == DKM_OK);
    CHECK_OK(ctx, dkm_kernel_prepare(s->kernel, s->data, &s->prepared));
    CHECK_OK(ctx, dkm_gram(p->grid, s->kernel, s->prepared, p->nb, DKM_F64, &K));
    CHECK_OK(ctx, dkm_dmat_symmetrize('L', K));
    return K;
}

/* Any loss will do: |y - y'| of the first column, and something that is not symmetric. */
static double loss_of(void *user, dkm_idx i, dkm_idx j)
{
    (void)user;
    return fabs(output(i, 0) - output(j, 0)) + 0.1 * (i > j);
}

/* The losses; and the gradient by kx, ky, gamma and T where it is wanted. */
static dkm_decode_info losses(dkm_ctx *ctx, problem *p, double *gradient)
{
    dkm_dmat *K = gram_of(ctx, p, &p->x), *L = gram_of(ctx, p, &p->y);
    dkm_decoding decoding = {.gamma = p->gamma,
                             .temperature = p->temperature,
                             .L = L,
                             .Delta = p->Delta,
                             .no_gradient = !gradient};
    dkm_decode_info info;

    CHECK_OK(ctx, dkm_decode_loss(K, &decoding, &info));
    if (gradient) {
        dkm_idx nx = p->x.count, ny = p->y.count;
        CHECK_OK(ctx, dkm_gram_param_gradient(p->x.prepared, info.by_K, nx, p->x.places, gradient));
        CHECK_OK(ctx,
                 dkm_gram_param_gradient(p->y.prepared, info.by_L, ny, p->y.places, gradient + nx));
        gradient[nx + ny] = dkm_dmat_mean_diagonal(info.by_K) * M;
        gradient[nx + ny + 1] = info.by_temperature;
    }
    dkm_dmat_destroy(&info.by_K);
    dkm_dmat_destroy(&info.by_L);
    dkm_dmat_destroy(&L);
    dkm_dmat_destroy(&K);
    return info;
}

static void problem_open(dkm_ctx *ctx, problem *p, const char *kx, const char *ky)
{
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &p->grid));
    side_open(ctx, &p->x, input, kx);
    side_open(ctx, &p->y, output, ky);
    CHECK_OK(ctx, dkm_dmat_create(p->grid, M, M, p->nb, p->nb, DKM_F64, &p->Delta));
    dkm_dmat_fill(p->Delta, loss_of, NULL);
    p->gamma = 0.1;
    p->temperature = 0.2;
}

static void problem_close(problem *p)
{
    dkm_dmat_destroy(&p->Delta);
    side_close(&p->y);
    side_close(&p->x);
    dkm_grid_destroy(&p->grid);
}

static double *number_of(problem *p, dkm_idx k)
{
    if (k < p->x.count)
        return dkm_param_number(p->x.kernel, &p->x.places[k]);
    k -= p->x.count;
    if (k < p->y.count)
        return dkm_param_number(p->y.kernel, &p->y.places[k]);
    return k == p->y.count ? &p->gamma : &p->temperature;
}

/* Differences are off by h^2 L''' / 6 and by eps L / h: 1e-9 for h = 1e-5 x. */
static void compare(dkm_ctx *ctx, const char *kx, const char *ky, dkm_idx nb)
{
    double gradient[2 * MOST + 2], loss;
    problem p = {.nb = nb};

    problem_open(ctx, &p, kx, ky);
    loss = losses(ctx, &p, gradient).loss;
    for (dkm_idx k = 0; k < p.x.count + p.y.count + 2; k++) {
        double *number = number_of(&p, k), at = *number, h = 1e-5 * at, above, below;
        *number = at + h;
        above = losses(ctx, &p, NULL).loss;
        *number = at - h;
        below = losses(ctx, &p, NULL).loss;
        *number = at;
        CHECK_CLOSE(at * gradient[k] / loss, at * (above - below) / (2.0 * h) / loss, 1e-6);
        CHECK(fabs(at * gradient[k] / loss) > 1e-8);
    }
    problem_close(&p);
}

static void gradients_are_those_of_differences(dkm_ctx *ctx)
{
    compare(ctx, "rbf(sigma=1.5)", "rbf(sigma=1)", 4);
    compare(ctx, "matern(sigma=1;2, nu=1.5)", "rbf(sigma=1;0.7)", 5);
    compare(ctx, "rbf(sigma=1.2)", "sum(scale(linear, by=0.5), rq(sigma=1, alpha=2))", 64);
}

static double rbf_of(double (*value)(dkm_idx, dkm_idx), dkm_idx i, dkm_idx j, double sigma)
{
    double square = 0;

    for (dkm_idx k = 0; k < D; k++)
        square += (value(i, k) - value(j, k)) * (value(i, k) - value(j, k));
    return exp(-square / (2.0 * sigma * sigma));
}

/* Weights of the outputs other than i in a prediction at x_i from the others: Gauss without pivots
 * on (K + gamma I) w = k(x_i), and what is lacking to 1 in equal parts, which is the mean. */
static void weights_without(dkm_idx i, double *w)
{
    static double A[M][M + 1];
    double sum = 0;
    dkm_idx n = 0;

    for (dkm_idx r = 0; r < M; r++) {
        if (r == i)
            continue;
        for (dkm_idx c = 0, at = 0; c < M; c++)
            if (c != i)
                A[n][at++] = rbf_of(input, r, c, 1.5) + (r == c ? 0.1 : 0.0);
        A[n++][M - 1] = rbf_of(input, r, i, 1.5);
    }
    for (dkm_idx k = 0; k < n; k++)
        for (dkm_idx r = 0; r < n; r++) {
            double by = A[r][k] / A[k][k];
            for (dkm_idx c = k; r != k && c < M; c++)
                A[r][c] -= by * A[k][c];
        }
    for (dkm_idx k = 0; k < n; k++)
        sum += A[k][M - 1] / A[k][k];
    for (dkm_idx k = 0; k < n; k++)
        w[k] = A[k][M - 1] / A[k][k] + (1.0 - sum) / (double)n;
}

static void losses_are_those_of_refits(dkm_ctx *ctx)
{
    problem p = {.nb = 7};
    dkm_decode_info info;
    double loss = 0, nearest = 0, w[M];

    for (dkm_idx i = 0; i < M; i++) {
        double least = INFINITY, at_least = 0, sum = 0, risk = 0;
        weights_without(i, w);
        for (dkm_idx c = 0; c < M; c++) {
            double d = 1.0, delta = loss_of(NULL, i, c);
            for (dkm_idx j = 0, k = 0; j < M; j++)
                if (j != i)
                    d -= 2.0 * w[k++] * rbf_of(output, j, c, 1.0);
            if (c == i)
                continue;
            sum += exp(-d / 0.2);
            risk += exp(-d / 0.2) * delta;
            at_least = d < least ? delta : at_least;
            least = d < least ? d : least;
        }
        loss += risk / sum / M;
        nearest += at_least / M;
    }
    problem_open(ctx, &p, "rbf(sigma=1.5)", "rbf(sigma=1)");
    info = losses(ctx, &p, NULL);
    CHECK_CLOSE(info.loss, loss, 1e-11);
    CHECK_CLOSE(info.nearest, nearest, 1e-11);
    problem_close(&p);
}

static const check_case cases[] = {
    CASE(gradients_are_those_of_differences),
    CASE(losses_are_those_of_refits),
};

CHECK_MAIN(cases)

#include <math.h>
#include <string.h>

#include <dkmap/hopfield.h>
#include <dkmap/random.h>

#include "support/check.h"

/* M patterns of X + Y columns, NEW inputs. */
enum { M = 6, NEW = 11, X_COLS = 7, Y_COLS = 5, COLS = X_COLS + Y_COLS, STEPS = 25 };

static double pattern(uint64_t stream, dkm_idx i, dkm_idx j)
{
    return 2.0 * dkm_random_uniform(3, stream, (uint64_t)i, (uint64_t)j) - 1.0;
}

static dkm_status make(dkm_ctx *ctx, uint64_t stream, dkm_idx m, dkm_idx first, dkm_idx cols,
                       dkm_data **data)
{
    dkm_status status = dkm_data_create_dense(ctx, m, cols, data);

    for (dkm_idx k = 0; status == DKM_OK && k < cols * dkm_data_local_rows(*data); k++)
        dkm_data_values(*data)[k] =
            pattern(stream, dkm_data_local_first(*data) + k / cols, first + k % cols);
    return status;
}

static dkm_status fit_and_predict(dkm_ctx *ctx, dkm_data **Z)
{
    dkm_hopfield_settings s = dkm_hopfield_settings_default();
    dkm_status status = DKM_OK;
    dkm_data *X = NULL, *Y = NULL, *N = NULL;
    dkm_model *model = NULL;

    *Z = NULL;
    s.steps = STEPS;
    DKM_TRY(make(ctx, 0, M, 0, X_COLS, &X));
    DKM_TRY(make(ctx, 0, M, X_COLS, Y_COLS, &Y));
    DKM_TRY(make(ctx, 1, NEW, 0, X_COLS, &N));
    DKM_TRY(dkm_hopfield_fit(ctx, X, Y, &s, &model, NULL));
    DKM_TRY(dkm_model_predict(model, N, Z));
out:
    dkm_model_destroy(&model);
    dkm_data_destroy(&N);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    return status;
}

static double dot(const double *a, const double *b)
{
    double sum = 0;

    for (int j = 0; j < COLS; j++)
        sum += a[j] * b[j];
    return sum;
}

/* An orthonormal basis of the differences to the last pattern, by Gram and Schmidt. */
static void find_basis(double basis[M - 1][COLS])
{
    for (int k = 0; k < M - 1; k++) {
        double norm;
        for (int j = 0; j < COLS; j++)
            basis[k][j] = pattern(0, k, j) - pattern(0, M - 1, j);
        for (int twice = 0; twice < 2; twice++)
            for (int l = 0; l < k; l++) {
                double along = dot(basis[k], basis[l]);
                for (int j = 0; j < COLS; j++)
                    basis[k][j] -= along * basis[l][j];
            }
        norm = sqrt(dot(basis[k], basis[k]));
        for (int j = 0; j < COLS; j++)
            basis[k][j] /= norm;
    }
}

static void project(double basis[M - 1][COLS], const double *s, double *out)
{
    memset(out, 0, COLS * sizeof *out);
    for (int k = 0; k < M - 1; k++) {
        double along = dot(s, basis[k]);
        for (int j = 0; j < COLS; j++)
            out[j] += along * basis[k][j];
    }
}

/* The formula of the header, word by word, about the last pattern. */
static int where_it_ends(dkm_idx i)
{
    double basis[M - 1][COLS], s[COLS] = {0}, t[COLS], Ps[COLS], Pt[COLS], best = INFINITY;
    double h = 0.15, tau = 10.0;
    int nearest = -1;

    find_basis(basis);
    for (int j = 0; j < COLS; j++)
        t[j] = pattern(0, M - 1, j);
    for (int j = 0; j < X_COLS; j++)
        s[j] = pattern(1, i, j);
    project(basis, t, Pt);
    for (int k = 0; k < STEPS; k++) {
        project(basis, s, Ps);
        for (int j = 0; j < COLS; j++)
            s[j] = fmin(1.0, fmax(-1.0, exp(h) * Ps[j] + exp(-tau * h) * (s[j] - Ps[j]) +
                                            (1 - exp(-tau * h)) * (1 + 1 / tau) * (t[j] - Pt[j])));
    }
    for (int k = 0; k < M; k++) {
        double d = 0;
        for (int j = 0; j < COLS; j++)
            d += (s[j] - pattern(0, k, j)) * (s[j] - pattern(0, k, j));
        if (d < best) {
            best = d;
            nearest = k;
        }
    }
    return nearest;
}

static void states_end_where_the_formula_says(dkm_ctx *ctx)
{
    dkm_data *Z = NULL;
    int seen[M] = {0}, kinds = 0;

    CHECK_OK(ctx, fit_and_predict(ctx, &Z));
    for (dkm_idx i = 0; i < dkm_data_local_rows(Z); i++) {
        int nearest = where_it_ends(dkm_data_local_first(Z) + i);
        for (dkm_idx j = 0; j < Y_COLS; j++)
            CHECK(dkm_data_values_const(Z)[i * Y_COLS + j] == pattern(0, nearest, X_COLS + j));
    }
    for (dkm_idx i = 0; i < NEW; i++)
        seen[where_it_ends(i)] = 1;
    for (int k = 0; k < M; k++)
        kinds += seen[k];
    CHECK(kinds > 1); /* else the test would say little */
    dkm_data_destroy(&Z);
}

static void numbers_beyond_one_are_refused(dkm_ctx *ctx)
{
    dkm_hopfield_settings s = dkm_hopfield_settings_default();
    dkm_data *X = NULL, *Y = NULL;
    dkm_model *model = NULL;

    CHECK_OK(ctx, make(ctx, 0, M, 0, X_COLS, &X));
    CHECK_OK(ctx, make(ctx, 0, M, X_COLS, Y_COLS, &Y));
    if (dkm_ctx_rank(ctx) == 0)
        dkm_data_values(Y)[1] = 1.5;
    CHECK(dkm_hopfield_fit(ctx, X, Y, &s, &model, NULL) == DKM_ERR_ARG && !model);
    CHECK(strstr(dkm_ctx_message(ctx), "of y has the number 1.5") != NULL);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
}

static dkm_status attempt(dkm_ctx *ctx)
{
    dkm_data *Z = NULL;
    dkm_status status = fit_and_predict(ctx, &Z);

    dkm_data_destroy(&Z);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, attempt);
}

static const check_case cases[] = {
    CASE(states_end_where_the_formula_says),
    CASE(numbers_beyond_one_are_refused),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)

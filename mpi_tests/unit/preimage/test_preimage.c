#include <math.h>
#include <string.h>

#include <dkmap/kpca.h>
#include <dkmap/random.h>

#include "support/check.h"
#include "support/fixture_points.h"

enum { M = POINTS, NEW = POINTS_NEW, D = POINTS_D };

static dkm_data *decode(dkm_ctx *ctx, dkm_model *model, dkm_preimage_method method,
                        const dkm_data *Z)
{
    dkm_preimage_settings pre = {.method = method};
    dkm_data *Y = NULL;

    CHECK_OK(ctx, dkm_model_configure(model, &pre));
    CHECK_OK(ctx, dkm_model_decode(model, Z, &Y));
    CHECK(Y && dkm_data_rows(Y) == dkm_data_rows(Z) && dkm_data_cols(Y) == D);
    return Y;
}

/* Largest difference to what was encoded; with @p sign a point may have come back as its opposite.
 */
static double gap(const dkm_data *Y, object_value value, int sign)
{
    double most = 0;

    for (dkm_idx i = 0; i < dkm_data_local_rows(Y); i++) {
        double same = 0, opposite = 0;
        for (dkm_idx k = 0; k < D; k++) {
            double y = dkm_data_values_const(Y)[i * D + k];
            double want = value(dkm_data_local_first(Y) + i, k);
            same = fmax(same, fabs(y - want));
            opposite = fmax(opposite, fabs(y + want));
        }
        most = fmax(most, sign ? fmin(same, opposite) : same);
    }
    return most;
}

/* Where the images of training points span the feature space, every point comes back. */
static void closed_forms_are_exact(dkm_ctx *ctx)
{
    const struct {
        const char *kernel;
        dkm_preimage_method method;
        int sign;
        double tolerance; /* eps times the condition of W, and the slope of the root */
    } rows[] = {{"linear", DKM_PREIMAGE_LINEAR, 0, 1e-12},
                {"linear", DKM_PREIMAGE_EXACT, 0, 1e-12},
                {"poly(degree=3, c=1)", DKM_PREIMAGE_EXACT, 0, 1e-9},
                {"scale(poly(degree=3, c=2), by=5)", DKM_PREIMAGE_EXACT, 0, 1e-9},
                {"poly(degree=2, c=0)", DKM_PREIMAGE_EXACT, 1, 1e-7},
                {"power(linear, degree=2)", DKM_PREIMAGE_EXACT, 1, 1e-7}};

    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        dkm_model *model = points_fit(ctx, rows[r].kernel, M);
        dkm_data *Z = points_encode(ctx, model, NEW, points_new);
        dkm_data *Y = decode(ctx, model, rows[r].method, Z);
        CHECK_CLOSE(gap(Y, points_new, rows[r].sign), 0.0, rows[r].tolerance);
        dkm_data_destroy(&Y);
        dkm_data_destroy(&Z);
        dkm_model_destroy(&model);
    }
}

/* The same by descent, for kernels of all kinds. */
static void descent_finds_points_that_are_there(dkm_ctx *ctx)
{
    const char *kernels[] = {"linear", "poly(degree=3, c=1)", "sum(linear, poly(degree=2, c=1))",
                             "scale(poly(degree=2, c=1), by=3)",
                             "product(linear, poly(degree=2, c=1))"};

    for (size_t r = 0; r < sizeof kernels / sizeof *kernels; r++) {
        dkm_model *model = points_fit(ctx, kernels[r], M);
        dkm_data *Z = points_encode(ctx, model, NEW, points_new);
        dkm_data *Y = decode(ctx, model, DKM_PREIMAGE_GRADIENT, Z);
        CHECK_CLOSE(gap(Y, points_new, 0), 0.0, 1e-4);
        dkm_data_destroy(&Y);
        dkm_data_destroy(&Z);
        dkm_model_destroy(&model);
    }
}

/* ||Psi - phi(x)||^2 up to a constant, with Psi from its coordinates, for every row of X. */
static void objective(dkm_ctx *ctx, dkm_model *model, double sigma, const dkm_data *Z, dkm_data *X,
                      double *values)
{
    dkm_data *C = NULL;
    dkm_idx p = dkm_data_cols(Z);

    CHECK_OK(ctx, dkm_model_predict(model, X, &C));
    for (dkm_idx i = 0; C && i < dkm_data_local_rows(X); i++) {
        values[i] = 1;
        for (dkm_idx j = 0; j < M; j++) {
            double square = 0;
            for (dkm_idx k = 0; k < D; k++)
                square += pow(dkm_data_values(X)[i * D + k] - points_element(j, k), 2);
            values[i] -= 2.0 / M * exp(-square / (2 * sigma * sigma));
        }
        for (dkm_idx k = 0; k < p; k++)
            values[i] -=
                2.0 * dkm_data_values_const(Z)[i * p + k] * dkm_data_values_const(C)[i * p + k];
    }
    dkm_data_destroy(&C);
}

/* With few components no exact pre-image is there: what is found is where nothing near is nearer,
 * and both methods find it. */
static void both_iterations_find_the_same_minimum(dkm_ctx *ctx)
{
    const double sigma = 1.5;
    dkm_model *model = points_fit(ctx, "rbf(sigma=1.5)", 4);
    dkm_data *Z = points_encode(ctx, model, NEW, points_new);
    dkm_data *F = decode(ctx, model, DKM_PREIMAGE_FIXED_POINT, Z);
    dkm_data *G = decode(ctx, model, DKM_PREIMAGE_GRADIENT, Z);
    double best[NEW], other[NEW];
    dkm_idx n = dkm_data_local_rows(F);

    for (dkm_idx k = 0; k < n * D; k++)
        CHECK_CLOSE(dkm_data_values(G)[k], dkm_data_values(F)[k], 1e-5);
    objective(ctx, model, sigma, Z, F, best);
    for (int k = 0; k < 2 * D; k++) {
        double h = k % 2 ? 1e-3 : -1e-3;
        for (dkm_idx i = 0; i < n; i++)
            dkm_data_values(F)[i * D + k / 2] += h;
        objective(ctx, model, sigma, Z, F, other);
        for (dkm_idx i = 0; i < n; i++) {
            CHECK(other[i] > best[i]);
            dkm_data_values(F)[i * D + k / 2] -= h;
        }
    }
    dkm_data_destroy(&G);
    dkm_data_destroy(&F);
    dkm_data_destroy(&Z);
    dkm_model_destroy(&model);
}

/* Where a point has an image, a few distances tell where it is. */
static void distances_to_neighbours_place_points(dkm_ctx *ctx)
{
    const struct {
        const char *kernel;
        object_value value;
        dkm_idx n;
        double tolerance; /* roots and logarithms of small differences */
    } rows[] = {{"linear", points_new, NEW, 1e-9},
                {"poly(degree=3, c=1)", points_new, NEW, 1e-6},
                {"rbf(sigma=1)", points_element, M, 1e-5}};

    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        dkm_model *model = points_fit(ctx, rows[r].kernel, M);
        dkm_data *Z = points_encode(ctx, model, rows[r].n, rows[r].value);
        dkm_data *Y = decode(ctx, model, DKM_PREIMAGE_MDS, Z);
        CHECK_CLOSE(gap(Y, rows[r].value, 0), 0.0, rows[r].tolerance);
        dkm_data_destroy(&Y);
        dkm_data_destroy(&Z);
        dkm_model_destroy(&model);
    }
}

static void neighbours_that_are_not_there_are_refused(dkm_ctx *ctx)
{
    dkm_model *model = points_fit(ctx, "rbf(sigma=1)", 3);
    dkm_preimage_settings pre = {.method = DKM_PREIMAGE_MDS, .neighbors = M + 1};

    CHECK(dkm_model_configure(model, &pre) == DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "35 neighbors of only 34") != NULL);
    pre = (dkm_preimage_settings){.method = DKM_PREIMAGE_GRADIENT, .neighbors = 3};
    CHECK(dkm_model_configure(model, &pre) == DKM_ERR_ARG);
    dkm_model_destroy(&model);
}

static void note(void *user, dkm_level level, const char *text)
{
    if (level == DKM_WARN && strstr(text, "nearest training object"))
        ++*(int *)user;
}

static int count_training(dkm_ctx *ctx, const dkm_data *Y)
{
    int found = 0;

    for (dkm_idx i = 0; i < dkm_data_local_rows(Y); i++)
        for (dkm_idx j = 0; j < M; j++)
            found += dkm_data_values_const(Y)[i * D] == points_element(j, 0) &&
                     dkm_data_values_const(Y)[i * D + 1] == points_element(j, 1);
    MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_SUM, dkm_ctx_comm(ctx));
    return found;
}

static double axis(dkm_idx i, dkm_idx k)
{
    return i == k ? 10.0 : 0.0;
}

/* Minus the sum of two points: among squares, -100 I and three times their mean. */
static dkm_data *opposite(dkm_ctx *ctx, dkm_model *model)
{
    dkm_data *E = points_encode(ctx, model, D, axis), *Z = NULL;
    dkm_idx p = dkm_data_cols(E);
    double sum[8] = {0};

    for (dkm_idx k = 0; k < dkm_data_local_rows(E) * p; k++)
        sum[k % p] -= dkm_data_values(E)[k];
    MPI_Allreduce(MPI_IN_PLACE, sum, (int)p, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    CHECK_OK(ctx, dkm_data_create_dense(ctx, 1, p, &Z));
    for (dkm_idx k = 0; k < dkm_data_local_rows(Z) * p; k++)
        dkm_data_values(Z)[k] = sum[k];
    dkm_data_destroy(&E);
    return Z;
}

static double far_out(dkm_idx i, dkm_idx k)
{
    (void)k;
    return i == 0 ? 1e6 : -1e6;
}

/* A matrix with no positive eigenvalue is no square, and no exponential is negative. */
static void points_out_of_reach_get_training_objects(dkm_ctx *ctx)
{
    dkm_model *squared = points_fit(ctx, "poly(degree=2, c=0)", 3);
    dkm_model *exponential = points_fit(ctx, "expdot(sigma=1.5)", 1);
    dkm_data *Z = opposite(ctx, squared), *sides = objects_values(ctx, DKM_DENSE, 2, 1, far_out);
    int told = 0;

    dkm_ctx_set_listener(ctx, (dkm_listener){.user = &told, .message = note});
    dkm_data *Y = decode(ctx, squared, DKM_PREIMAGE_EXACT, Z);
    CHECK(count_training(ctx, Y) == 1);
    dkm_data_destroy(&Y);
    Y = decode(ctx, exponential, DKM_PREIMAGE_EXACT, sides);
    CHECK(count_training(ctx, Y) >= 1);
    for (dkm_idx k = 0; k < dkm_data_local_rows(Y) * D; k++)
        CHECK(isfinite(dkm_data_values(Y)[k]));
    dkm_ctx_set_listener(ctx, (dkm_listener){0});
    CHECK(dkm_ctx_rank(ctx) != 0 || told == 2);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&sides);
    dkm_data_destroy(&Z);
    dkm_model_destroy(&exponential);
    dkm_model_destroy(&squared);
}

static void no_points_are_no_objects(dkm_ctx *ctx)
{
    const dkm_preimage_method methods[] = {DKM_PREIMAGE_CANDIDATES, DKM_PREIMAGE_FIXED_POINT,
                                           DKM_PREIMAGE_GRADIENT};
    dkm_model *model = points_fit(ctx, "rbf(sigma=2)", 3);
    dkm_data *Z = points_encode(ctx, model, 0, points_element);

    for (int k = 0; k < 3; k++) {
        dkm_data *Y = decode(ctx, model, methods[k], Z);
        dkm_data_destroy(&Y);
    }
    dkm_data_destroy(&Z);
    dkm_model_destroy(&model);
}

/* What auto takes, by the objects it makes: those of the method it should be. */
static void auto_takes_what_suits(dkm_ctx *ctx)
{
    const struct {
        const char *kernel;
        dkm_preimage_method method;
    } rows[] = {{"linear", DKM_PREIMAGE_LINEAR},
                {"rbf(sigma=1.5)", DKM_PREIMAGE_FIXED_POINT},
                {"poly(degree=2, c=1)", DKM_PREIMAGE_GRADIENT},
                {"laplace(sigma=2)", DKM_PREIMAGE_CANDIDATES}};

    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        dkm_model *model = points_fit(ctx, rows[r].kernel, 3);
        dkm_data *Z = points_encode(ctx, model, NEW, points_new);
        dkm_data *Y = decode(ctx, model, rows[r].method, Z);
        dkm_data *A = decode(ctx, model, DKM_PREIMAGE_AUTO, Z);
        CHECK(memcmp(dkm_data_values(A), dkm_data_values(Y),
                     (size_t)(dkm_data_local_rows(Y) * D) * sizeof(double)) == 0);
        dkm_data_destroy(&A);
        dkm_data_destroy(&Y);
        dkm_data_destroy(&Z);
        dkm_model_destroy(&model);
    }
}

static void methods_that_do_not_suit_name_those_that_do(dkm_ctx *ctx)
{
    const struct {
        const char *kernel;
        dkm_preimage_method method;
        const char *remedy;
    } rows[] = {{"rbf(sigma=1)", DKM_PREIMAGE_LINEAR, "candidates, fixed-point, gradient"},
                {"rbf(sigma=1)", DKM_PREIMAGE_EXACT, "fixed-point, gradient, mds, learned"},
                {"linear", DKM_PREIMAGE_FIXED_POINT, "linear, exact, candidates, gradient, mds"},
                {"poly(degree=2, c=1)", DKM_PREIMAGE_EXACT, "use candidates, gradient, learned"},
                {"laplace(sigma=1)", DKM_PREIMAGE_GRADIENT, "use candidates"}};

    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        dkm_model *model = points_fit(ctx, rows[r].kernel, 2);
        dkm_preimage_settings pre = {.method = rows[r].method};
        CHECK(dkm_model_configure(model, &pre) == DKM_ERR_UNSUPPORTED);
        CHECK(strstr(dkm_ctx_message(ctx), rows[r].remedy) != NULL);
        dkm_model_destroy(&model);
    }
}

static void coordinates_of_another_width_are_refused(dkm_ctx *ctx)
{
    dkm_model *model = points_fit(ctx, "rbf(sigma=1)", 3);
    dkm_data *Z = objects_values(ctx, DKM_DENSE, 4, 2, points_element), *Y = NULL;

    CHECK(dkm_model_decode(model, Z, &Y) == DKM_ERR_ARG && !Y);
    CHECK(strstr(dkm_ctx_message(ctx), "3 components") != NULL);
    dkm_data_destroy(&Z);
    dkm_model_destroy(&model);
}

static dkm_model *brutal_model;
static dkm_preimage_method brutal_method;

/* Three training objects, which are their own pre-images, so that a round or two is enough. */
static dkm_status decode_a_few(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_preimage_settings pre = {.method = brutal_method};
    dkm_data *X = NULL, *Z = NULL, *Y = NULL;

    DKM_TRY(dkm_data_create_dense(ctx, 3, D, &X));
    for (dkm_idx k = 0; k < dkm_data_local_rows(X) * D; k++)
        dkm_data_values(X)[k] = points_element(dkm_data_local_first(X) + k / D, k % D);
    DKM_TRY(dkm_model_configure(brutal_model, &pre));
    DKM_TRY(dkm_model_predict(brutal_model, X, &Z));
    DKM_TRY(dkm_model_decode(brutal_model, Z, &Y));
out:
    pre = (dkm_preimage_settings){.method = DKM_PREIMAGE_NONE}; /* forget what was prepared */
    CHECK_OK(ctx, dkm_model_configure(brutal_model, &pre));
    dkm_data_destroy(&Y);
    dkm_data_destroy(&Z);
    dkm_data_destroy(&X);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    const struct {
        const char *kernel;
        dkm_preimage_method method;
    } rows[] = {{"rbf(sigma=1)", DKM_PREIMAGE_FIXED_POINT},
                {"poly(degree=3, c=1)", DKM_PREIMAGE_EXACT},
                {"rbf(sigma=1)", DKM_PREIMAGE_MDS}};

    for (int r = 0; r < 3; r++) {
        brutal_method = rows[r].method;
        brutal_model = points_fit(ctx, rows[r].kernel, M);
        dkm_data *Z =
            points_encode(ctx, brutal_model, 1, points_element); /* the model keeps its panels */
        dkm_data_destroy(&Z);
        check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, decode_a_few);
        dkm_model_destroy(&brutal_model);
    }
}

static const check_case cases[] = {
    CASE(closed_forms_are_exact),
    CASE(descent_finds_points_that_are_there),
    CASE(both_iterations_find_the_same_minimum),
    CASE(distances_to_neighbours_place_points),
    CASE(neighbours_that_are_not_there_are_refused),
    CASE(points_out_of_reach_get_training_objects),
    CASE(no_points_are_no_objects),
    CASE(auto_takes_what_suits),
    CASE(methods_that_do_not_suit_name_those_that_do),
    CASE(coordinates_of_another_width_are_refused),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)

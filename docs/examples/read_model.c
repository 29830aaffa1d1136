/* Reading the parts of a fitted model, and predicting from them by hand.
 *
 * A kernel ridge regression predicts f(z) = sum_i k(z, x_i) B_i + b. Its parts are the training
 * inputs x_i, the coefficients B and the intercept b. */
#include <math.h>
#include <stdio.h>

#include <dkmap/dkmap.h>

enum { POINTS = 50 };

static dkm_status fit(dkm_ctx *ctx, dkm_model **model)
{
    dkm_status status = DKM_OK;
    double x[POINTS], y[POINTS];
    dkm_idx n = dkm_ctx_rank(ctx) == 0 ? POINTS : 0;
    dkm_array inputs = dkm_array_row_major(x, n, 1), outputs = dkm_array_row_major(y, n, 1);
    dkm_settings *settings = NULL;
    dkm_data *X = NULL, *Y = NULL;

    for (int i = 0; i < POINTS; i++) {
        x[i] = i / (double)POINTS;
        y[i] = 2 + sin(6 * x[i]);
    }
    DKM_TRY(dkm_data_from_array(ctx, DKM_DENSE, &inputs, &X));
    DKM_TRY(dkm_data_from_array(ctx, DKM_DENSE, &outputs, &Y));
    DKM_TRY(dkm_settings_create(ctx, "krr", &settings));
    DKM_TRY(dkm_settings_set(settings, "kx", "rbf(sigma=0.2)"));
    DKM_TRY(dkm_settings_set(settings, "ridge", "1e-3"));
    DKM_TRY(dkm_settings_set(settings, "center", "yes"));
    DKM_TRY(dkm_fit(ctx, "krr", X, Y, settings, model, NULL));
out:
    dkm_settings_destroy(&settings);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    return status;
}

/* f(z) from the parts: each rank adds up what it holds. */
static double predict(dkm_ctx *ctx, const dkm_data *X, const dkm_data *B, double b, double z)
{
    const double *x = dkm_data_values_const(X), *beta = dkm_data_values_const(B);
    double sum = 0;

    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++)
        sum += exp(-(z - x[i]) * (z - x[i]) / (2 * 0.2 * 0.2)) * beta[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    return sum + b;
}

static dkm_status read_parts(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    double z = 0.333, f;
    dkm_idx count;
    dkm_array one = dkm_array_row_major(&z, dkm_ctx_rank(ctx) == 0, 1);
    dkm_model *model = NULL;
    dkm_parts *parts = NULL;
    dkm_data *Z = NULL, *F = NULL, *B = NULL;
    dkm_rows *rows = NULL;

    DKM_TRY(fit(ctx, &model));
    DKM_TRY(dkm_parts_create(model, &parts));
    for (dkm_idx k = 0; dkm_ctx_rank(ctx) == 0 && k < dkm_parts_count(parts); k++)
        printf("%s\n", dkm_parts_name(parts, k));
    DKM_TRY(dkm_model_part(model, "coefficients", &B)); /* or one part as data, for keeps */
    f = predict(ctx, dkm_parts_data(parts, "inputs"), B,
                dkm_parts_reals(parts, "intercept", &count)[0], z);

    DKM_TRY(dkm_data_from_array(ctx, DKM_DENSE, &one, &Z));
    DKM_TRY(dkm_model_predict(model, Z, &F));
    DKM_TRY(dkm_rows_get(F, 0, 1, &rows));
    DKM_REQUIRE(ctx, fabs(f - dkm_rows_values(rows, 0)[0]) < 1e-10, DKM_ERR_NUMERIC,
                "by hand %g, by the model %g", f, dkm_rows_values(rows, 0)[0]);
    if (dkm_ctx_rank(ctx) == 0)
        printf("f(%g) = %.6f, by hand and by the model\n", z, f);
out:
    dkm_rows_destroy(&rows);
    dkm_data_destroy(&F);
    dkm_data_destroy(&Z);
    dkm_data_destroy(&B);
    dkm_parts_destroy(&parts);
    dkm_model_destroy(&model);
    return status;
}

int main(int argc, char **argv)
{
    dkm_ctx *ctx = NULL;
    dkm_status status;

    MPI_Init(&argc, &argv);
    status = dkm_ctx_create(MPI_COMM_WORLD, &ctx);
    if (status == DKM_OK)
        status = read_parts(ctx);
    if (status != DKM_OK && ctx && dkm_ctx_rank(ctx) == 0)
        fprintf(stderr, "read_model: %s\n", dkm_ctx_message(ctx));
    dkm_ctx_destroy(&ctx);
    MPI_Finalize();
    return status != DKM_OK;
}

/* Kernel ridge regression on arrays in memory.
 *
 * Each rank makes its own rows of X and y; nobody holds all of them. The predictions come back to
 * the ranks that asked for them. */
#include <math.h>
#include <stdio.h>

#include <dkmap/dkmap.h>

enum { ROWS = 100, COLS = 2, NEW = 4 }; /* of each rank */

static double truth(const double *x)
{
    return sin(3 * x[0]) * cos(2 * x[1]);
}

/* Points of a lattice that differs from rank to rank. */
static void make_points(int rank, dkm_idx n, double shift, double *x)
{
    for (dkm_idx i = 0; i < n; i++) {
        double at = (double)(rank * n + i) + shift;
        x[COLS * i] = fmod(0.754877666 * at, 1);
        x[COLS * i + 1] = fmod(0.569840291 * at, 1);
    }
}

static dkm_status learn(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    int rank = dkm_ctx_rank(ctx);
    double x[ROWS * COLS], y[ROWS], z[NEW * COLS], worst = 0;
    dkm_array inputs = dkm_array_row_major(x, ROWS, COLS);
    dkm_array outputs = dkm_array_row_major(y, ROWS, 1);
    dkm_array fresh = dkm_array_row_major(z, NEW, COLS);
    dkm_settings *settings = NULL;
    dkm_report *report = NULL;
    dkm_data *X = NULL, *Y = NULL, *Z = NULL, *F = NULL;
    dkm_model *model = NULL;
    dkm_rows *rows = NULL;

    make_points(rank, ROWS, 0, x);
    make_points(rank, NEW, 0.5, z);
    for (int i = 0; i < ROWS; i++)
        y[i] = truth(x + COLS * i);

    inputs.borrow = 1; /* x is used in place: it outlives the model */
    DKM_TRY(dkm_data_from_array(ctx, DKM_DENSE, &inputs, &X));
    DKM_TRY(dkm_data_from_array(ctx, DKM_DENSE, &outputs, &Y));
    DKM_TRY(dkm_data_from_array(ctx, DKM_DENSE, &fresh, &Z));

    DKM_TRY(dkm_settings_create(ctx, "krr", &settings));
    DKM_TRY(dkm_settings_set(settings, "kx", "rbf(sigma=0.5)"));
    DKM_TRY(dkm_settings_set_real(settings, "ridge", 1e-6));
    DKM_TRY(dkm_fit(ctx, "krr", X, Y, settings, &model, &report));
    DKM_TRY(dkm_model_predict(model, Z, &F));

    DKM_TRY(dkm_rows_get(F, (dkm_idx)rank * NEW, NEW, &rows)); /* those of this rank's points */
    for (int i = 0; i < NEW; i++)
        worst = fmax(worst, fabs(dkm_rows_values(rows, i)[0] - truth(z + COLS * i)));
    DKM_REQUIRE(ctx, worst < 1e-3, DKM_ERR_NUMERIC, "a prediction is off by %g", worst);
    if (rank == 0)
        printf("%.0f rows, residual %.0e, predictions off by at most %.0e on rank 0\n",
               dkm_report_real(report, "m"), dkm_report_real(report, "residual"), worst);
out:
    dkm_rows_destroy(&rows);
    dkm_model_destroy(&model);
    dkm_report_destroy(&report);
    dkm_settings_destroy(&settings);
    dkm_data_destroy(&F);
    dkm_data_destroy(&Z);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    return status;
}

int main(int argc, char **argv)
{
    dkm_ctx *ctx = NULL;
    dkm_status status;

    MPI_Init(&argc, &argv);
    status = dkm_ctx_create(MPI_COMM_WORLD, &ctx);
    if (status == DKM_OK)
        status = learn(ctx);
    if (status != DKM_OK && ctx && dkm_ctx_rank(ctx) == 0)
        fprintf(stderr, "krr_in_memory: %s\n", dkm_ctx_message(ctx));
    dkm_ctx_destroy(&ctx);
    MPI_Finalize();
    return status != DKM_OK;
}

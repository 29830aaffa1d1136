/* dkmap on some of the ranks of a program.
 *
 * The ranks of MPI_COMM_WORLD are split in two groups, and each fits a model of its own at the same
 * time, on a context made from its communicator. Nothing that one group does, its failures
 * included, concerns the other. The second group passes a Fortran handle, as a Fortran program or a
 * binding would. */
#include <math.h>
#include <stdio.h>

#include <dkmap/dkmap.h>

enum { POINTS = 40 };

/* The largest error of a fit to sin(frequency x). */
static dkm_status fit(dkm_ctx *ctx, double frequency, double *error)
{
    dkm_status status = DKM_OK;
    double x[POINTS], y[POINTS];
    dkm_idx n = dkm_ctx_rank(ctx) == 0 ? POINTS : 0;
    dkm_array inputs = dkm_array_row_major(x, n, 1), outputs = dkm_array_row_major(y, n, 1);
    dkm_settings *settings = NULL;
    dkm_data *X = NULL, *Y = NULL, *F = NULL;
    dkm_model *model = NULL;
    dkm_rows *rows = NULL;

    for (int i = 0; i < POINTS; i++) {
        x[i] = i / (double)POINTS;
        y[i] = sin(frequency * x[i]);
    }
    DKM_TRY(dkm_data_from_array(ctx, DKM_DENSE, &inputs, &X));
    DKM_TRY(dkm_data_from_array(ctx, DKM_DENSE, &outputs, &Y));
    DKM_TRY(dkm_settings_create(ctx, "krr", &settings));
    DKM_TRY(dkm_settings_set(settings, "kx", "rbf(sigma=0.1)"));
    DKM_TRY(dkm_settings_set(settings, "ridge", "1e-6"));
    DKM_TRY(dkm_fit(ctx, "krr", X, Y, settings, &model, NULL));
    DKM_TRY(dkm_model_predict(model, X, &F));
    DKM_TRY(dkm_rows_get(F, 0, POINTS, &rows));
    for (int i = 0; i < POINTS; i++)
        *error = fmax(*error, fabs(dkm_rows_values(rows, i)[0] - y[i]));
out:
    dkm_rows_destroy(&rows);
    dkm_model_destroy(&model);
    dkm_settings_destroy(&settings);
    dkm_data_destroy(&F);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    return status;
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    dkm_ctx *ctx = NULL;
    dkm_status status;
    double error = 0;
    int rank, group, failed, any = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    group = rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, group, rank, &comm);
    status = group == 0 ? dkm_ctx_create(comm, &ctx) : dkm_ctx_create_f(MPI_Comm_c2f(comm), &ctx);
    MPI_Comm_free(&comm); /* the context has a copy */
    if (status == DKM_OK)
        status = fit(ctx, group == 0 ? 3 : 9, &error);
    if (status == DKM_OK && dkm_ctx_rank(ctx) == 0)
        printf("group %d of %d ranks: off by at most %.0e\n", group, dkm_ctx_size(ctx), error);
    if (status != DKM_OK && ctx)
        fprintf(stderr, "sub_communicator: group %d: %s\n", group, dkm_ctx_message(ctx));
    dkm_ctx_destroy(&ctx);
    failed = status != DKM_OK || error > 1e-3;
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return any;
}

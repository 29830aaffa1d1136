/* A separation oracle of one's own for joint kernel maps (structural support vector machines).
 *
 * Outputs are ways through three rooms, each left (-1) or right (+1): eight in all. Training asks
 * the oracle for the output that violates the margin most; it knows that the rooms are independent
 * and finds it without trying all eight, by turning each room to the side that scores higher. */
#include <math.h>
#include <stdio.h>

#include <dkmap/extended.h>

enum { EXAMPLES = 40, COLS = 3, ROOMS = 3 };

/* Side of each room that suits an input. */
static void truth(const double *x, double *y)
{
    y[0] = x[0] + x[1] > 1 ? 1 : -1;
    y[1] = x[1] > x[2] ? 1 : -1;
    y[2] = x[0] > 0.5 ? 1 : -1;
}

/* argmax over y' != y of <g, y'> + (rooms that differ), rescaled by the margin: each room by
 * itself.
 */
static int find(void *user, dkm_idx example, dkm_idx r, const double *g, const double *y,
                double *found, double *margin)
{
    dkm_idx differ = 0;

    (void)user;
    (void)example;
    for (dkm_idx k = 0; k < r; k++) {
        found[k] = -g[k] * y[k] + 1 > g[k] * y[k] ? -y[k] : y[k];
        differ += found[k] != y[k];
    }
    *margin = (double)differ; /* a way that differs in more rooms must score lower by more */
    return differ > 0;
}

static dkm_status learn(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    double x[EXAMPLES * COLS], y[EXAMPLES * ROOMS];
    dkm_idx n = dkm_ctx_rank(ctx) == 0 ? EXAMPLES : 0, right = 0;
    dkm_array inputs = dkm_array_row_major(x, n, COLS), outputs = dkm_array_row_major(y, n, ROOMS);
    dkm_jkm_settings settings = dkm_jkm_settings_default();
    dkm_jkm_info info;
    dkm_data *X = NULL, *Y = NULL, *F = NULL;
    dkm_kernel *kx = NULL, *ky = NULL;
    dkm_joint *joint = NULL;
    dkm_model *model = NULL;
    dkm_rows *rows = NULL;

    for (int i = 0; i < EXAMPLES; i++) {
        x[COLS * i] = fmod(0.819172513 * (i + 1), 1);
        x[COLS * i + 1] = fmod(0.671043607 * (i + 1), 1);
        x[COLS * i + 2] = fmod(0.549700478 * (i + 1), 1);
        truth(x + COLS * i, y + ROOMS * i);
    }
    DKM_TRY(dkm_data_from_array(ctx, DKM_DENSE, &inputs, &X));
    DKM_TRY(dkm_data_from_array(ctx, DKM_DENSE, &outputs, &Y));

    settings.C = 100;
    settings.oracle = (dkm_jkm_oracle){NULL, find};
    DKM_TRY(dkm_kernel_parse(ctx, "rbf(sigma=0.5)", &kx));
    DKM_TRY(dkm_kernel_parse(ctx, "linear", &ky));
    DKM_TRY(dkm_joint_parse(ctx, "tensor", &joint));
    DKM_TRY(dkm_jkm_fit(ctx, X, Y, kx, ky, joint, &settings, &model, &info));
    DKM_TRY(dkm_model_predict(model, X, &F));
    DKM_TRY(dkm_rows_get(F, 0, EXAMPLES, &rows));
    for (int i = 0; i < EXAMPLES; i++)
        for (int k = 0; k < ROOMS; k++)
            right += dkm_rows_values(rows, i)[k] * y[ROOMS * i + k] > 0;
    DKM_REQUIRE(ctx, right >= EXAMPLES * ROOMS * 19 / 20, DKM_ERR_NUMERIC,
                "only %lld of %d rooms are right", (long long)right, EXAMPLES * ROOMS);
    if (dkm_ctx_rank(ctx) == 0)
        printf("%lld constraints in %lld rounds; %lld of %d rooms are right\n",
               (long long)info.constraints, (long long)info.rounds, (long long)right,
               EXAMPLES * ROOMS);
out:
    dkm_rows_destroy(&rows);
    dkm_model_destroy(&model);
    dkm_joint_destroy(&joint);
    dkm_kernel_destroy(&ky);
    dkm_kernel_destroy(&kx);
    dkm_data_destroy(&F);
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
        fprintf(stderr, "own_oracle: %s\n", dkm_ctx_message(ctx));
    dkm_ctx_destroy(&ctx);
    MPI_Finalize();
    return status != DKM_OK;
}

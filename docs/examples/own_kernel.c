/* A kernel of one's own: a C function that fills blocks of kernel values.
 *
 * The function compares circles, given as rows (x, y, radius), by the overlap of their discs along
 * both axes. It is registered under a name and then used in expressions like any other kernel; the
 * model that uses it is saved, and loaded after the function was registered again. */
#include <math.h>
#include <stdio.h>

#include <dkmap/dkmap.h>

enum { CIRCLES = 60, COLS = 3 };

/* The length that [a - r, a + r] and [b - s, b + s] share: positive semidefinite. */
static double overlap(double a, double r, double b, double s)
{
    double length = fmin(a + r, b + s) - fmax(a - r, b - s);

    return length > 0 ? length : 0;
}

static int discs(void *user, const dkm_rows *A, const dkm_rows *B, double *values)
{
    dkm_idx na = dkm_rows_count(A), nb = dkm_rows_count(B);

    (void)user;
    if (dkm_rows_type(A) != DKM_DENSE || dkm_rows_cols(A) != COLS)
        return 1; /* the call that needs these values fails on all ranks */
    for (dkm_idx i = 0; i < na; i++)
        for (dkm_idx j = 0; j < nb; j++) {
            const double *a = dkm_rows_values(A, i), *b = dkm_rows_values(B, j);
            values[i * nb + j] = overlap(a[0], a[2], b[0], b[2]) * overlap(a[1], a[2], b[1], b[2]);
        }
    return 0;
}

static void make_circles(double *x, double *area)
{
    for (int i = 0; i < CIRCLES; i++) {
        x[COLS * i] = fmod(0.754877666 * i, 1);
        x[COLS * i + 1] = fmod(0.569840291 * i, 1);
        x[COLS * i + 2] = 0.2 + 0.1 * (i % 4);
        area[i] = 3.14159265 * x[COLS * i + 2] * x[COLS * i + 2];
    }
}

/* Fit, and save the model. */
static dkm_status fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y, const char *path)
{
    dkm_status status = DKM_OK;
    dkm_settings *settings = NULL;
    dkm_model *model = NULL;

    DKM_TRY(dkm_settings_create(ctx, "krr", &settings));
    DKM_TRY(dkm_settings_set(settings, "kx", "sum(normalize(discs), linear)"));
    DKM_TRY(dkm_settings_set(settings, "ridge", "1e-6"));
    DKM_TRY(dkm_settings_set(settings, "center", "yes"));
    DKM_TRY(dkm_fit(ctx, "krr", X, Y, settings, &model, NULL));
    DKM_TRY(dkm_model_save(model, path, "own_kernel"));
out:
    dkm_model_destroy(&model);
    dkm_settings_destroy(&settings);
    return status;
}

static dkm_status learn(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    double x[CIRCLES * COLS], area[CIRCLES], worst = 0;
    dkm_idx n = dkm_ctx_rank(ctx) == 0 ? CIRCLES : 0;
    dkm_array inputs = dkm_array_row_major(x, n, COLS), outputs = dkm_array_row_major(area, n, 1);
    dkm_kernel_callback callback = {.block = discs};
    dkm_layout layout = {0};
    dkm_data *X = NULL, *Y = NULL, *F = NULL;
    dkm_model *model = NULL;
    dkm_rows *rows = NULL;
    const char *path = "own_kernel.h5";

    make_circles(x, area);
    DKM_TRY(dkm_kernel_register(ctx, "discs", &callback));
    DKM_TRY(dkm_data_from_array(ctx, DKM_DENSE, &inputs, &X));
    DKM_TRY(dkm_data_from_array(ctx, DKM_DENSE, &outputs, &Y));
    DKM_TRY(fit(ctx, X, Y, path));
    DKM_TRY(dkm_model_load(ctx, path, &layout, &model)); /* "discs" is registered with ctx */
    DKM_TRY(dkm_model_predict(model, X, &F));
    DKM_TRY(dkm_rows_get(F, 0, CIRCLES, &rows));
    for (int i = 0; i < CIRCLES; i++)
        worst = fmax(worst, fabs(dkm_rows_values(rows, i)[0] - area[i]));
    DKM_REQUIRE(ctx, worst < 1e-2, DKM_ERR_NUMERIC, "an area is off by %g", worst);
    if (dkm_ctx_rank(ctx) == 0)
        printf("areas off by at most %.0e\n", worst);
out:
    dkm_rows_destroy(&rows);
    dkm_model_destroy(&model);
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
        fprintf(stderr, "own_kernel: %s\n", dkm_ctx_message(ctx));
    dkm_ctx_destroy(&ctx);
    MPI_Finalize();
    return status != DKM_OK;
}

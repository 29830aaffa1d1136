/* Pre-images by a map that is learned, against a ridge that is solved by elimination. */
#include <math.h>
#include <string.h>

#include "support/check.h"
#include "support/fixture_points.h"

enum { M = POINTS, NEW = POINTS_NEW, D = POINTS_D };

/* B = (L + gamma I)^-1 X over the coordinates of the training points, by elimination. */
static void solve_oracle(double *A, double *B)
{
    for (int c = 0; c < M; c++)
        for (int i = 0; i < M; i++) {
            double f = A[i * M + c] / A[c * M + c];
            if (i == c)
                continue;
            for (int k = c; k < M; k++)
                A[i * M + k] -= f * A[c * M + k];
            for (int k = 0; k < D; k++)
                B[i * D + k] -= f * B[c * D + k];
        }
    for (int i = 0; i < M; i++)
        for (int k = 0; k < D; k++)
            B[i * D + k] /= A[i * M + i];
}

static double squared_gap(const double *a, const double *b, int p)
{
    double sum = 0;

    for (int k = 0; k < p; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

static void a_learned_map_is_a_ridge_on_coordinates(dkm_ctx *ctx)
{
    enum { P = 3 };
    const double sigma = 0.7, gamma = 0.2;
    dkm_model *model = points_fit(ctx, "rbf(sigma=1.5)", P);
    dkm_data *Z = points_encode(ctx, model, M, points_element),
             *N = points_encode(ctx, model, NEW, points_new);
    dkm_data *Y = NULL;
    dkm_preimage_settings pre = {.method = DKM_PREIMAGE_LEARNED, .gamma_z = gamma};
    double z[M * P] = {0}, A[M * M], B[M * D];

    for (dkm_idx i = 0; i < dkm_data_local_rows(Z) * P; i++)
        z[dkm_data_local_first(Z) * P + i] = dkm_data_values_const(Z)[i];
    MPI_Allreduce(MPI_IN_PLACE, z, M * P, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < M; j++)
            A[i * M + j] = exp(-squared_gap(z + i * P, z + j * P, P) / (2 * sigma * sigma)) +
                           (i == j ? gamma : 0);
        for (int k = 0; k < D; k++)
            B[i * D + k] = points_element(i, k);
    }
    solve_oracle(A, B);
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf(sigma=0.7)", &pre.kz));
    CHECK_OK(ctx, dkm_model_configure(model, &pre));
    dkm_preimage_settings_clear(&pre);
    CHECK_OK(ctx, dkm_model_decode(model, N, &Y));
    for (dkm_idx i = 0; i < dkm_data_local_rows(N); i++)
        for (int k = 0; k < D; k++) {
            double want = 0;
            for (int j = 0; j < M; j++)
                want += B[j * D + k] *
                        exp(-squared_gap(dkm_data_values_const(N) + i * P, z + j * P, P) /
                            (2 * sigma * sigma));
            CHECK_CLOSE(dkm_data_values_const(Y)[i * D + k], want, 1e-10);
        }
    dkm_data_destroy(&Y);
    dkm_data_destroy(&N);
    dkm_data_destroy(&Z);
    dkm_model_destroy(&model);
}

static void a_learned_map_needs_its_kernel_and_ridge(dkm_ctx *ctx)
{
    dkm_model *model = points_fit(ctx, "rbf(sigma=1)", 2);
    dkm_preimage_settings pre = {.method = DKM_PREIMAGE_LEARNED, .gamma_z = 1};

    CHECK(dkm_model_configure(model, &pre) == DKM_ERR_ARG);
    dkm_preimage_settings_clear(&pre);
    CHECK(strstr(dkm_ctx_message(ctx), "give kz") != NULL);
    pre = (dkm_preimage_settings){.method = DKM_PREIMAGE_LEARNED};
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "linear", &pre.kz));
    CHECK(dkm_model_configure(model, &pre) == DKM_ERR_ARG);
    dkm_preimage_settings_clear(&pre);
    pre = (dkm_preimage_settings){.method = DKM_PREIMAGE_GRADIENT};
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "linear", &pre.kz));
    CHECK(dkm_model_configure(model, &pre) == DKM_ERR_ARG);
    dkm_preimage_settings_clear(&pre);
    dkm_model_destroy(&model);
}

static const check_case cases[] = {
    CASE(a_learned_map_is_a_ridge_on_coordinates),
    CASE(a_learned_map_needs_its_kernel_and_ridge),
};

CHECK_MAIN(cases)

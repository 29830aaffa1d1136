#include "models/common/kernel_default.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"

#define SAMPLE 256
#define LEAST  20   /* inputs below which nothing is said */
#define NEAR   1e-6 /* to 0 or to 1 */
#define SHARE  0.95 /* of pairs */

const char *dkm_kernel_default_text(dkm_type type)
{
    switch (type) {
    case DKM_LABELS:
        return "class";
    case DKM_LABEL_SETS:
        return "normalize(labels)";
    case DKM_STRINGS:
        return "normalize(spectrum(p=3))";
    case DKM_SETS:
        return "normalize(set)";
    case DKM_GRAM:
        return "gram";
    case DKM_DISTANCE:
        return "distance";
    case DKM_GRAPH:
        return "diffusion(tau=1)";
    case DKM_GRAPHS:
        return "normalize(weisfeiler-lehman(h=3))";
    default:
        return "rbf(sigma=median)";
    }
}

int dkm_kernel_text_is_of_labels(const char *text)
{
    while (text && *text) {
        size_t length = 0;
        while (isalnum((unsigned char)text[length]) ||
               (text[length] && strchr("_-.", text[length])))
            length++;
        if ((length == 5 && memcmp(text, "class", length) == 0) ||
            (length == 6 && memcmp(text, "labels", length) == 0))
            return 1;
        text += length > 0 ? length : 1;
    }
    return 0;
}

static dkm_status pick(const dkm_data *X, dkm_idx n, dkm_idx turn, dkm_data **sample)
{
    dkm_idx rows[SAMPLE];

    for (dkm_idx i = 0; i < n; i++)
        rows[i] = (i + turn) % n * X->m / n;
    return dkm_data_select(X, n, rows, sample);
}

/* Pairs of two samples: how many are near 0, near 1, and there. */
static dkm_status count_pairs(const dkm_prepared *A, const dkm_prepared *B, dkm_idx n, dkm_ctx *ctx,
                              double counts[3])
{
    dkm_status status = DKM_OK;
    double *k = NULL, *a, *b;

    DKM_AGREE(ctx, dkm_alloc(ctx, 3 * n, &k));
    a = k + n;
    b = a + n;
    DKM_TRY(dkm_kernel_diagonal(A, a));
    DKM_TRY(dkm_kernel_diagonal(B, b));
    DKM_TRY(dkm_kernel_elementwise(B, A, k));
    for (dkm_idx i = 0; i < n; i++) {
        double norm = sqrt(a[i]) * sqrt(b[i]);
        if (!(norm > 0))
            continue;
        counts[0] += fabs(k[i]) < NEAR * norm;
        counts[1] += k[i] > (1 - NEAR) * norm;
        counts[2]++;
    }
out:
    DKM_FREE(k);
    return status;
}

static void warn(const double counts[3], const dkm_kernel *kernel, dkm_report *report)
{
    if (counts[2] > 0 && counts[0] >= SHARE * counts[2])
        dkm_report_warn(report,
                        "the kernel matrix is nearly the identity: %s sees no two inputs as alike, "
                        "and nothing is learned about new ones. Give a greater width, such as "
                        "sigma=median, or --standardize",
                        dkm_kernel_text(kernel));
    else if (counts[2] > 0 && counts[1] >= SHARE * counts[2])
        dkm_report_warn(report,
                        "the kernel matrix is nearly constant: %s sees all inputs as alike. Give a "
                        "smaller width, such as sigma=median, or --standardize",
                        dkm_kernel_text(kernel));
}

dkm_status dkm_kernel_check_spread(const dkm_kernel *kernel, const dkm_data *X, dkm_report *report)
{
    dkm_status status = DKM_OK;
    dkm_idx n = X->m < SAMPLE ? X->m : SAMPLE;
    double counts[3] = {0};
    dkm_data *S = NULL, *R = NULL;
    dkm_prepared *A = NULL, *B = NULL;

    if (n < LEAST || dkm_kernel_is_data_dependent(kernel) || X->mine.type == DKM_GRAM ||
        X->mine.type == DKM_DISTANCE || X->mine.type == DKM_GRAPH)
        return DKM_OK;
    DKM_TRY(pick(X, n, 0, &S));
    DKM_TRY(dkm_error_context(X->ctx, "x", dkm_kernel_prepare(kernel, S, &A)));
    for (dkm_idx turn = 1; turn <= 13; turn += 6) {
        dkm_data_destroy(&R);
        dkm_prepared_destroy(&B);
        DKM_TRY(pick(X, n, turn, &R));
        DKM_TRY(dkm_kernel_prepare_new(A, R, &B));
        DKM_TRY(count_pairs(A, B, S->mine.n, X->ctx, counts));
    }
    MPI_Allreduce(MPI_IN_PLACE, counts, 3, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(X->ctx));
    warn(counts, kernel, report);
out:
    dkm_prepared_destroy(&B);
    dkm_prepared_destroy(&A);
    dkm_data_destroy(&R);
    dkm_data_destroy(&S);
    return status;
}

dkm_status dkm_input_kernel(dkm_ctx *ctx, const dkm_settings *s, const dkm_data *X,
                            dkm_report *report, dkm_kernel **kx)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_settings_kernel(ctx, s, "kx", X, kx));
    if (*kx && report)
        DKM_TRY(dkm_kernel_check_spread(*kx, X, report));
out:
    return status;
}

/* Models written before a kernel was defined anew predict as they did then. */
#include <hdf5.h>
#include <math.h>
#include <string.h>

#include <dkmap/krr.h>
#include <dkmap/store.h>

#include "core/alloc.h"
#include "kernels/expression/old_text.h"
#include "reference/reference_seal.h"
#include "support/check.h"
#include "support/fixture_objects.h"
#include "support/scratch.h"

enum { M = 11 };

static dkm_idx word(dkm_idx i, char *text, dkm_idx room)
{
    dkm_idx length = 3 + i % 5;

    (void)room;
    for (dkm_idx k = 0; k < length; k++)
        text[k] = (char)('a' + (i * i + 3 * k + i * k) % 4);
    return length;
}

static double target(dkm_idx i, dkm_idx k)
{
    (void)k;
    return (double)(i % 4) - 1.25;
}

/* Fit a model of @p kernel, and say in its file that it is @p stored of format @p version. */
static void make_file(dkm_ctx *ctx, const char *path, const char *kernel, const char *stored,
                      int64_t version)
{
    dkm_krr_settings settings = dkm_krr_settings_default();
    dkm_data *X = objects_texts(ctx, DKM_STRINGS, M, word);
    dkm_data *Y = objects_values(ctx, DKM_DENSE, M, 1, target);
    const double gamma = 0.1;
    dkm_krr_info info = {0};
    dkm_kernel *k = NULL;
    dkm_model *model = NULL;

    settings.gammas = &gamma;
    settings.count = 1;
    CHECK_OK(ctx, dkm_kernel_parse(ctx, kernel, &k));
    CHECK_OK(ctx, dkm_krr_fit(ctx, X, Y, k, &settings, &model, &info));
    CHECK_OK(ctx, dkm_model_save(model, path, "test"));
    if (dkm_ctx_rank(ctx) == 0) {
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), type = H5Tcopy(H5T_C_S1);
        hid_t scalar = H5Screate(H5S_SCALAR), set, attribute;
        H5Tset_size(type, strlen(stored));
        H5Ldelete(file, "kernel", H5P_DEFAULT);
        set = H5Dcreate2(file, "kernel", type, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        CHECK(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, stored) >= 0);
        attribute = H5Aopen(file, "format_version", H5P_DEFAULT);
        CHECK(H5Awrite(attribute, H5T_NATIVE_INT64, &version) >= 0);
        H5Aclose(attribute);
        if (version == 1) /* had no checksum */
            CHECK(H5Adelete(file, "sealed") >= 0);
        H5Dclose(set);
        H5Sclose(scalar);
        H5Tclose(type);
        CHECK(H5Fclose(file) >= 0);
        CHECK(version == 1 || (version == 2 ? reference_seal_format_2 : reference_seal)(path) == 0);
    }
    MPI_Barrier(dkm_ctx_comm(ctx));
    dkm_krr_info_free(&info);
    dkm_model_destroy(&model);
    dkm_kernel_destroy(&k);
    dkm_data_destroy(&X);
    dkm_data_destroy(&Y);
}

static dkm_data *predictions(dkm_ctx *ctx, const char *path)
{
    dkm_data *X = objects_texts(ctx, DKM_STRINGS, M, word), *P = NULL;
    dkm_layout layout = {0};
    dkm_model *model = NULL;

    CHECK_OK(ctx, dkm_model_load(ctx, path, &layout, &model));
    if (model)
        CHECK_OK(ctx, dkm_model_predict(model, X, &P));
    dkm_model_destroy(&model);
    dkm_data_destroy(&X);
    return P;
}

/* A model fitted with @p kernel, and one whose file says @p stored, predict alike, or not. */
static void compare(dkm_ctx *ctx, const char *kernel, const char *stored, int64_t version,
                    int alike)
{
    char path[SCRATCH_LENGTH];
    dkm_data *A = NULL, *B = NULL;
    double most = 0, all = 0;

    scratch_path(ctx, "old.h5", path);
    make_file(ctx, path, kernel, kernel, 2);
    A = predictions(ctx, path);
    make_file(ctx, path, kernel, stored, version);
    B = predictions(ctx, path);
    for (dkm_idx i = 0; A && B && i < dkm_data_local_rows(A); i++)
        most = fmax(most, fabs(dkm_data_values_const(A)[i] - dkm_data_values_const(B)[i]));
    MPI_Allreduce(&most, &all, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(ctx));
    CHECK(A && B && (all == 0) == alike);
    scratch_remove(ctx, path);
    dkm_data_destroy(&A);
    dkm_data_destroy(&B);
}

static void an_ssk_of_format_1_skips_the_weight_of_letters(dkm_ctx *ctx)
{
    compare(ctx, "ssk_gaps(r=2, lambda=0.5)", "ssk(r=2, lambda=0.5)", 1, 1);
    compare(ctx, "ssk_gaps(r=2, lambda=0.5)", "ssk(r=2, lambda=0.5)", 2, 0);
    compare(ctx, "ssk(r=2, lambda=0.5)", "ssk(r=2, lambda=0.5)", 2, 1);
    compare(ctx, "normalize(ssk(r=2, lambda=0.5))", "normalize(ssk(r=2, lambda=0.5))", 1, 1);
    compare(ctx, "sum(normalize(ssk(r=2, lambda=0.5)), ssk_gaps(r=3, lambda=0.5))",
            "sum(normalize(ssk(r=2, lambda=0.5)), ssk(r=3, lambda=0.5))", 1, 1);
}

static void only_the_name_changes(dkm_ctx *ctx)
{
    static const char *const texts[][2] = {
        {"linear", "linear"},
        {"", ""},
        {"ssk", "ssk_gaps"},
        {"sum(ssk, ssk(r=2), ssk_gaps, normalize(ssk(r=2)))",
         "sum(ssk_gaps, ssk_gaps(r=2), ssk_gaps, normalize(ssk(r=2)))"},
        {"rbf(normalize( ssk ), sigma=1)", "rbf(normalize( ssk ), sigma=1)"},
        {"rbf(ssk(r=3, lambda=0.01), sigma=1)", "rbf(ssk_gaps(r=3, lambda=0.01), sigma=1)"},
        {"extend(ssk.h5)", "extend(ssk.h5)"},
    };

    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        char *now = NULL;
        CHECK_OK(ctx, dkm_agree(ctx, dkm_kernel_from_format_1(ctx, texts[k][0], &now)));
        CHECK(now && strcmp(now, texts[k][1]) == 0);
        DKM_FREE(now);
    }
}

static const check_case cases[] = {
    CASE(only_the_name_changes),
    CASE(an_ssk_of_format_1_skips_the_weight_of_letters),
};

CHECK_MAIN(cases)

/* From strings to strings by kernel dependency estimation.
 *
 * Words are learned together with their plurals. A new word is mapped into the feature space of the
 * plurals, and the nearest of the known plurals is its pre-image. Rank 0 has all examples. */
#include <stdio.h>
#include <string.h>

#include <dkmap/dkmap.h>

static const char *const words[] = {"cat",  "dog",  "boat", "map",   "city",  "party",
                                    "baby", "lady", "bus",  "glass", "class", "box"};
static const char *const plurals[] = {"cats",   "dogs",   "boats", "maps",    "cities",  "parties",
                                      "babies", "ladies", "buses", "glasses", "classes", "boxes"};
enum { WORDS = sizeof words / sizeof *words };

static dkm_status learn(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_ctx_rank(ctx) == 0 ? WORDS : 0, right = 0;
    dkm_settings *settings = NULL;
    dkm_data *X = NULL, *Y = NULL, *F = NULL;
    dkm_model *model = NULL;
    dkm_rows *rows = NULL;

    DKM_TRY(dkm_data_from_strings(ctx, DKM_STRINGS, n, words, NULL, &X));
    DKM_TRY(dkm_data_from_strings(ctx, DKM_STRINGS, n, plurals, NULL, &Y));

    DKM_TRY(dkm_settings_create(ctx, "kde", &settings));
    DKM_TRY(dkm_settings_set(settings, "kx", "normalize(ssk(r=2, lambda=0.5))"));
    DKM_TRY(dkm_settings_set(settings, "ky", "normalize(ssk(r=3, lambda=0.5))"));
    DKM_TRY(dkm_settings_set(settings, "components", "all"));
    DKM_TRY(dkm_settings_set(settings, "ridge", "1e-4"));
    DKM_TRY(dkm_fit(ctx, "kde", X, Y, settings, &model, NULL));
    DKM_TRY(dkm_model_predict(model, X, &F));

    DKM_TRY(dkm_rows_get(F, 0, WORDS, &rows)); /* all of them, on every rank */
    for (dkm_idx i = 0; i < WORDS; i++) {
        dkm_idx length;
        const char *found = dkm_rows_string(rows, i, &length);
        right +=
            length == (dkm_idx)strlen(plurals[i]) && memcmp(found, plurals[i], (size_t)length) == 0;
        if (dkm_ctx_rank(ctx) == 0)
            printf("%s -> %.*s\n", words[i], (int)length, found);
    }
    DKM_REQUIRE(ctx, right == WORDS, DKM_ERR_NUMERIC, "only %lld plurals are right",
                (long long)right);
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
    dkm_ctx *ctx = NULL;
    dkm_status status;

    MPI_Init(&argc, &argv);
    status = dkm_ctx_create(MPI_COMM_WORLD, &ctx);
    if (status == DKM_OK)
        status = learn(ctx);
    if (status != DKM_OK && ctx && dkm_ctx_rank(ctx) == 0)
        fprintf(stderr, "strings_to_strings: %s\n", dkm_ctx_message(ctx));
    dkm_ctx_destroy(&ctx);
    MPI_Finalize();
    return status != DKM_OK;
}

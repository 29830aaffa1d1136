/* Generated objects: the line that says which, and the first and last few of them. */
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dkm_ctx *ctx = (fuzz_begin(), fuzz_ctx());
    dkm_source *source = NULL;
    dkm_data *rows = NULL;

    if (dkm_source_open(ctx, fuzz_file(".gen", data, size), DKM_OUTPUTS, NULL, &source) == DKM_OK) {
        dkm_idx m = dkm_source_rows(source), count = m < 50 ? m : 50;
        if (dkm_source_read(source, 0, count, &rows) != DKM_OK)
            fuzz_broken("the first objects are refused", dkm_ctx_message(ctx));
        dkm_data_destroy(&rows);
        if (dkm_source_read(source, m - count, count, &rows) != DKM_OK)
            fuzz_broken("the last objects are refused", dkm_ctx_message(ctx));
        dkm_data_destroy(&rows);
    }
    dkm_source_close(&source);
    fuzz_end(size, 8);
    return 0;
}

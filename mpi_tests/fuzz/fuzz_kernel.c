/* Kernel expressions: what is understood is printed, understood again as the same, and gives the
 * Gram matrices of a few objects of each kind. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

static void try_gram(const dkm_kernel *kernel, const dkm_data *X)
{
    dkm_prepared *prepared = NULL;
    double values[64];
    dkm_status status = dkm_kernel_prepare(kernel, X, &prepared);

    if (status == DKM_OK)
        status = dkm_kernel_diagonal(prepared, values);
    if (status == DKM_OK)
        status = dkm_gram_slab(prepared, values);
    (void)status;
    dkm_prepared_destroy(&prepared);
}

/* Files may be named in expressions: none but those of the fuzzer are to be opened. */
static int names_file(const char *text)
{
    return strstr(text, "extend") != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    dkm_kernel *kernel = NULL, *again = NULL;

    for (int k = 0; k < FUZZ_KINDS; k++)
        (void)fuzz_objects((fuzz_kind)k);
    fuzz_begin();
    if (!names_file(text) && dkm_kernel_parse(fuzz_ctx(), text, &kernel) == DKM_OK) {
        if (dkm_kernel_parse(fuzz_ctx(), dkm_kernel_text(kernel), &again) != DKM_OK)
            fuzz_broken("printed and not understood", dkm_kernel_text(kernel));
        if (strcmp(dkm_kernel_text(kernel), dkm_kernel_text(again)) != 0)
            fuzz_broken("another expression after printing", dkm_kernel_text(kernel));
        for (int k = 0; k < FUZZ_KINDS; k++)
            try_gram(kernel, fuzz_objects((fuzz_kind)k));
    }
    dkm_kernel_destroy(&kernel);
    dkm_kernel_destroy(&again);
    fuzz_end(size, 8);
    free(text);
    return 0;
}

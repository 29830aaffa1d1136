/* Files of run records, as info describes them. */
#include <stdlib.h>

#include <dkmap/store.h>

#include "fuzz/fuzz.h"

static void check_line(void *user, const char *line)
{
    (void)user;
    for (; *line; line++)
        if ((unsigned char)*line < ' ')
            fuzz_broken("a control character in a description", line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(".jsonl", data, size);

    fuzz_begin();
    if (dkm_describe(fuzz_ctx(), path, NULL, check_line, NULL) != DKM_OK &&
        !*dkm_ctx_message(fuzz_ctx()))
        fuzz_broken("refused without a word", path);
    fuzz_end(size, 8);
    return 0;
}

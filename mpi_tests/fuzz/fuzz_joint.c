/* Joint kernel expressions: what is understood is printed, and understood again as the same. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    dkm_joint *joint = NULL, *again = NULL;

    fuzz_begin();
    if (dkm_joint_parse(fuzz_ctx(), text, &joint) == DKM_OK) {
        if (dkm_joint_parse(fuzz_ctx(), dkm_joint_text(joint), &again) != DKM_OK)
            fuzz_broken("printed and not understood", dkm_joint_text(joint));
        if (strcmp(dkm_joint_text(joint), dkm_joint_text(again)) != 0)
            fuzz_broken("another expression after printing", dkm_joint_text(joint));
    }
    dkm_joint_destroy(&joint);
    dkm_joint_destroy(&again);
    fuzz_end(size, 8);
    free(text);
    return 0;
}

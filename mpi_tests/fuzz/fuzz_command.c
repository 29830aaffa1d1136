/* Command lines, one word a line: read against the tables of their command, not run. What is
 * refused is refused with a reason. */
#include <stdlib.h>
#include <string.h>

#include "cli/core/args.h"
#include "fuzz/fuzz.h"

enum { WORDS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *words[WORDS + 1] = {0}, name[] = "dkmap", *at = text;
    int count = 1;
    args a;

    fuzz_begin();
    words[0] = name;
    while (at && count < WORDS) {
        char *end = strchr(at, '\n');
        if (end)
            *end++ = '\0';
        words[count++] = at;
        at = end;
    }
    if (args_read(&a, count, words, NULL) == ARGS_WRONG && a.complaint[0] == '\0')
        fuzz_broken("refused without a word", text);
    args_free(&a);
    fuzz_end(size, 8);
    free(text);
    return 0;
}

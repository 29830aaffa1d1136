/* Files of options, YAML after a first byte that is even and TOML after an odd one: what is refused is
 * refused with a reason, what is read has names and values. */
#include <string.h>

#include "cli/config/config.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path;
    config c;

    if (size < 1)
        return 0;
    path = data[0] % 2 ? "f.toml" : "f.yaml";
    fuzz_begin();
    if (!config_parse(&c, path, (const char *)data + 1, size - 1) &&
        strncmp(c.error, path, strlen(path)) != 0)
        fuzz_broken("refused without a word", c.error);
    for (int k = 0; k < c.count && !*c.error; k++) {
        if (!c.entries[k].is_list && c.entries[k].count != 1)
            fuzz_broken("an option without a value", c.entries[k].name);
        for (int i = 0; i < c.entries[k].count; i++)
            if (strlen(c.entries[k].values[i]) > size * 4)
                fuzz_broken("a value longer than the file", c.entries[k].name);
    }
    config_free(&c);
    fuzz_end(size, 8);
    return 0;
}

/* Runs a fuzz target over files and folders of inputs, where there is no libFuzzer.
 *
 * usage: fuzz_NAME FILE|FOLDER...                                                            */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    size_t used = 0, room = 0, got = 1;

    if (!file)
        return 0;
    while (got > 0) {
        if (used == room) {
            room = 2 * room + 4096;
            data = realloc(data, room);
            if (!data)
                abort();
        }
        got = fread(data + used, 1, room - used, file);
        used += got;
    }
    fclose(file);
    LLVMFuzzerTestOneInput(data, used);
    free(data);
    return 1;
}

/* @return inputs that were run */
static int replay(const char *path)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, by_name), done = 0;
    char name[4096];

    if (count < 0)
        return replay_file(path);
    for (int k = 0; k < count; k++) {
        snprintf(name, sizeof name, "%s/%s", path, entries[k]->d_name);
        if (entries[k]->d_name[0] != '.')
            done += replay_file(name);
        free(entries[k]);
    }
    free(entries);
    return done;
}

int main(int argc, char **argv)
{
    int done = 0;

    for (int k = 1; k < argc; k++)
        done += replay(argv[k]);
    printf("%d inputs%s\n", done, fuzz_understands() ? "" : ", none of which was read");
    return done > 0 && fuzz_understands() ? 0 : 1;
}

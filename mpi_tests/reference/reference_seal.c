#include "reference/reference_seal.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/atomic_file.h"

int reference_seal(const char *path)
{
    FILE *f = fopen(path, "r+b");
    char *bytes = NULL;
    int64_t length;
    uint64_t sum;
    int done = -1;

    if (!f)
        return -1;
    fseek(f, 0, SEEK_END);
    length = ftell(f);
    bytes = malloc((size_t)length + 1);
    rewind(f);
    if (bytes && fread(bytes, 1, (size_t)length, f) == (size_t)length) {
        sum = dkm_filesum(0, bytes, length);
        fseek(f, 0, SEEK_END);
        done = fwrite("dkm seal", 8, 1, f) == 1 && fwrite(&length, sizeof length, 1, f) == 1 &&
                       fwrite(&sum, sizeof sum, 1, f) == 1
                   ? 0
                   : -1;
    }
    free(bytes);
    return fclose(f) == 0 ? done : -1;
}

#include "reference/reference_seal.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 wide;

/* Byte by byte: sum_k b_k 256^(k mod 4) r^(k div 4) mod 2^61 - 1 */
static uint64_t sum_format_3(const unsigned char *b, int64_t length)
{
    const uint64_t p = (UINT64_C(1) << 61) - 1, r = UINT64_C(0x1f83d9abfb41bd6f);
    wide sum = 0, weight = 1;

    for (int64_t k = 0; k < length; k++) {
        sum = (sum + ((wide)b[k] << 8 * (k % 4)) * weight) % p;
        if (k % 4 == 3)
            weight = weight * r % p;
    }
    return (uint64_t)sum;
}

/* Byte by byte: sum_k b_k 256^(k mod 8) w(k div 8) mod 2^64 */
static uint64_t sum_format_2(const unsigned char *b, int64_t length)
{
    uint64_t sum = 0;

    for (int64_t k = 0; k < length; k++) {
        uint64_t z = ((uint64_t)k / 8 + 1) * 0x9e3779b97f4a7c15u;
        sum += ((uint64_t)b[k] << 8 * (k % 8)) * ((z ^ (z >> 32)) | 1u);
    }
    return sum;
}

static int seal(const char *path, const char mark[8],
                uint64_t (*sum_of)(const unsigned char *, int64_t))
{
    FILE *f = fopen(path, "r+b");
    unsigned char *bytes = NULL;
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
        sum = sum_of(bytes, length);
        fseek(f, 0, SEEK_END);
        done = fwrite(mark, 8, 1, f) == 1 && fwrite(&length, sizeof length, 1, f) == 1 &&
                       fwrite(&sum, sizeof sum, 1, f) == 1
                   ? 0
                   : -1;
    }
    free(bytes);
    return fclose(f) == 0 ? done : -1;
}

int reference_seal(const char *path)
{
    return seal(path, "dkm sum3", sum_format_3);
}

int reference_seal_format_2(const char *path)
{
    return seal(path, "dkm seal", sum_format_2);
}

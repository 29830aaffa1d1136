#include "kernels/evaluation/object_hash.h"

#include <string.h>

uint64_t dkm_hash_mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0xff51afd7ed558ccdu;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 29;
}

uint64_t dkm_hash_bytes(const void *bytes, dkm_idx length)
{
    const unsigned char *at = bytes;
    uint64_t h = dkm_hash_mix(0x9e3779b97f4a7c15u, (uint64_t)length), word;

    for (; length > 0; at += sizeof word, length -= (dkm_idx)sizeof word) {
        word = 0;
        memcpy(&word, at, length < (dkm_idx)sizeof word ? (size_t)length : sizeof word);
        h = dkm_hash_mix(h, word);
    }
    return h;
}

/* One entry of a row; those that are zero do not count. */
static uint64_t mix_entry(uint64_t h, dkm_idx col, double value)
{
    uint64_t bits;

    if (value == 0)
        return h;
    memcpy(&bits, &value, sizeof bits);
    return dkm_hash_mix(dkm_hash_mix(h, (uint64_t)col), bits);
}

double dkm_object_hash(const dkm_objs *objs, dkm_idx i)
{
    uint64_t h = 0;

    if (objs->bytes)
        h = dkm_hash_bytes(objs->bytes + objs->start[i], objs->start[i + 1] - objs->start[i]);
    else if (objs->start)
        for (dkm_idx k = objs->start[i]; k < objs->start[i + 1]; k++)
            h = mix_entry(h, objs->col[k], objs->val ? objs->val[k] : 1.0);
    else
        for (dkm_idx k = 0; k < objs->d; k++)
            h = mix_entry(h, k, objs->values[i * objs->d + k]);
    return (double)(h >> 11);
}

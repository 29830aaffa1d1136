#include "preimage/strings/char_voters.h"

#include <math.h>

#include <dkmap/random.h>

#define STREAM_TIES 41

void dkm_char_voters_clear(dkm_char_voter *voters, dkm_idx count)
{
    for (dkm_idx v = 0; v < count; v++)
        voters[v] = (dkm_char_voter){INFINITY, UINT64_MAX, ' '};
}

static int nearer(const dkm_char_voter *a, const dkm_char_voter *b)
{
    return a->distance < b->distance || (a->distance == b->distance && a->tie < b->tie);
}

void dkm_char_voters_insert(dkm_char_voter *list, dkm_idx k, dkm_char_voter v)
{
    dkm_idx at = k - 1;

    if (!nearer(&v, &list[at]))
        return;
    for (; at > 0 && nearer(&v, &list[at - 1]); at--)
        list[at] = list[at - 1];
    list[at] = v;
}

char dkm_char_voters_elect(const dkm_char_voter *list, dkm_idx k)
{
    dkm_idx most = 0, best = 0;

    for (dkm_idx a = 0; a < k && isfinite(list[a].distance); a++) {
        dkm_idx votes = 0;
        for (dkm_idx b = 0; b < k; b++)
            votes += isfinite(list[b].distance) && list[b].letter == list[a].letter;
        if (votes > most) {
            most = votes;
            best = a;
        }
    }
    return list[best].letter;
}

uint64_t dkm_char_voters_tie(uint64_t seed, uint64_t string, dkm_idx at, dkm_idx example,
                             dkm_idx position)
{
    return dkm_random_bits(seed, STREAM_TIES, string + (uint64_t)at,
                           (uint64_t)example << 24 ^ (uint64_t)position);
}

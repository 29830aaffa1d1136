#include "comm/merge_lists.h"

#include <string.h>

/* How many of the first n come from either list is found first, so that entries move once and
 * from the back. */
static void merge_two(const char *in, char *inout, size_t n, size_t size, dkm_comes_before *before)
{
    size_t i = 0, j = 0;

    while (i + j < n)
        if (before(in + i * size, inout + j * size))
            i++;
        else
            j++;
    for (size_t k = n; i > 0; k--)
        if (j > 0 && before(in + (i - 1) * size, inout + (j - 1) * size))
            memmove(inout + (k - 1) * size, inout + --j * size, size);
        else
            memcpy(inout + (k - 1) * size, in + --i * size, size);
}

void dkm_merge_lists(const void *in, void *inout, int lists, MPI_Datatype type, size_t size,
                     dkm_comes_before *before)
{
    int bytes;

    MPI_Type_size(type, &bytes);
    for (int k = 0; k < lists; k++)
        merge_two((const char *)in + k * bytes, (char *)inout + k * bytes, (size_t)bytes / size,
                  size, before);
}

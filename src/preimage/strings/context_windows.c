#include "preimage/strings/context_windows.h"

#include <string.h>

#include "core/alloc.h"

const char *dkm_context_windows_output(const char *bytes, dkm_idx length, dkm_idx *found)
{
    const char *tab = memchr(bytes, '\t', (size_t)length);

    *found = tab ? bytes + length - tab - 1 : length;
    return bytes + length - *found;
}

static dkm_local context_windows_allocate(dkm_context_windows *w, const dkm_objs *X,
                                          const dkm_objs *Y, const dkm_idx *lengths)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx letters = 0, length;

    DKM_STEP(dkm_alloc(X->ctx, w->n + 1, &w->start));
    for (dkm_idx i = 0; i < w->n; i++) {
        w->start[i] = letters;
        if (Y)
            dkm_context_windows_output(Y->bytes + Y->start[i], Y->start[i + 1] - Y->start[i],
                                       &length);
        else
            length = lengths[i];
        letters += length;
    }
    w->start[w->n] = letters;
    DKM_STEP(dkm_calloc(X->ctx, letters * w->words, &w->window));
    DKM_STEP(dkm_alloc(X->ctx, letters, &w->letter));
    memset(w->letter, ' ', (size_t)letters);
out:
    return local;
}

/* The window of @p width characters about place @p at of a string; outside of it stand zeros. */
static void context_windows_pack(const char *x, dkm_idx length, dkm_idx at, dkm_idx width,
                                 uint64_t *window)
{
    for (dkm_idx k = 0; k < width; k++) {
        dkm_idx p = at + k - width / 2;
        uint64_t letter = p >= 0 && p < length ? (unsigned char)x[p] : 0;
        window[k / 8] |= letter << 8 * (k % 8);
    }
}

dkm_local dkm_context_windows_open(dkm_context_windows *w, const dkm_objs *X, const dkm_objs *Y,
                                   const dkm_idx *lengths, dkm_idx width)
{
    dkm_local local = DKM_LOCAL_OK;

    *w = (dkm_context_windows){.n = X->n, .words = (width + 7) / 8};
    DKM_STEP(context_windows_allocate(w, X, Y, lengths));
    for (dkm_idx i = 0; i < w->n; i++) {
        dkm_idx n = X->start[i + 1] - X->start[i], count = w->start[i + 1] - w->start[i];
        for (dkm_idx p = 0; p < count; p++)
            context_windows_pack(X->bytes + X->start[i], n,
                                 n == count ? p : (2 * p + 1) * n / (2 * count), width,
                                 w->window + (w->start[i] + p) * w->words);
        if (Y)
            memcpy(w->letter + w->start[i], Y->bytes + Y->start[i + 1] - count, (size_t)count);
    }
out:
    return local;
}

void dkm_context_windows_close(dkm_context_windows *w)
{
    DKM_FREE(w->start);
    DKM_FREE(w->window);
    DKM_FREE(w->letter);
}

void dkm_context_windows_table(dkm_idx width, const double *weights, dkm_idx step, double *table)
{
    for (dkm_idx word = 0; word < (width + 7) / 8; word++)
        for (unsigned mask = 0; mask < 256; mask++) {
            double sum = 0;
            for (dkm_idx k = 8 * word; k < width && k < 8 * word + 8; k++)
                sum += mask >> (k - 8 * word) & 1 ? weights ? weights[k] : 1.0 : 0.0;
            table[(256 * word + mask) * step] = sum;
        }
}

/* In the place of faiss_index.cpp where dkmap is built without faiss. */
#include <stdio.h>

#include "search/faiss_index.h"

static int absent(char why[DKM_FAISS_WHY])
{
    snprintf(why, DKM_FAISS_WHY, "this dkmap was built without faiss");
    return 1;
}

int dkm_faiss_available(void)
{
    return 0;
}

int dkm_faiss_create(const dkm_faiss_shape *shape, dkm_faiss **index, char why[DKM_FAISS_WHY])
{
    (void)shape;
    *index = NULL;
    return absent(why);
}

int dkm_faiss_train(dkm_faiss *index, int64_t n, const float *x, char why[DKM_FAISS_WHY])
{
    (void)index;
    (void)n;
    (void)x;
    return absent(why);
}

int dkm_faiss_add(dkm_faiss *index, int64_t n, const float *x, char why[DKM_FAISS_WHY])
{
    return dkm_faiss_train(index, n, x, why);
}

int dkm_faiss_search(dkm_faiss *index, int64_t n, const float *x, int64_t k, int64_t probes,
                     float *distance, int64_t *number, char why[DKM_FAISS_WHY])
{
    (void)k;
    (void)probes;
    (void)distance;
    (void)number;
    return dkm_faiss_train(index, n, x, why);
}

void dkm_faiss_destroy(dkm_faiss **index)
{
    *index = NULL;
}

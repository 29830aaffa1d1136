/** @file faiss_index.h  The only door to faiss, which is C++: an index of points that finds near ones, not always
 *  the nearest.
 *
 *  An inverted file (IndexIVFFlat, or with a byte per coordinate IndexIVFScalarQuantizer): points are held by the
 *  nearest of some centers, and a search looks into the cells of the centers nearest to a query. (Johnson, Douze and
 *  Jegou 2021, IEEE Transactions on Big Data 7(3):535-547, doi:10.1109/TBDATA.2019.2921572.)
 *
 *  All of it is local. Every function that can fail returns 0, or another number with the reason in @p why.
 *  Without faiss faiss_absent.c stands in its place.
 */
#ifndef DKMAP_SEARCH_FAISS_INDEX_H
#define DKMAP_SEARCH_FAISS_INDEX_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DKM_FAISS_WHY = 256 };

typedef struct dkm_faiss dkm_faiss;

typedef struct dkm_faiss_shape {
    int d;         /**< coordinates of a point */
    int64_t cells; /**< 1: every search looks at all points */
    int bytes;     /**< keep a byte per coordinate in place of single precision */
    int threads;
} dkm_faiss_shape;

/** Whether dkmap was built with faiss. */
int dkm_faiss_available(void);

int dkm_faiss_create(const dkm_faiss_shape *shape, dkm_faiss **index, char why[DKM_FAISS_WHY]);
/** Find the centers, from @p n points, as many as there are cells or more. */
int dkm_faiss_train(dkm_faiss *index, int64_t n, const float *x, char why[DKM_FAISS_WHY]);
/** Points are numbered from 0 on as they come. */
int dkm_faiss_add(dkm_faiss *index, int64_t n, const float *x, char why[DKM_FAISS_WHY]);
/** The @p k nearest that are found in @p probes cells: squared distances, ascending, and numbers; -1 stands in the
 *  place of those that were not found. */
int dkm_faiss_search(dkm_faiss *index, int64_t n, const float *x, int64_t k, int64_t probes,
                     float *distance, int64_t *number, char why[DKM_FAISS_WHY]);
void dkm_faiss_destroy(dkm_faiss **index);

#ifdef __cplusplus
}
#endif

#endif

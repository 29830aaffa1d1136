/** @file whole.h  Inner products of rows of small whole numbers, such as the bytes of pictures.
 *
 *  Sums of products of 16-bit numbers are exact in 32 bits as long as they stay below 2^31, and
 * take a quarter of the time of gemm in double, which gives the same values to the last bit.
 */
#ifndef DKMAP_WHOLE_H
#define DKMAP_WHOLE_H

#include <dkmap/types.h>

/** Numbers kept a row: @p d, made even. Local. */
static inline dkm_idx dkm_whole_width(dkm_idx d)
{
    return d + d % 2;
}

/** Whether this machine has the instructions that make it worth while. Local. */
int dkm_whole_pays(void);

/** Keep @p n rows of @p d numbers as 16-bit ones.
 *
 *  Local.
 *
 *  @param[out] to    dkm_whole_width(d) numbers a row
 *  @return the largest size among them; -1 when some are not whole, or too large for 16 bits
 */
double dkm_whole_take(dkm_idx n, dkm_idx d, const double *rows, int16_t *to);

/** Rows of some objects as dkm_whole_take() left them. */
typedef struct dkm_whole {
    dkm_idx n, width;
    const int16_t *rows;
} dkm_whole;

/** Room that dkm_whole_dots() takes for rows of this width, in numbers. Local. */
dkm_idx dkm_whole_room(dkm_idx width);

/** C(i, j) = <a_i, b_j>. Local.
 *
 *  @pre width times the largest sizes in A and in B is below 2^31
 *  @param[out] C     column-major, of @p precision
 *  @param      room  dkm_whole_room() numbers
 */
void dkm_whole_dots(const dkm_whole *A, const dkm_whole *B, dkm_precision precision, void *C,
                    dkm_idx ldc, int16_t *room);

#endif

/** @file dmat_impl.h  Body of the distributed matrix, for the layers that fill, move or factor it.
 */
#ifndef DKMAP_MATRIX_DMAT_IMPL_H
#define DKMAP_MATRIX_DMAT_IMPL_H

#include <dkmap/dmat.h>

struct dkm_dmat {
    dkm_grid *grid;
    dkm_precision precision;
    dkm_idx m, n, mb, nb;
    dkm_idx m_loc, n_loc, ld;
    union {
        void *any;
        double *f64;
        float *f32;
    } a;
};

/** A matrix that knows where its elements would lie and holds none of them. Collective. */
DKM_NODISCARD dkm_status dkm_dmat_create_shape(dkm_grid *grid, dkm_idx m, dkm_idx n, dkm_idx mb,
                                               dkm_idx nb, dkm_precision precision, dkm_dmat **A);

/** A square matrix of zeros in square blocks, of which the lower triangle alone will be touched: what
 *  lies above has addresses and takes no memory. A rank may have more elements than ScaLAPACK can
 *  index: then no function of linalg/backend/pblas.c takes it.
 *
 *  Collective.
 *
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_MEMORY; DKM_ERR_SIZE */
DKM_NODISCARD dkm_status dkm_dmat_create_lower(dkm_grid *grid, dkm_idx n, dkm_idx nb,
                                               dkm_precision precision, dkm_dmat **A);

/** Bytes of memory of a rank's part of it, @p rows x @p cols elements of @p size: the triangle, half a
 *  page a column, and what large pages reach above it. Local. */
double dkm_lower_bytes(double rows, double cols, double size);

/** Whether ScaLAPACK, with its integers of 32 bits, can index the local arrays of all ranks of an m x n
 *  matrix in blocks of mb x nb. Local; the same on every rank. */
int dkm_scalapack_indexes(const dkm_grid *grid, dkm_idx m, dkm_idx n, dkm_idx mb, dkm_idx nb);
int dkm_dmat_suits_scalapack(const dkm_dmat *A);

/** Ask for large pages for the columns of a matrix of zeros whose lower triangle is about to be
 *  filled, as far as a half of each page or more will be: a quarter more memory than the triangle
 *  has, for most of the time that its pages take to come. A rank's part above DKM_LARGE_LOWER_MOST
 *  stays as it is: where matrices are that large, memory is what is short. Local. */
void dkm_dmat_want_large_pages_lower(dkm_dmat *A);

/** Sees or fills @p count full rows from row @p first on, row-major. Local. */
typedef dkm_local (*dkm_rows_callback)(void *user, dkm_idx first, dkm_idx count, double *rows);

/** Let every rank see its slab of A's rows, a bounded chunk at a time. Collective; fails where a
 *  step does. */
DKM_NODISCARD dkm_status dkm_dmat_for_each_rows(const dkm_dmat *A, dkm_rows_callback see,
                                                void *user);
/** Fill A, or only its lower triangle, from such chunks. Collective; fails where a step does,
 * and A is then of no use. */
DKM_NODISCARD dkm_status dkm_dmat_fill_rows(dkm_dmat *A, int lower, dkm_rows_callback fill,
                                            void *user);

/** Element at local place (il, jl), whatever the precision. */
static inline double dkm_dmat_at(const dkm_dmat *A, dkm_idx il, dkm_idx jl)
{
    dkm_idx k = il + jl * A->ld;

    return A->precision == DKM_F64 ? A->a.f64[k] : (double)A->a.f32[k];
}

static inline void dkm_dmat_put(dkm_dmat *A, dkm_idx il, dkm_idx jl, double value)
{
    dkm_idx k = il + jl * A->ld;

    if (A->precision == DKM_F64)
        A->a.f64[k] = value;
    else
        A->a.f32[k] = (float)value;
}

#endif

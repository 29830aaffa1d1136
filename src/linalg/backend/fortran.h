/** @file fortran.h  The Fortran and BLACS symbols dkmap calls. Included in src/linalg only. */
#ifndef DKMAP_LINALG_BACKEND_FORTRAN_H
#define DKMAP_LINALG_BACKEND_FORTRAN_H

#include <mpi.h>
#include <stddef.h>

int Csys2blacs_handle(MPI_Comm comm);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridinit(int *context, const char *order, int P, int Q);
void Cblacs_gridexit(int context);

/* One declaration for each of the two precisions. */
#define DKM_FORTRAN(REAL, b, p)                                                                    \
    void b##gemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,        \
                  const REAL *alpha, const REAL *A, const int *lda, const REAL *B, const int *ldb, \
                  const REAL *beta, REAL *C, const int *ldc, size_t, size_t);                      \
    void b##gemv_(const char *trans, const int *m, const int *n, const REAL *alpha, const REAL *A, \
                  const int *lda, const REAL *x, const int *incx, const REAL *beta, REAL *y,       \
                  const int *incy, size_t);                                                        \
    void b##syrk_(const char *uplo, const char *trans, const int *n, const int *k,                 \
                  const REAL *alpha, const REAL *A, const int *lda, const REAL *beta, REAL *C,     \
                  const int *ldc, size_t, size_t);                                                 \
    void b##trsm_(const char *side, const char *uplo, const char *trans, const char *diag,         \
                  const int *m, const int *n, const REAL *alpha, const REAL *A, const int *lda,    \
                  REAL *B, const int *ldb, size_t, size_t, size_t, size_t);                        \
    void b##potrf_(const char *uplo, const int *n, REAL *A, const int *lda, int *info, size_t);    \
    void p##gemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,        \
                  const REAL *alpha, const REAL *A, const int *ia, const int *ja,                  \
                  const int *descA, const REAL *B, const int *ib, const int *jb, const int *descB, \
                  const REAL *beta, REAL *C, const int *ic, const int *jc, const int *descC);      \
    void p##symm_(const char *side, const char *uplo, const int *m, const int *n,                  \
                  const REAL *alpha, const REAL *A, const int *ia, const int *ja,                  \
                  const int *descA, const REAL *B, const int *ib, const int *jb, const int *descB, \
                  const REAL *beta, REAL *C, const int *ic, const int *jc, const int *descC);      \
    void p##tran_(const int *m, const int *n, const REAL *alpha, const REAL *A, const int *ia,     \
                  const int *ja, const int *descA, const REAL *beta, REAL *C, const int *ic,       \
                  const int *jc, const int *descC);                                                \
    void p##geadd_(const char *trans, const int *m, const int *n, const REAL *alpha,               \
                   const REAL *A, const int *ia, const int *ja, const int *descA,                  \
                   const REAL *beta, REAL *C, const int *ic, const int *jc, const int *descC);     \
    void p##trsm_(const char *side, const char *uplo, const char *trans, const char *diag,         \
                  const int *m, const int *n, const REAL *alpha, const REAL *A, const int *ia,     \
                  const int *ja, const int *descA, REAL *B, const int *ib, const int *jb,          \
                  const int *descB);                                                               \
    void p##syrk_(const char *uplo, const char *trans, const int *n, const int *k,                 \
                  const REAL *alpha, const REAL *A, const int *ia, const int *ja,                  \
                  const int *descA, const REAL *beta, REAL *C, const int *ic, const int *jc,       \
                  const int *descC);                                                               \
    void p##potrf_(const char *uplo, const int *n, REAL *A, const int *ia, const int *ja,          \
                   const int *descA, int *info, size_t);                                           \
    void p##trtri_(const char *uplo, const char *diag, const int *n, REAL *A, const int *ia,       \
                   const int *ja, const int *descA, int *info, size_t, size_t);                    \
    void p##lauum_(const char *uplo, const int *n, REAL *A, const int *ia, const int *ja,          \
                   const int *descA, size_t);

DKM_FORTRAN(double, d, pd)
DKM_FORTRAN(float, s, ps)

void pdsyevd_(const char *job, const char *uplo, const int *n, double *A, const int *ia,
              const int *ja, const int *descA, double *values, double *Z, const int *iz,
              const int *jz, const int *descZ, double *work, const int *lwork, int *integers,
              const int *liwork, int *info, size_t, size_t);
void pdstedc_(const char *job, const int *n, double *d, double *e, double *Q, const int *iq,
              const int *jq, const int *descQ, double *work, const int *lwork, int *integers,
              const int *liwork, int *info, size_t);
void dsyevd_(const char *job, const char *uplo, const int *n, double *a, const int *lda,
             double *values, double *work, const int *lwork, int *integers, const int *liwork,
             int *info, size_t, size_t);
void dsyevr_(const char *job, const char *range, const char *uplo, const int *n, double *a,
             const int *lda, const double *vl, const double *vu, const int *il, const int *iu,
             const double *tolerance, int *found, double *values, double *z, const int *ldz,
             int *support, double *work, const int *lwork, int *integers, const int *liwork,
             int *info, size_t, size_t, size_t);
void dtplqt_(const int *m, const int *n, const int *l, const int *mb, double *a, const int *lda,
             double *b, const int *ldb, double *t, const int *ldt, double *work, int *info);
void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work,
             const int *lwork, int *info);
void dlarft_(const char *direct, const char *store, const int *n, const int *k, const double *v,
             const int *ldv, const double *tau, double *t, const int *ldt, size_t, size_t);
void dtrmm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
            const int *n, const double *alpha, const double *a, const int *lda, double *b,
            const int *ldb, size_t, size_t, size_t, size_t);
void dtrtri_(const char *uplo, const char *diag, const int *n, double *a, const int *lda, int *info,
             size_t, size_t);
void dlauum_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
void dpbtrf_(const char *uplo, const int *n, const int *kd, double *ab, const int *ldab, int *info,
             size_t);
void dpbtrs_(const char *uplo, const int *n, const int *kd, const int *nrhs, const double *ab,
             const int *ldab, double *b, const int *ldb, int *info, size_t);
void dgesdd_(const char *job, const int *m, const int *n, double *a, const int *lda, double *s,
             double *u, const int *ldu, double *vt, const int *ldvt, double *work, const int *lwork,
             int *integers, int *info, size_t);

/* Compilers of Fortran expect the length of every character argument behind the last one. All are 1;
 * these macros append them. The PBLAS are written in C and expect none. */
#define dgemm_(...)   dgemm_(__VA_ARGS__, 1, 1)
#define sgemm_(...)   sgemm_(__VA_ARGS__, 1, 1)
#define dgemv_(...)   dgemv_(__VA_ARGS__, 1)
#define sgemv_(...)   sgemv_(__VA_ARGS__, 1)
#define dsyrk_(...)   dsyrk_(__VA_ARGS__, 1, 1)
#define ssyrk_(...)   ssyrk_(__VA_ARGS__, 1, 1)
#define dtrsm_(...)   dtrsm_(__VA_ARGS__, 1, 1, 1, 1)
#define strsm_(...)   strsm_(__VA_ARGS__, 1, 1, 1, 1)
#define dpotrf_(...)  dpotrf_(__VA_ARGS__, 1)
#define spotrf_(...)  spotrf_(__VA_ARGS__, 1)
#define pdpotrf_(...) pdpotrf_(__VA_ARGS__, 1)
#define pspotrf_(...) pspotrf_(__VA_ARGS__, 1)
#define pdtrtri_(...) pdtrtri_(__VA_ARGS__, 1, 1)
#define pstrtri_(...) pstrtri_(__VA_ARGS__, 1, 1)
#define pdlauum_(...) pdlauum_(__VA_ARGS__, 1)
#define pslauum_(...) pslauum_(__VA_ARGS__, 1)
#define pdsyevd_(...) pdsyevd_(__VA_ARGS__, 1, 1)
#define pdstedc_(...) pdstedc_(__VA_ARGS__, 1)
#define dsyevd_(...)  dsyevd_(__VA_ARGS__, 1, 1)
#define dsyevr_(...)  dsyevr_(__VA_ARGS__, 1, 1, 1)
#define dlarft_(...)  dlarft_(__VA_ARGS__, 1, 1)
#define dtrmm_(...)   dtrmm_(__VA_ARGS__, 1, 1, 1, 1)
#define dtrtri_(...)  dtrtri_(__VA_ARGS__, 1, 1)
#define dlauum_(...)  dlauum_(__VA_ARGS__, 1)
#define dpbtrf_(...)  dpbtrf_(__VA_ARGS__, 1)
#define dpbtrs_(...)  dpbtrs_(__VA_ARGS__, 1)
#define dgesdd_(...)  dgesdd_(__VA_ARGS__, 1)

#endif

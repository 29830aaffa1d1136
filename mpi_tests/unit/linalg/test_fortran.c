/* Fortran routines get the lengths of their character arguments. Routines here take the place of the
 * library's, and remember what they were given. */
#include <stddef.h>

#include "linalg/backend/blas.h"
#include "support/check.h"

static size_t lengths[4];

void dpotrf_(const char *uplo, const int *n, double *A, const int *lda, int *info, size_t of_uplo);
void dpotrf_(const char *uplo, const int *n, double *A, const int *lda, int *info, size_t of_uplo)
{
    (void)uplo, (void)n, (void)A, (void)lda;
    *info = 7;
    lengths[0] = of_uplo;
}

void dtrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
            const int *n, const double *alpha, const double *A, const int *lda, double *B,
            const int *ldb, size_t of_side, size_t of_uplo, size_t of_trans, size_t of_diag);
void dtrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
            const int *n, const double *alpha, const double *A, const int *lda, double *B,
            const int *ldb, size_t of_side, size_t of_uplo, size_t of_trans, size_t of_diag)
{
    const size_t given[4] = {of_side, of_uplo, of_trans, of_diag};

    (void)side, (void)uplo, (void)trans, (void)diag, (void)m, (void)n, (void)alpha, (void)A;
    (void)lda, (void)B, (void)ldb;
    for (int k = 0; k < 4; k++)
        lengths[k] = given[k];
}

static void character_arguments_come_with_their_lengths(dkm_ctx *ctx)
{
    double a = 4, b = 2;

    (void)ctx;
    CHECK(dkm_blas_potrf(DKM_F64, 1, &a, 1) == 7);
    CHECK(lengths[0] == 1);
    lengths[0] = 0;
    dkm_blas_trsm_right(DKM_F64, 'T', 1, 1, &a, 1, &b, 1);
    for (int k = 0; k < 4; k++)
        CHECK(lengths[k] == 1);
}

static const check_case cases[] = {
    CASE(character_arguments_come_with_their_lengths),
};

CHECK_MAIN(cases)

/* Terms that pair each input with the output of the same number: diagonal and identity. */
#include "models/jkm/joint_map/joint_map_paired.h"

#include "core/alloc.h"
#include "models/common/reproducible.h"

/* G_i += diagonal x_i o d with d = sum_j x_j o u_j. */
dkm_status dkm_joint_map_add_diagonal(const dkm_joint_map *f, const dkm_data *A, const double *U,
                                      double *G)
{
    dkm_status status = DKM_OK;
    dkm_idx mine = dkm_data_local_rows(f->fitted.X), n = dkm_data_local_rows(A), r = f->r;
    const double *x = dkm_data_values_const(f->fitted.X), *a = dkm_data_values_const(A);
    dkm_twosum *d = NULL;

    DKM_AGREE(f->fitted.ctx, dkm_calloc(f->fitted.ctx, r, &d));
    for (dkm_idx k = 0; k < mine * r; k++)
        dkm_twosum_add(&d[k % r], x[k] * U[k]);
    DKM_TRY(dkm_twosum_allreduce(f->fitted.ctx, r, d));
    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx k = 0; k < r; k++)
            G[i * r + k] += f->diagonal * a[i * r + k] * d[k].hi;
out:
    DKM_FREE(d);
    return status;
}

/* G_i += identity s x_i with s = sum_j <x_j, u_j>. */
dkm_status dkm_joint_map_add_identity(const dkm_joint_map *f, const dkm_data *A, const double *U,
                                      double *G)
{
    dkm_status status = DKM_OK;
    dkm_idx mine = dkm_data_local_rows(f->fitted.X), n = dkm_data_local_rows(A), r = f->r;
    const double *x = dkm_data_values_const(f->fitted.X), *a = dkm_data_values_const(A);
    dkm_twosum s = {0};

    for (dkm_idx k = 0; k < mine * r; k++)
        dkm_twosum_add(&s, x[k] * U[k]);
    DKM_TRY(dkm_twosum_allreduce(f->fitted.ctx, 1, &s));
    for (dkm_idx k = 0; k < n * r; k++)
        G[k] += f->identity * s.hi * a[k];
out:
    return status;
}

/* V o x of some constraints. */
static dkm_local joint_map_paired_scale_rows(const dkm_joint_map *f, dkm_joint_map_rows A,
                                             const double *X, int by_example, double **out)
{
    dkm_local local = dkm_alloc(f->fitted.ctx, A.count * f->r, out);

    for (dkm_idx a = 0; local.code == DKM_OK && a < A.count; a++) {
        const double *x = X + (by_example ? A.example[a] : a) * f->r;
        for (dkm_idx k = 0; k < f->r; k++)
            (*out)[a * f->r + k] = A.V[a * f->r + k] * x[k];
    }
    return local;
}

static double along(dkm_idx r, const double *x, const double *v)
{
    dkm_twosum sum = {0};

    for (dkm_idx k = 0; k < r; k++)
        dkm_twosum_add(&sum, x[k] * v[k]);
    return sum.hi + sum.lo;
}

dkm_local dkm_joint_map_inner_diagonal(const dkm_joint_map *f, dkm_joint_map_rows A,
                                       const double *X, dkm_joint_map_rows B, double *out)
{
    dkm_local local = DKM_LOCAL_OK;
    double *a = NULL, *b = NULL;

    DKM_STEP(joint_map_paired_scale_rows(f, A, X, 0, &a));
    DKM_STEP(joint_map_paired_scale_rows(f, B, dkm_data_values_const(f->fitted.X), 1, &b));
    dkm_repro_gemm_nt(A.count, B.count, f->r, f->diagonal, (dkm_row_block){a, f->r},
                      (dkm_row_block){b, f->r}, 1.0, out);
out:
    DKM_FREE(a);
    DKM_FREE(b);
    return local;
}

/* out(a, b) += identity <x_a, v_a> <x_b, v_b>. */
dkm_local dkm_joint_map_inner_identity(const dkm_joint_map *f, dkm_joint_map_rows A,
                                       const double *X, dkm_joint_map_rows B, double *out)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *own = dkm_data_values_const(f->fitted.X);
    double *b = NULL;

    DKM_STEP(dkm_alloc(f->fitted.ctx, B.count, &b));
    for (dkm_idx k = 0; k < B.count; k++)
        b[k] = along(f->r, own + B.example[k] * f->r, B.V + k * f->r);
    for (dkm_idx k = 0; k < A.count; k++) {
        double a = f->identity * along(f->r, X + k * f->r, A.V + k * f->r);
        for (dkm_idx c = 0; c < B.count; c++)
            out[k * B.count + c] += a * b[c];
    }
out:
    DKM_FREE(b);
    return local;
}

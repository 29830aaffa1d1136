/* Terms that pair each input with the output of the same number: diagonal and identity. */
#include "model/form_pairs.h"

#include "core/alloc.h"
#include "model/panels.h"

/* G_i += diagonal x_i o d with d = sum_j x_j o u_j. */
dkm_status dkm_form_add_diagonal(const dkm_form *f, const dkm_data *A, const double *U, double *G)
{
    dkm_status status = DKM_OK;
    dkm_idx mine = dkm_data_local_rows(f->base.X), n = dkm_data_local_rows(A), r = f->r;
    const double *x = dkm_data_values_const(f->base.X), *a = dkm_data_values_const(A);
    dkm_sum *d = NULL;

    DKM_AGREE(f->base.ctx, dkm_calloc(f->base.ctx, r, &d));
    for (dkm_idx k = 0; k < mine * r; k++)
        dkm_sum_add(&d[k % r], x[k] * U[k]);
    DKM_TRY(dkm_sum_ranks(f->base.ctx, r, d));
    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx k = 0; k < r; k++)
            G[i * r + k] += f->diagonal * a[i * r + k] * d[k].hi;
out:
    DKM_FREE(d);
    return status;
}

/* G_i += identity s x_i with s = sum_j <x_j, u_j>. */
dkm_status dkm_form_add_identity(const dkm_form *f, const dkm_data *A, const double *U, double *G)
{
    dkm_status status = DKM_OK;
    dkm_idx mine = dkm_data_local_rows(f->base.X), n = dkm_data_local_rows(A), r = f->r;
    const double *x = dkm_data_values_const(f->base.X), *a = dkm_data_values_const(A);
    dkm_sum s = {0};

    for (dkm_idx k = 0; k < mine * r; k++)
        dkm_sum_add(&s, x[k] * U[k]);
    DKM_TRY(dkm_sum_ranks(f->base.ctx, 1, &s));
    for (dkm_idx k = 0; k < n * r; k++)
        G[k] += f->identity * s.hi * a[k];
out:
    return status;
}

/* V o x of some constraints. */
static dkm_local scale_rows(const dkm_form *f, dkm_form_rows A, const double *X, int by_example,
                            double **out)
{
    dkm_local local = dkm_alloc(f->base.ctx, A.count * f->r, out);

    for (dkm_idx a = 0; local.code == DKM_OK && a < A.count; a++) {
        const double *x = X + (by_example ? A.example[a] : a) * f->r;
        for (dkm_idx k = 0; k < f->r; k++)
            (*out)[a * f->r + k] = A.V[a * f->r + k] * x[k];
    }
    return local;
}

static double along(dkm_idx r, const double *x, const double *v)
{
    dkm_sum sum = {0};

    for (dkm_idx k = 0; k < r; k++)
        dkm_sum_add(&sum, x[k] * v[k]);
    return sum.hi + sum.lo;
}

dkm_local dkm_form_meet_diagonal(const dkm_form *f, dkm_form_rows A, const double *X,
                                 dkm_form_rows B, double *out)
{
    dkm_local local = DKM_LOCAL_OK;
    double *a = NULL, *b = NULL;

    DKM_STEP(scale_rows(f, A, X, 0, &a));
    DKM_STEP(scale_rows(f, B, dkm_data_values_const(f->base.X), 1, &b));
    dkm_rows_meet(A.count, B.count, f->r, f->diagonal, (dkm_block){a, f->r}, (dkm_block){b, f->r},
                  1.0, out);
out:
    DKM_FREE(a);
    DKM_FREE(b);
    return local;
}

/* out(a, b) += identity <x_a, v_a> <x_b, v_b>. */
dkm_local dkm_form_meet_identity(const dkm_form *f, dkm_form_rows A, const double *X,
                                 dkm_form_rows B, double *out)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *own = dkm_data_values_const(f->base.X);
    double *b = NULL;

    DKM_STEP(dkm_alloc(f->base.ctx, B.count, &b));
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

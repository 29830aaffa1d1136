/* Accuracy of support vector machines, one against the rest, on the folds of a Gram matrix.
 * Cost: a fit of solvers/svm per fold and class, 2 m classes flops per object judged; an
 * allreduce of the coefficients. Replicated: those, m classes numbers, and the classes. */
#include <dkmap/gram_eval.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/folds.h>
#include <dkmap/kernel.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "selection/cv/cv_impl.h"
#include "selection/metrics/distinct_labels.h"

#define MASK_STREAM 0x6d61736bu

typedef struct trial {
    dkm_ctx *ctx;
    const dkm_data *G, *Y;
    const dkm_gram_eval_settings *settings;
    dkm_idx m;
    dkm_grid *grid;
    dkm_kernel *gram;
    dkm_distinct labels;
    double *classes; /* of every object */
    dkm_idx *fold;
    dkm_cv_part train, test;
    double *B, *b; /* of the fold at hand: coefficients of all training objects, and b */
    dkm_idx right[2], asked[2]; /* of one class against the rest, and of all classes */
} trial;

dkm_gram_eval_settings dkm_gram_eval_settings_default(void)
{
    dkm_gram_eval_settings s = {.margin = dkm_svm_dual_settings_default(), .folds = 2};

    s.margin.C = 10;
    return s;
}

static dkm_local gram_eval_check(const trial *t)
{
    if (dkm_data_type(t->Y) != DKM_LABELS)
        return dkm_fail(t->ctx, DKM_ERR_UNSUPPORTED, "classes are labels, not %s",
                        dkm_type_name(dkm_data_type(t->Y)));
    if (dkm_data_cols(t->G) != t->m || dkm_data_rows(t->Y) != t->m)
        return dkm_fail(t->ctx, DKM_ERR_ARG,
                        "a kernel matrix of %lld x %lld and %lld labels: there is a row, a column "
                        "and a label an object",
                        (long long)t->m, (long long)dkm_data_cols(t->G),
                        (long long)dkm_data_rows(t->Y));
    return DKM_LOCAL_OK;
}

static dkm_local gram_eval_check_classes(const trial *t)
{
    dkm_local local = DKM_LOCAL_OK;
    double smallest = 0;
    dkm_idx members = 0;

    if (t->labels.count < 2)
        return dkm_fail(t->ctx, DKM_ERR_ARG, "all objects are of one class: there must be two");
    DKM_STEP(dkm_folds_smallest(t->ctx, t->m, t->classes, &smallest, &members));
    if (members < t->settings->folds)
        local = dkm_fail(t->ctx, DKM_ERR_ARG,
                         "class %g has %lld members and there are %lld folds: each needs one",
                         smallest, (long long)members, (long long)t->settings->folds);
out:
    return local;
}

static dkm_local gram_eval_deal(trial *t)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(t->ctx, t->m, &t->fold));
    DKM_STEP(dkm_alloc(t->ctx, t->m, &t->train.rows));
    DKM_STEP(dkm_alloc(t->ctx, t->m, &t->test.rows));
    DKM_STEP(dkm_alloc(t->ctx, t->labels.count, &t->b));
    DKM_STEP(dkm_alloc(t->ctx, t->m * t->labels.count, &t->B));
    DKM_STEP(dkm_folds_assign(t->ctx, t->settings->stream, t->m, NULL, t->classes,
                              t->settings->folds, t->fold));
out:
    return local;
}

static dkm_status open_trial(trial *t)
{
    dkm_status status = DKM_OK;
    const dkm_layout *layout = &t->settings->layout;

    DKM_AGREE(t->ctx, gram_eval_check(t));
    DKM_TRY(dkm_distinct_labels(t->Y, NULL, &t->labels));
    DKM_TRY(dkm_folds_classes(t->Y, &t->classes));
    DKM_AGREE(t->ctx, gram_eval_check_classes(t));
    DKM_AGREE(t->ctx, gram_eval_deal(t));
    DKM_TRY(dkm_grid_create(t->ctx, layout->P, layout->Q, &t->grid));
    DKM_TRY(dkm_kernel_parse(t->ctx, "gram", &t->gram));
out:
    return status;
}

static void close_trial(trial *t)
{
    dkm_kernel_destroy(&t->gram);
    dkm_grid_destroy(&t->grid);
    DKM_FREE(t->B);
    DKM_FREE(t->b);
    DKM_FREE(t->test.rows);
    DKM_FREE(t->train.rows);
    DKM_FREE(t->fold);
    dkm_folds_free(&t->classes);
    dkm_distinct_clear(&t->labels);
}

static void gram_eval_split(trial *t, dkm_idx fold)
{
    t->train.count = t->test.count = 0;
    for (dkm_idx i = 0; i < t->m; i++) {
        dkm_cv_part *part = t->fold[i] == fold ? &t->test : &t->train;
        part->rows[part->count++] = i;
    }
}

/* Targets 1 and -1 of this rank's training rows, and where the coefficients of them begin. */
static dkm_local set_targets(const trial *t, const dkm_data *X, double **T)
{
    dkm_idx count = t->labels.count, first = dkm_data_local_first(X);
    dkm_local local = dkm_alloc(t->ctx, dkm_data_local_rows(X) * count, T);

    for (dkm_idx k = 0; local.code == DKM_OK && k < dkm_data_local_rows(X) * count; k++) {
        double label = t->classes[t->train.rows[first + k / count]];
        (*T)[k] = label == (double)t->labels.numbers[k % count] ? 1.0 : -1.0;
    }
    return local;
}

/* B of all training objects, on every rank. */
static dkm_status gram_eval_learn(trial *t)
{
    dkm_status status = DKM_OK;
    dkm_idx nb = t->settings->layout.block, count = t->labels.count;
    dkm_svm_dual_problem p = {.grid = t->grid,
                              .kernel = t->gram,
                              .nb = nb ? nb : dkm_grid_block(t->grid, t->train.count),
                              .cols = count};
    dkm_prepared *prepared = NULL;
    dkm_data *X = NULL;
    double *T = NULL;

    DKM_TRY(dkm_cv_extract(t->G, &t->train, &t->train, DKM_GRAM, &X));
    DKM_AGREE(t->ctx, set_targets(t, X, &T));
    DKM_TRY(dkm_kernel_prepare(t->gram, X, &prepared));
    p.X = prepared;
    p.T = T;
    memset(t->B, 0, (size_t)(t->train.count * count) * sizeof *t->B);
    DKM_TRY(
        dkm_svm_dual_solve(&p, &t->settings->margin, t->B + dkm_data_local_first(X) * count, t->b));
    dkm_mpi_allreduce(t->B, t->train.count * count, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(t->ctx));
out:
    dkm_prepared_destroy(&prepared);
    dkm_data_destroy(&X);
    DKM_FREE(T);
    return status;
}

/* f(c) = k(x, training objects) B(:, c) + b_c */
static double gram_eval_value_of(const trial *t, const double *row, dkm_idx c)
{
    double sum = t->b[c];

    for (dkm_idx k = 0; k < t->train.count; k++)
        sum += row[t->train.rows[k]] * t->B[k * t->labels.count + c];
    return sum;
}

/* Count the right answers for this rank's objects of the fold. */
static void judge(trial *t, dkm_idx fold)
{
    dkm_idx first = dkm_data_local_first(t->G);

    for (dkm_idx i = 0; i < dkm_data_local_rows(t->G); i++) {
        dkm_idx best = 0;
        double most = -INFINITY;
        if (t->fold[first + i] != fold)
            continue;
        for (dkm_idx c = 0; c < t->labels.count; c++) {
            double f = gram_eval_value_of(t, dkm_data_values_const(t->G) + i * t->m, c);
            int own = t->classes[first + i] == (double)t->labels.numbers[c];
            t->right[0] += (f > 0) == own;
            best = f > most ? c : best;
            most = f > most ? f : most;
        }
        t->right[1] += t->classes[first + i] == (double)t->labels.numbers[best];
        t->asked[0] += t->labels.count;
        t->asked[1]++;
    }
}

dkm_status dkm_gram_eval(const dkm_data *G, const dkm_data *Y,
                         const dkm_gram_eval_settings *settings, dkm_gram_eval_score *score)
{
    dkm_status status = DKM_OK;
    trial t = {.ctx = dkm_data_ctx(G), .G = G, .Y = Y, .settings = settings, .m = dkm_data_rows(G)};
    MPI_Comm comm = dkm_ctx_comm(t.ctx);

    *score = (dkm_gram_eval_score){0};
    DKM_TRY(open_trial(&t));
    for (dkm_idx fold = 0; fold < settings->folds; fold++) {
        gram_eval_split(&t, fold);
        DKM_TRY(gram_eval_learn(&t));
        judge(&t, fold);
    }
    MPI_Allreduce(MPI_IN_PLACE, t.right, 2, MPI_INT64_T, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, t.asked, 2, MPI_INT64_T, MPI_SUM, comm);
    *score = (dkm_gram_eval_score){t.labels.count, (double)t.right[0] / (double)t.asked[0],
                                   (double)t.right[1] / (double)t.asked[1]};
out:
    close_trial(&t);
    return status;
}

typedef struct ticket {
    uint64_t number;
    dkm_idx object;
} ticket;

static int by_number(const void *a, const void *b)
{
    const ticket *x = a, *y = b;

    return x->number != y->number ? (x->number > y->number ? 1 : -1)
                                  : (x->object > y->object) - (x->object < y->object);
}

static dkm_local gram_eval_draw(dkm_ctx *ctx, dkm_idx m, dkm_idx missing, uint64_t stream,
                                dkm_data *mask)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx first = dkm_data_local_first(mask);
    ticket *all = NULL;

    if (missing < 0 || missing > m)
        return dkm_fail(ctx, DKM_ERR_ARG, "%lld of %lld objects cannot be missing",
                        (long long)missing, (long long)m);
    DKM_STEP(dkm_alloc(ctx, m, &all));
    for (dkm_idx i = 0; i < m; i++)
        all[i] = (ticket){dkm_random_bits(dkm_ctx_seed(ctx), MASK_STREAM, stream, (uint64_t)i), i};
    qsort(all, (size_t)m, sizeof *all, by_number);
    for (dkm_idx k = missing; k < m; k++)
        if (all[k].object >= first && all[k].object < first + dkm_data_local_rows(mask))
            dkm_data_values(mask)[all[k].object - first] = 1;
out:
    DKM_FREE(all);
    return local;
}

dkm_status dkm_gram_eval_mask(dkm_ctx *ctx, dkm_idx m, dkm_idx missing, uint64_t stream,
                              dkm_data **mask)
{
    dkm_status status = DKM_OK;
    dkm_data *made = NULL;

    *mask = NULL;
    DKM_TRY(dkm_data_create_labels(ctx, m, &made));
    DKM_AGREE(ctx, gram_eval_draw(ctx, m, missing, stream, made));
    *mask = made;
    made = NULL;
out:
    dkm_data_destroy(&made);
    return status;
}

/* The joint kernel of strings as a weight per k-mer and output character (Cortes, Mohri and
 * Weston 2005, ICML, pp. 153-160, doi:10.1145/1102351.1102371, regress such counts).
 *
 * Cost of applying a weight vector: one addition per position and character of every training
 * and new string. Replicated: the sorted codes of all k-mers, and k-mers x characters weights,
 * which an allreduce sums. */
#include "models/jkm/joint_map/joint_map_strings.h"

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "kernels/evaluation/object_hash.h"
#include "models/common/reproducible.h"

static uint64_t code_of(const char *at, dkm_idx p)
{
    uint64_t code = 0;

    if (p > 8)
        return dkm_hash_bytes(at, p);
    for (dkm_idx k = 0; k < p; k++)
        code = code << 8 | (unsigned char)at[k];
    return code;
}

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static dkm_idx drop_doubles(dkm_idx n, uint64_t *code)
{
    dkm_idx n_kept = 0;

    qsort(code, (size_t)n, sizeof *code, ascending);
    for (dkm_idx k = 0; k < n; k++)
        if (n_kept == 0 || code[k] != code[n_kept - 1])
            code[n_kept++] = code[k];
    return n_kept;
}

static int32_t joint_map_strings_look_up(const dkm_joint_map_strings *t, uint64_t code)
{
    const uint64_t *at =
        t->count ? bsearch(&code, t->code, (size_t)t->count, sizeof code, ascending) : NULL;

    return at ? (int32_t)(at - t->code) : -1;
}

/* The k-mer whose middle is at each place of an input, -1 where there is none. */
static void find_windows(const dkm_joint_map_strings *t, const char *x, dkm_idx length,
                         dkm_idx positions, int32_t *window)
{
    for (dkm_idx k = 0; k < positions; k++) {
        dkm_idx at = k - (t->p - 1) / 2;
        window[k] = at >= 0 && at + t->p <= length
                        ? joint_map_strings_look_up(t, code_of(x + at, t->p))
                        : -1;
    }
}

/* All k-mers of own inputs, each once. */
static dkm_local own_codes(const dkm_objs *X, dkm_idx p, dkm_idx *count, uint64_t **code)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(X->ctx, X->start[X->n], code));
    *count = 0;
    for (dkm_idx i = 0; i < X->n; i++)
        for (dkm_idx at = X->start[i]; at + p <= X->start[i + 1]; at++)
            (*code)[(*count)++] = code_of(X->bytes + at, p);
    *count = drop_doubles(*count, *code);
out:
    return local;
}

static dkm_local joint_map_strings_allocate_all(dkm_ctx *ctx, const int *counts, int *starts,
                                                dkm_idx *total, uint64_t **code)
{
    for (int k = 0; k < dkm_ctx_size(ctx); k++) {
        starts[k] = (int)*total;
        *total += counts[k];
    }
    if (*total > INT32_MAX)
        return dkm_fail(ctx, DKM_ERR_SIZE, "%lld different substrings of letters are too many",
                        (long long)*total);
    return dkm_alloc(ctx, *total, code);
}

/* Those of all ranks, on every rank. */
static dkm_status learn_codes(const dkm_joint_map *f, dkm_joint_map_strings *t)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = f->fitted.ctx;
    MPI_Comm comm = dkm_ctx_comm(ctx);
    uint64_t *own = NULL;
    dkm_idx count = 0, total = 0;
    int *counts = NULL, *starts = NULL, mine;

    DKM_AGREE(ctx, own_codes(&f->fitted.X->mine, t->p, &count, &own));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_ctx_size(ctx), &counts));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_ctx_size(ctx), &starts));
    mine = (int)count;
    MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, comm);
    DKM_AGREE(ctx, joint_map_strings_allocate_all(ctx, counts, starts, &total, &t->code));
    MPI_Allgatherv(own, mine, MPI_UINT64_T, t->code, counts, starts, MPI_UINT64_T, comm);
    t->count = drop_doubles(total, t->code);
out:
    DKM_FREE(starts);
    DKM_FREE(counts);
    DKM_FREE(own);
    return status;
}

static dkm_local table(const dkm_joint_map *f, const dkm_joint_map_strings *t, const dkm_objs *X,
                       int32_t **window)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(f->fitted.ctx, X->n * f->positions, window));
    for (dkm_idx i = 0; i < X->n; i++)
        find_windows(t, X->bytes + X->start[i], X->start[i + 1] - X->start[i], f->positions,
                     *window + i * f->positions);
out:
    return local;
}

static dkm_local joint_map_strings_check_type(const dkm_joint_map *f, const dkm_data *X)
{
    if (dkm_data_type(X) == DKM_STRINGS)
        return DKM_LOCAL_OK;
    return dkm_fail(f->fitted.ctx, DKM_ERR_ARG,
                    "the joint kernel strings is for inputs that are strings, these are %s",
                    dkm_type_name(dkm_data_type(X)));
}

dkm_status dkm_joint_map_strings_open(dkm_joint_map *map, const dkm_joint *joint)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = map->fitted.ctx;

    DKM_AGREE(ctx, dkm_calloc(ctx, joint->terms, &map->strings));
    for (dkm_idx k = 0; k < joint->terms; k++) {
        dkm_joint_map_strings *t = &map->strings[map->string_terms];
        if (joint->term[k].kind != DKM_JOINT_STRINGS)
            continue;
        DKM_AGREE(ctx, joint_map_strings_check_type(map, map->fitted.X));
        map->string_terms++;
        *t = (dkm_joint_map_strings){.weight = joint->term[k].weight, .p = joint->term[k].size};
        DKM_TRY(learn_codes(map, t));
        DKM_AGREE(ctx, table(map, t, &map->fitted.X->mine, &t->window));
    }
out:
    return status;
}

void dkm_joint_map_strings_close(dkm_joint_map *map)
{
    for (dkm_idx k = 0; k < map->string_terms; k++) {
        DKM_FREE(map->strings[k].code);
        DKM_FREE(map->strings[k].window);
    }
    DKM_FREE(map->strings);
}

/* W(k-mer, character) = sum of u over the positions of all training inputs that have the k-mer. */
static dkm_status joint_map_strings_add_up(const dkm_joint_map *f, const dkm_joint_map_strings *t,
                                           const double *U, dkm_twosum *W)
{
    dkm_idx n_chars = f->r / f->positions, n = dkm_data_local_rows(f->fitted.X);

    for (dkm_idx k = 0; k < n * f->positions; k++)
        for (dkm_idx c = 0; t->window[k] >= 0 && c < n_chars; c++)
            if (U[k * n_chars + c] != 0)
                dkm_twosum_add(&W[t->window[k] * n_chars + c], U[k * n_chars + c]);
    return dkm_twosum_allreduce(f->fitted.ctx, t->count * n_chars, W);
}

dkm_status dkm_joint_map_strings_apply(const dkm_joint_map *map, const dkm_joint_map_strings *term,
                                       const dkm_data *A, const double *U, double *G)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = map->fitted.ctx;
    dkm_idx n_chars = map->r / map->positions, n = dkm_data_local_rows(A);
    int32_t *window = NULL;
    dkm_twosum *W = NULL;

    DKM_AGREE(ctx, joint_map_strings_check_type(map, A));
    DKM_AGREE(ctx, table(map, term, &A->mine, &window));
    DKM_AGREE(ctx, dkm_calloc(ctx, term->count * n_chars, &W));
    DKM_TRY(joint_map_strings_add_up(map, term, U, W));
    for (dkm_idx k = 0; k < n * map->positions; k++)
        for (dkm_idx c = 0; window[k] >= 0 && c < n_chars; c++)
            G[k * n_chars + c] += term->weight * W[window[k] * n_chars + c].hi;
out:
    DKM_FREE(W);
    DKM_FREE(window);
    return status;
}

/* sums(k-mer, character) += by v, over the positions of one input. */
static void count_in(const dkm_joint_map *f, const int32_t *window, const double *v, double by,
                     double *sums)
{
    dkm_idx n_chars = f->r / f->positions;

    for (dkm_idx k = 0; k < f->positions; k++)
        for (dkm_idx c = 0; window[k] >= 0 && c < n_chars; c++)
            sums[window[k] * n_chars + c] =
                by == 0 ? 0 : sums[window[k] * n_chars + c] + by * v[k * n_chars + c];
}

static double meet_one(const dkm_joint_map *f, const int32_t *window, const double *v,
                       const double *sums)
{
    dkm_idx n_chars = f->r / f->positions;
    double sum = 0;

    for (dkm_idx k = 0; k < f->positions; k++)
        for (dkm_idx c = 0; window[k] >= 0 && c < n_chars; c++)
            if (v[k * n_chars + c] != 0)
                sum += v[k * n_chars + c] * sums[window[k] * n_chars + c];
    return sum;
}

dkm_local dkm_joint_map_strings_inner(const dkm_joint_map *map, const dkm_joint_map_strings *term,
                                      dkm_joint_map_rows A, const dkm_objs *X, dkm_joint_map_rows B,
                                      double *out)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = map->fitted.ctx;
    int32_t *window = NULL;
    double *sums = NULL;

    DKM_STEP(table(map, term, X, &window));
    DKM_STEP(dkm_calloc(ctx, term->count * (map->r / map->positions), &sums));
    for (dkm_idx a = 0; a < A.count; a++) {
        count_in(map, window + a * map->positions, A.V + a * map->r, term->weight, sums);
        for (dkm_idx b = 0; b < B.count; b++)
            out[a * B.count + b] +=
                meet_one(map, term->window + B.example[b] * map->positions, B.V + b * map->r, sums);
        count_in(map, window + a * map->positions, A.V, 0, sums);
    }
out:
    DKM_FREE(sums);
    DKM_FREE(window);
    return local;
}

/* align: the score of the best local alignment of two strings (Smith and Waterman 1981, J. Mol.
 * Biol. 147(1):195-197, doi:10.1016/0022-2836(81)90087-5) with the substitution scores of BLOSUM62
 * and affine gaps (Gotoh 1982, J. Mol. Biol. 162(3):705-708, doi:10.1016/0022-2836(82)90398-9): a
 * gap of l characters costs open + (l - 1) extend. Parasail (Daily 2016, BMC Bioinformatics 17:81,
 * doi:10.1186/s12859-016-0930-z) finds it with vector instructions, in 8, 16 or 32 bits as the
 * score needs; where it was built without those of the processor, as Debian's for aarch64, by its plain
 * recursion. The Gram matrix need not be positive semidefinite: `gram --clip` makes it so.
 *
 * Cost: |s| |t| cells per pair; nothing is sent except the strings. */
#include "core/alloc.h"
#include "kernels/evaluation/panel.h"

enum { OPEN, EXTEND };

#ifdef DKM_HAVE_PARASAIL
#include <limits.h>

#include <parasail.h>

/* One string, ready to be held against others. */
typedef struct query {
    const dkm_objs *X;
    const char *letters;
    dkm_idx length;
    int open, extend;
    const parasail_matrix_t *scores;
    parasail_pfunction_t *find;
    parasail_profile_t *profile; /* NULL for an empty string, and without vector instructions */
} query;

static dkm_local open_query(query *q, const dkm_node *node, const dkm_objs *X, dkm_idx i)
{
    *q = (query){.X = X,
                 .letters = X->bytes + X->start[i],
                 .scores = parasail_matrix_lookup("blosum62"),
                 .length = X->start[i + 1] - X->start[i],
                 .open = (int)dkm_node_param(node, OPEN),
                 .extend = (int)dkm_node_param(node, EXTEND)};
    /* the striped search, the faster one, misses alignments where both costs are the same */
    q->find = q->open > q->extend ? parasail_sw_striped_profile_sat : parasail_sw_scan_profile_sat;
    if (q->length == 0)
        return DKM_LOCAL_OK;
    if (q->length > INT_MAX / 16) /* the score, at most 11 a character, is an int */
        return dkm_fail(X->ctx, DKM_ERR_SIZE, "a string of %lld letters is too long to align",
                        (long long)q->length);
    q->profile = parasail_profile_create_sat(q->letters, (int)q->length, q->scores);
    return DKM_LOCAL_OK;
}

static void close_query(query *q)
{
    if (q->profile)
        parasail_profile_free(q->profile);
    q->profile = NULL;
}

static dkm_local smith_waterman_score(const query *q, const dkm_objs *Y, dkm_idx j, double *value)
{
    dkm_idx length = Y->start[j + 1] - Y->start[j];
    parasail_result_t *result;

    *value = 0;
    if (q->length == 0 || length == 0)
        return DKM_LOCAL_OK;
    if (length > INT_MAX / 16)
        return dkm_fail(q->X->ctx, DKM_ERR_SIZE, "a string of %lld letters is too long to align",
                        (long long)length);
    result = q->profile
                 ? q->find(q->profile, Y->bytes + Y->start[j], (int)length, q->open, q->extend)
                 : parasail_sw(q->letters, (int)q->length, Y->bytes + Y->start[j], (int)length,
                               q->open, q->extend, q->scores);
    if (!result)
        return dkm_fail(q->X->ctx, DKM_ERR_MEMORY, "no memory to align %lld letters with %lld",
                        (long long)q->length, (long long)length);
    *value = parasail_result_get_score(result);
    parasail_result_free(result);
    return DKM_LOCAL_OK;
}

static dkm_local smith_waterman_fill_diagonal(const dkm_node *node, dkm_objs *X)
{
    dkm_local local = DKM_LOCAL_OK;
    query q = {0};

    for (dkm_idx i = 0; i < X->n; i++) {
        DKM_STEP(open_query(&q, node, X, i));
        DKM_STEP(smith_waterman_score(&q, X, i, &X->extra[i]));
        close_query(&q);
    }
out:
    close_query(&q);
    return local;
}

static dkm_local align_tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_objs *A = dkm_panel_objs(task->A, node), *B = dkm_panel_objs(task->B, node);
    double value = 0;
    query q = {0};

    for (dkm_idx j = 0; j < C->nb; j++) {
        DKM_STEP(open_query(&q, node, B, task->b + j));
        for (dkm_idx i = 0; i < C->na; i++) {
            if (task->first && i < task->first[j])
                value = 0;
            else
                DKM_STEP(smith_waterman_score(&q, A, task->a + i, &value));
            dkm_tile_put(C, i, j, value);
        }
        close_query(&q);
    }
out:
    close_query(&q);
    return local;
}

static const char *smith_waterman_align_refuse(const dkm_node *node)
{
    return dkm_node_param(node, OPEN) < dkm_node_param(node, EXTEND)
               ? "open must be at least extend"
               : NULL;
}

static dkm_local align_precompute(const dkm_node *node, const dkm_objs *X, dkm_objs *out)
{
    dkm_local local = DKM_LOCAL_OK;

    *out = *X;
    out->extra = NULL;
    DKM_STEP(dkm_objs_add_extra(out, 1));
    DKM_STEP(smith_waterman_fill_diagonal(node, out));
out:
    return local;
}

#define WITH_PARASAIL(f) f

#else

static const char *smith_waterman_align_refuse(const dkm_node *node)
{
    (void)node;
    return "smith-waterman needs parasail (Debian: libparasail-dev), and dkmap was built without "
           "it";
}

#define WITH_PARASAIL(f) NULL

#endif

#define SMITH_WATERMAN(text)                                                                       \
    {                                                                                              \
        .name = text, .types = DKM_TYPE_BIT(DKM_STRINGS),                                          \
        .params = DKM_PARAMS({.name = "open", .range = DKM_COUNT_OR_ZERO, .default_value = 10},    \
                             {.name = "extend", .range = DKM_COUNT_OR_ZERO, .default_value = 1}),  \
        .precompute_params = 2, .refuse = smith_waterman_align_refuse,                             \
        .precompute = WITH_PARASAIL(align_precompute),                                             \
        .diag = WITH_PARASAIL(dkm_panel_diag_from_extra), .tile = WITH_PARASAIL(align_tile)        \
    }

const dkm_kernel_class dkm_kernel_class_smith_waterman = SMITH_WATERMAN("smith-waterman");
/* The name that it had at first, which model files may have. */
const dkm_kernel_class dkm_kernel_class_align = SMITH_WATERMAN("align");

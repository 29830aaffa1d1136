/* Groups of examples dealt to folds, none divided. The largest group first, each to the fold where the
 * shares of the classes stay most even: least sum over classes of ((n + g)^2 - n^2) / N^2. Without
 * classes that is the fold with the fewest examples. The rule is that of scikit-learn's GroupKFold,
 * and in spirit of its StratifiedGroupKFold; ties between groups are broken by random numbers.
 *
 * Cost: sorting, and folds x (distinct classes of the group) per group. Replicated: five numbers
 * per example, and folds x classes counts. */
#include <dkmap/folds.h>

#include <stdlib.h>
#include <string.h>

#include <dkmap/random.h>

#include "core/alloc.h"

typedef struct member {
    double key, label;
    dkm_idx index; /* among those dealt */
} member;

typedef struct group {
    dkm_idx first, size; /* its members follow each other */
    uint64_t shuffle;
} group;

typedef struct table {
    dkm_idx folds, classes;
    double *label;  /* of each class, ascending */
    dkm_idx *total; /* members of each class */
    dkm_idx *count; /* folds x classes: those that were dealt */
    dkm_idx *size;  /* of each fold */
} table;

static int by_key_then_class(const void *a, const void *b)
{
    const member *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int by_size_then_chance(const void *a, const void *b)
{
    const group *x = a, *y = b;

    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    if (x->shuffle != y->shuffle)
        return x->shuffle < y->shuffle ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static dkm_idx class_of(const table *t, double label)
{
    const double *at = bsearch(&label, t->label, (size_t)t->classes, sizeof *t->label, ascending);

    return at - t->label;
}

static dkm_local table_open(table *t, dkm_ctx *ctx, dkm_idx count, const member *members)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(ctx, count, &t->label));
    for (dkm_idx k = 0; k < count; k++)
        t->label[k] = members[k].label;
    qsort(t->label, (size_t)count, sizeof *t->label, ascending);
    for (dkm_idx k = 0; k < count; k++)
        if (t->classes == 0 || t->label[k] != t->label[t->classes - 1])
            t->label[t->classes++] = t->label[k];
    DKM_STEP(dkm_calloc(ctx, t->classes, &t->total));
    DKM_STEP(dkm_calloc(ctx, t->folds * t->classes, &t->count));
    DKM_STEP(dkm_calloc(ctx, t->folds, &t->size));
    for (dkm_idx k = 0; k < count; k++)
        t->total[class_of(t, members[k].label)]++;
out:
    return local;
}

static void table_close(table *t)
{
    DKM_FREE(t->size);
    DKM_FREE(t->count);
    DKM_FREE(t->total);
    DKM_FREE(t->label);
}

/* What a group adds to the unevenness of fold f; its members are in order of their classes. */
static double added(const table *t, dkm_idx f, const member *members, dkm_idx size)
{
    double sum = 0;

    for (dkm_idx k = 0, next; k < size; k = next) {
        dkm_idx c = class_of(t, members[k].label);
        double n = (double)t->count[f * t->classes + c], N = (double)t->total[c], g;
        for (next = k; next < size && members[next].label == members[k].label;)
            next++;
        g = (double)(next - k);
        sum += (2 * n + g) * g / (N * N);
    }
    return sum;
}

static void put_group(table *t, const member *members, dkm_idx size, dkm_idx *fold)
{
    dkm_idx best = 0;
    double least = added(t, 0, members, size);

    for (dkm_idx f = 1; f < t->folds; f++) {
        double sum = added(t, f, members, size);
        if (sum < least || (sum == least && t->size[f] < t->size[best])) {
            least = sum;
            best = f;
        }
    }
    for (dkm_idx k = 0; k < size; k++) {
        t->count[best * t->classes + class_of(t, members[k].label)]++;
        fold[members[k].index] = best;
    }
    t->size[best] += size;
}

/* Groups of sorted members; returns how many there are. */
static dkm_idx list_groups(dkm_ctx *ctx, uint64_t stream, dkm_idx count, const member *members,
                           group *groups)
{
    dkm_idx found = 0;

    for (dkm_idx k = 0, next; k < count; k = next) {
        dkm_idx least = members[k].index;
        for (next = k; next < count && members[next].key == members[k].key; next++)
            least = members[next].index < least ? members[next].index : least;
        groups[found++] =
            (group){k, next - k, dkm_random_bits(dkm_ctx_seed(ctx), stream, (uint64_t)least, 1)};
    }
    qsort(groups, (size_t)found, sizeof *groups, by_size_then_chance);
    return found;
}

dkm_local dkm_folds_assign_groups(dkm_ctx *ctx, uint64_t stream, dkm_idx count, const dkm_idx *rows,
                                  const double *classes, const double *keys, dkm_idx folds,
                                  dkm_idx *fold)
{
    dkm_local local = DKM_LOCAL_OK;
    table t = {.folds = folds};
    member *members = NULL;
    group *groups = NULL;
    dkm_idx found;

    DKM_STEP(dkm_alloc(ctx, count, &members));
    DKM_STEP(dkm_alloc(ctx, count, &groups));
    for (dkm_idx k = 0; k < count; k++) {
        dkm_idx row = rows ? rows[k] : k;
        members[k] = (member){keys[row], classes ? classes[row] : 0.0, k};
    }
    qsort(members, (size_t)count, sizeof *members, by_key_then_class);
    found = list_groups(ctx, stream, count, members, groups);
    if (found < folds)
        DKM_STEP(dkm_fail(ctx, DKM_ERR_ARG,
                          "%lld groups cannot fill %lld folds: give fewer folds or more groups",
                          (long long)found, (long long)folds));
    DKM_STEP(table_open(&t, ctx, count, members));
    for (dkm_idx g = 0; g < found; g++)
        put_group(&t, members + groups[g].first, groups[g].size, fold);
out:
    table_close(&t);
    DKM_FREE(groups);
    DKM_FREE(members);
    return local;
}

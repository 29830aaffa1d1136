#include "data/categories.h"

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/checked.h"

typedef struct name {
    const char *at;
    dkm_idx length;
} name;

static int compare_names(const void *a, const void *b)
{
    const name *x = a, *y = b;
    size_t common = (size_t)(x->length < y->length ? x->length : y->length);
    int order = memcmp(x->at, y->at, common);

    return order ? order : (x->length > y->length) - (x->length < y->length);
}

static dkm_idx sort_unique(name *names, dkm_idx n)
{
    dkm_idx count = 0;

    qsort(names, (size_t)n, sizeof *names, compare_names);
    for (dkm_idx i = 0; i < n; i++)
        if (count == 0 || compare_names(&names[count - 1], &names[i]) != 0)
            names[count++] = names[i];
    return count;
}

static void list_names(const dkm_objs *objs, name *names)
{
    for (dkm_idx i = 0; objs && i < objs->n; i++)
        names[i] = (name){objs->bytes + objs->start[i], objs->start[i + 1] - objs->start[i]};
}

/* The names one after the other, each with its length before it. */
static dkm_local pack_names(dkm_ctx *ctx, const name *names, dkm_idx count, char **packed,
                            dkm_idx *size)
{
    dkm_local local = DKM_LOCAL_OK;
    char *at;

    *size = 0;
    for (dkm_idx k = 0; k < count; k++)
        *size += (dkm_idx)sizeof(dkm_idx) + names[k].length;
    DKM_STEP(dkm_alloc(ctx, *size, packed));
    at = *packed;
    for (dkm_idx k = 0; k < count; k++) {
        memcpy(at, &names[k].length, sizeof(dkm_idx));
        memcpy(at + sizeof(dkm_idx), names[k].at, (size_t)names[k].length);
        at += (dkm_idx)sizeof(dkm_idx) + names[k].length;
    }
out:
    return local;
}

/* @return how many there are; @p names may be NULL */
static dkm_idx unpack_names(const char *packed, dkm_idx size, name *names)
{
    dkm_idx count = 0, length;

    for (dkm_idx at = 0; at < size; at += (dkm_idx)sizeof length + length) {
        memcpy(&length, packed + at, sizeof length);
        if (names)
            names[count] = (name){packed + at + sizeof length, length};
        count++;
    }
    return count;
}

static dkm_local set_names(dkm_categories *c, const name *names, dkm_idx count)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx bytes = 0;

    for (dkm_idx k = 0; k < count; k++)
        bytes += names[k].length;
    DKM_STEP(dkm_calloc(c->ctx, count + 1, &c->start));
    DKM_STEP(dkm_alloc(c->ctx, bytes, &c->bytes));
    for (dkm_idx k = 0; k < count; k++) {
        memcpy(c->bytes + c->start[k], names[k].at, (size_t)names[k].length);
        c->start[k + 1] = c->start[k] + names[k].length;
    }
    c->count = count;
out:
    return local;
}

static dkm_local pack_own(dkm_ctx *ctx, const dkm_objs *own, const dkm_objs *more, char **packed,
                          int *size)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = own->n + (more ? more->n : 0), bytes = 0;
    name *names = NULL;

    DKM_STEP(dkm_alloc(ctx, n, &names));
    list_names(own, names);
    list_names(more, names + own->n);
    DKM_STEP(pack_names(ctx, names, sort_unique(names, n), packed, &bytes));
    DKM_STEP(dkm_checked_int(ctx, bytes, "bytes of distinct strings", size));
out:
    DKM_FREE(names);
    return local;
}

static dkm_local merge(dkm_categories *c, const char *packed, dkm_idx size)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = unpack_names(packed, size, NULL);
    name *names = NULL;

    DKM_STEP(dkm_alloc(c->ctx, n, &names));
    unpack_names(packed, size, names);
    DKM_STEP(set_names(c, names, sort_unique(names, n)));
out:
    DKM_FREE(names);
    return local;
}

/* Where the bytes of each rank go, and memory for all of them. */
static dkm_local plan_gather(dkm_ctx *ctx, const int *counts, int *starts, char **all,
                             dkm_idx *total)
{
    dkm_local local = DKM_LOCAL_OK;
    int unused = 0;

    *total = 0;
    for (int r = 0; r < dkm_ctx_size(ctx); r++) {
        starts[r] = (int)*total;
        *total += counts[r];
        DKM_STEP(dkm_checked_int(ctx, *total, "bytes of distinct strings", &unused));
    }
    DKM_STEP(dkm_alloc(ctx, *total, all));
out:
    return local;
}

dkm_status dkm_categories_learn_objs(dkm_ctx *ctx, const dkm_objs *own, const dkm_objs *more,
                                     dkm_categories **categories)
{
    dkm_categories *c = NULL;
    dkm_status status = DKM_OK;
    int size = dkm_ctx_size(ctx), bytes = 0, *counts = NULL;
    char *packed = NULL, *all = NULL;
    dkm_idx total = 0;

    *categories = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &c));
    c->ctx = ctx;
    DKM_AGREE(ctx, dkm_alloc(ctx, 2 * (dkm_idx)size, &counts));
    DKM_AGREE(ctx, pack_own(ctx, own, more, &packed, &bytes));
    MPI_Allgather(&bytes, 1, MPI_INT, counts, 1, MPI_INT, dkm_ctx_comm(ctx));
    DKM_AGREE(ctx, plan_gather(ctx, counts, counts + size, &all, &total));
    MPI_Allgatherv(packed, bytes, MPI_BYTE, all, counts, counts + size, MPI_BYTE,
                   dkm_ctx_comm(ctx));
    DKM_AGREE(ctx, merge(c, all, total));
    *categories = c;
    c = NULL;
out:
    dkm_categories_destroy(&c);
    DKM_FREE(all);
    DKM_FREE(packed);
    DKM_FREE(counts);
    return status;
}

dkm_status dkm_categories_learn(const dkm_data *strings, const dkm_data *more,
                                dkm_categories **categories)
{
    return dkm_categories_learn_objs(strings->ctx, &strings->mine, more ? &more->mine : NULL,
                                     categories);
}

dkm_local dkm_categories_parse(dkm_ctx *ctx, const char *text, dkm_categories **categories)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx count = 0;
    dkm_categories *c = NULL;
    name *names = NULL;

    *categories = NULL;
    DKM_STEP(dkm_calloc(ctx, 1, &c));
    c->ctx = ctx;
    for (const char *at = text; *at; at++)
        count += *at == '\n';
    DKM_STEP(dkm_alloc(ctx, count, &names));
    for (dkm_idx k = 0; k < count; k++) {
        dkm_idx length = (dkm_idx)(strchr(text, '\n') - text);
        names[k] = (name){text, length};
        text += length + 1;
        if (k > 0 && compare_names(&names[k - 1], &names[k]) >= 0)
            DKM_STEP(dkm_fail(ctx, DKM_ERR_FORMAT, "names of categories are not ascending"));
    }
    DKM_STEP(set_names(c, names, count));
    *categories = c;
    c = NULL;
out:
    dkm_categories_destroy(&c);
    DKM_FREE(names);
    return local;
}

dkm_idx dkm_categories_count(const dkm_categories *c)
{
    return c->count;
}

dkm_local dkm_categories_print(const dkm_categories *c, char **text)
{
    dkm_local local = DKM_LOCAL_OK;
    char *at;

    DKM_STEP(dkm_alloc(c->ctx, c->start[c->count] + c->count + 1, text));
    at = *text;
    for (dkm_idx k = 0; k < c->count; k++) {
        size_t length = (size_t)(c->start[k + 1] - c->start[k]);
        memcpy(at, c->bytes + c->start[k], length);
        at += length;
        *at++ = '\n';
    }
    *at = '\0';
out:
    return local;
}

dkm_idx dkm_categories_find(const dkm_categories *c, const char *text, dkm_idx length)
{
    const name wanted = {text, length};
    dkm_idx low = 0, high = c->count;

    while (low < high) {
        dkm_idx middle = (low + high) / 2;
        name there = {c->bytes + c->start[middle], c->start[middle + 1] - c->start[middle]};
        int order = compare_names(&there, &wanted);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

const char *dkm_categories_name(const dkm_categories *c, dkm_idx number, dkm_idx *length)
{
    *length = c->start[number + 1] - c->start[number];
    return c->bytes + c->start[number];
}

static dkm_local find_all(const dkm_categories *c, const dkm_data *strings, double *labels)
{
    for (dkm_idx i = 0; i < strings->mine.n; i++) {
        dkm_idx length, number;
        const char *text = dkm_data_string_const(strings, i, &length);
        number = dkm_categories_find(c, text, length);
        if (number < 0)
            return dkm_fail(strings->ctx, DKM_ERR_ARG, "row %lld: there is no class '%.*s'",
                            (long long)(strings->first + i), length < 40 ? (int)length : 40, text);
        labels[i] = (double)number;
    }
    return DKM_LOCAL_OK;
}

dkm_status dkm_categories_encode(const dkm_categories *c, const dkm_data *strings,
                                 dkm_data **labels)
{
    dkm_status status = DKM_OK;
    dkm_data *made = NULL;

    *labels = NULL;
    DKM_TRY(dkm_data_create_labels(strings->ctx, strings->m, &made));
    DKM_AGREE(strings->ctx, find_all(c, strings, made->mine.values));
    *labels = made;
    made = NULL;
out:
    dkm_data_destroy(&made);
    return status;
}

dkm_status dkm_categories_decode(const dkm_categories *c, const dkm_data *labels,
                                 dkm_data **strings)
{
    dkm_status status = DKM_OK;
    dkm_idx *lengths = NULL, n = labels->mine.n;

    *strings = NULL;
    DKM_AGREE(labels->ctx, dkm_alloc(labels->ctx, n, &lengths));
    for (dkm_idx i = 0; i < n; i++)
        (void)dkm_categories_name(c, (dkm_idx)labels->mine.values[i], &lengths[i]);
    DKM_TRY(dkm_data_create_strings(labels->ctx, labels->m, lengths, strings));
    for (dkm_idx i = 0; i < n; i++) {
        dkm_idx length;
        const char *from = dkm_categories_name(c, (dkm_idx)labels->mine.values[i], &length);
        memcpy(dkm_data_string(*strings, i, &length), from, (size_t)length);
    }
out:
    DKM_FREE(lengths);
    return status;
}

void dkm_categories_destroy(dkm_categories **c)
{
    if (!*c)
        return;
    DKM_FREE((*c)->bytes);
    DKM_FREE((*c)->start);
    DKM_FREE(*c);
}

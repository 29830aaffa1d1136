#include "data/objects.h"

#include <string.h>

#include "core/alloc.h"

const char *dkm_type_name(dkm_type type)
{
#define TYPE_NAME(code, name) [code] = name,
    static const char *const names[] = {DKM_TYPE_LIST(TYPE_NAME)};
#undef TYPE_NAME
    size_t at = (size_t)type;

    return at < sizeof names / sizeof *names ? names[at] : "unknown";
}

dkm_type dkm_type_from_name(const char *name)
{
    int type = 0;

    while (type < DKM_TYPE_COUNT && strcmp(name, dkm_type_name((dkm_type)type)) != 0)
        type++;
    return (dkm_type)type;
}

dkm_storage_form dkm_type_storage_form(dkm_type type)
{
    switch (type) {
    case DKM_SPARSE:
    case DKM_LABEL_SETS:
    case DKM_GRAPH:
        return DKM_STORED_LISTS;
    case DKM_STRINGS:
    case DKM_SETS:
    case DKM_GRAPHS:
        return DKM_STORED_BYTES;
    case DKM_DENSE:
    case DKM_LABELS:
    case DKM_GRAM:
    case DKM_DISTANCE:
    case DKM_TYPE_COUNT:
        break;
    }
    return DKM_STORED_VALUES;
}

static dkm_local init_values(dkm_objs *objs)
{
    dkm_idx n = objs->n, d = objs->d;

    /* an impossible product is left to the allocator to refuse, with its message */
    return dkm_alloc(objs->ctx, d > 0 && n > INT64_MAX / d ? INT64_MAX : n * d, &objs->values);
}

static dkm_local init_lists(dkm_objs *objs, dkm_idx items)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_calloc(objs->ctx, objs->n + 1, &objs->start));
    DKM_STEP(dkm_alloc(objs->ctx, items, &objs->col));
    if (objs->type != DKM_LABEL_SETS)
        DKM_STEP(dkm_alloc(objs->ctx, items, &objs->val));
out:
    return local;
}

static dkm_local init_bytes(dkm_objs *objs, dkm_idx items)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_calloc(objs->ctx, objs->n + 1, &objs->start));
    DKM_STEP(dkm_alloc(objs->ctx, items, &objs->bytes));
out:
    return local;
}

dkm_local dkm_objs_init(dkm_objs *objs, dkm_ctx *ctx, dkm_type type, dkm_idx n, dkm_idx d,
                        dkm_idx items)
{
    *objs = (dkm_objs){.ctx = ctx, .type = type, .n = n, .d = d};
    switch (dkm_type_storage_form(type)) {
    case DKM_STORED_LISTS:
        return init_lists(objs, items);
    case DKM_STORED_BYTES:
        return init_bytes(objs, items);
    case DKM_STORED_VALUES:
        break;
    }
    return init_values(objs);
}

dkm_local dkm_objs_add_extra(dkm_objs *objs, dkm_idx extras)
{
    DKM_FREE(objs->extra);
    objs->extras = extras;
    return dkm_calloc(objs->ctx, objs->n * extras, &objs->extra);
}

void dkm_objs_clear(dkm_objs *objs)
{
    DKM_FREE(objs->values);
    DKM_FREE(objs->start);
    DKM_FREE(objs->col);
    DKM_FREE(objs->val);
    DKM_FREE(objs->bytes);
    DKM_FREE(objs->extra);
    *objs = (dkm_objs){0};
}

#include "io/locator.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "io/path.h"

static const char *locator_skip_blanks(const char *at)
{
    return at + strspn(at, " ");
}

/* An integer at *at, if there is one. @return 0 when it does not fit */
static int locator_take_number(const char **at, int *has, dkm_idx *value)
{
    char *end;
    long long number;

    errno = 0;
    number = strtoll(*at, &end, 10);
    *has = end != *at;
    if (*has)
        *value = (dkm_idx)number;
    *at = locator_skip_blanks(end);
    return errno == 0;
}

/* first, first:last or first:last:step. @return 0 when it is none of them */
static int take_range(const char **at, dkm_slice *range)
{
    int has_step = 0;

    *range = (dkm_slice){.step = 1};
    *at = locator_skip_blanks(*at);
    if (!locator_take_number(at, &range->has_first, &range->first))
        return 0;
    if (**at != ':') {
        range->is_single = 1;
        return range->has_first;
    }
    *at = locator_skip_blanks(*at + 1);
    if (!locator_take_number(at, &range->has_last, &range->last))
        return 0;
    if (**at == ':') {
        *at = locator_skip_blanks(*at + 1);
        if (!locator_take_number(at, &has_step, &range->step))
            return 0;
    }
    return range->step >= 1;
}

/* Whether a list of columns has an item that is all of them: a lone colon. */
static int lists_all(const char *list)
{
    for (const char *at = list;; at++) {
        at = locator_skip_blanks(at);
        if (*at == ':' && strchr(",]", *locator_skip_blanks(at + 1)))
            return 1;
        at += strcspn(at, ",");
        if (*at == '\0')
            return 0;
    }
}

/* @param[out] list  where the columns are more than one range begins their list; else NULL */
static int take_slice(const char *at, dkm_locator *where, const char **list)
{
    *list = NULL;
    if (!take_range(&at, &where->rows))
        return 0;
    if (*at == ',') {
        at++;
        where->cuts_cols = 1;
        *list = at;
        if (!take_range(&at, &where->cols) || where->cols.step != 1 || strcmp(at, "]") != 0)
            return (*list)[0] != ']' && !lists_all(*list);
        *list = NULL;
    }
    return strcmp(at, "]") == 0;
}

/* Whether a name ends in what can only be a slice without its bracket: a[0:9, 2 */
static int locator_is_cut_off(const char *bracket)
{
    return bracket[1] != '\0' && bracket[1 + strspn(bracket + 1, "0123456789-:, ")] == '\0';
}

dkm_local dkm_locator_parse(dkm_ctx *ctx, const char *name, int literal, dkm_locator *where)
{
    dkm_local local = DKM_LOCAL_OK;
    size_t length = strlen(name);
    char *copy = NULL, *bracket;
    const char *list;

    *where = (dkm_locator){.rows = {.step = 1}, .cols = {.step = 1}};
    DKM_STEP(dkm_strdup(ctx, name, &where->name));
    DKM_STEP(dkm_strdup(ctx, name, &copy));
    bracket = strrchr(copy, '[');
    if (!literal && bracket && bracket != copy &&
        (name[length - 1] == ']' || locator_is_cut_off(bracket))) {
        if (name[length - 1] != ']' || !take_slice(bracket + 1, where, &list)) {
            local = dkm_fail(ctx, DKM_ERR_ARG,
                             "%s: cannot read the slice: write [first:last], [first:last:step] "
                             "with a step of 1 or more, or [rows, columns] with columns by number, "
                             "first:last or name",
                             name);
            goto out;
        }
        if (list) {
            DKM_STEP(dkm_strdup(ctx, list, &where->columns));
            where->columns[strlen(where->columns) - 1] = '\0'; /* the bracket */
        }
        *bracket = '\0';
    }
    DKM_STEP(dkm_path_split(ctx, copy, &where->path, &where->dataset));
out:
    DKM_FREE(copy);
    return local;
}

dkm_local dkm_locator_resolve(dkm_ctx *ctx, const dkm_locator *where, const dkm_slice *range,
                              dkm_idx size, const char *what, dkm_slice *resolved)
{
    dkm_idx first = range->has_first ? range->first : 0,
            last = range->has_last ? range->last : size;

    if (first < 0)
        first += size;
    if (last < 0)
        last += size;
    if (range->is_single && first < size)
        last = first + 1;
    if (first < 0 || last > size || first > last || (range->is_single && first >= size))
        return dkm_fail(ctx, DKM_ERR_ARG, "%s: the slice does not fit: the file has %lld %s",
                        where->name, (long long)size, what);
    /* a step past the end picks the first item alone, and capped no product with it overflows */
    *resolved = (dkm_slice){.first = first, .last = last, .step = range->step};
    if (resolved->step > size)
        resolved->step = size > 0 ? size : 1;
    return DKM_LOCAL_OK;
}

void dkm_locator_clear(dkm_locator *where)
{
    DKM_FREE(where->name);
    DKM_FREE(where->path);
    DKM_FREE(where->dataset);
    DKM_FREE(where->columns);
    *where = (dkm_locator){0};
}

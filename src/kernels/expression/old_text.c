#include "kernels/expression/old_text.h"

#include <string.h>

#include "core/alloc.h"

#define OLD   "ssk"
#define ADDED "_gaps"
#define UNIT  "normalize("

/* Whether the name of a kernel that now means another one stands at @p at. */
static int is_old_name(const char *text, const char *at)
{
    char before = at > text ? at[-1] : '(', after = at[strlen(OLD)];

    return strchr("(, ", before) && (after == '\0' || strchr("(,) ", after));
}

static int inside_normalize(const char *text, const char *at)
{
    size_t length = strlen(UNIT);

    while (at > text && at[-1] == ' ')
        at--;
    return (size_t)(at - text) >= length && memcmp(at - length, UNIT, length) == 0;
}

/* Append @p count bytes. @return the place after them */
static char *old_text_append(char *to, const char *from, size_t count)
{
    memcpy(to, from, count);
    return to + count;
}

dkm_local dkm_kernel_from_format_1(dkm_ctx *ctx, const char *text, char **now)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx found = 0;
    const char *from = text;
    char *to;

    for (const char *at = text; (at = strstr(at, OLD)); at++)
        found++;
    DKM_STEP(dkm_calloc(ctx, (dkm_idx)strlen(text) + found * (dkm_idx)strlen(ADDED) + 1, now));
    to = *now;
    for (const char *at = text; (at = strstr(at, OLD)); at++)
        if (is_old_name(text, at) && !inside_normalize(text, at)) {
            to = old_text_append(to, from, (size_t)(at - from) + strlen(OLD));
            to = old_text_append(to, ADDED, strlen(ADDED));
            from = at + strlen(OLD);
        }
    old_text_append(to, from, strlen(from));
out:
    return local;
}

#include <stdio.h>
#include <string.h>

#include "io/formats/format.h"
#include "io/path.h"

#define ADDRESS(name) &dkm_format_##name,
static const dkm_format *const formats[] = {DKM_FORMAT_LIST(ADDRESS)};

enum { FORMATS = sizeof formats / sizeof *formats };

/* What a text file is when the user says what it holds. */
static const dkm_format *text_of(dkm_type type)
{
    switch (type) {
    case DKM_DENSE:
    case DKM_LABELS:
    case DKM_GRAM:
    case DKM_DISTANCE:
        return &dkm_format_csv;
    case DKM_STRINGS:
        return &dkm_format_lines;
    case DKM_SETS:
        return &dkm_format_sets;
    case DKM_GRAPHS:
        return &dkm_format_graphs;
    case DKM_LABEL_SETS:
        return &dkm_format_label_sets;
    default:
        return NULL;
    }
}

static int has_ending(const dkm_format *format, const char *path)
{
    const char *at = format->endings;
    char ending[32];

    while (*at) {
        size_t length = strcspn(at, " ");
        snprintf(ending, sizeof ending, "%.*s", (int)length, at);
        if (dkm_path_ends(path, ending))
            return 1;
        at += length;
        at += strspn(at, " ");
    }
    return 0;
}

const dkm_format *dkm_format_for(const char *path, dkm_type type)
{
    for (int k = 0; k < FORMATS; k++)
        if (has_ending(formats[k], path)) {
            const dkm_format *as_text = text_of(type);
            return formats[k]->is_text && as_text ? as_text : formats[k];
        }
    return text_of(type);
}

char *dkm_format_endings(char *list, size_t size)
{
    size_t used = 0;

    list[0] = '\0';
    for (int k = 0; k < FORMATS && used < size; k++)
        used +=
            (size_t)snprintf(list + used, size - used, "%s%s", k ? " " : "", formats[k]->endings);
    return list;
}

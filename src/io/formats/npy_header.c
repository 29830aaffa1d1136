/* The header of an npy file: the magic bytes, a version, a length and a Python dictionary such as
 * {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }, padded with blanks. */
#include "io/formats/npy_header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC     "\x93NUMPY"
#define ALIGNMENT 64

typedef struct reader {
    dkm_ctx *ctx;
    const char *path;
} reader;

static dkm_local tell_damage(const reader *r, const char *what)
{
    return dkm_fail(r->ctx, DKM_ERR_FORMAT, "%s: wrong npy header (%s): write the file again",
                    r->path, what);
}

/* The value of a key of the dictionary, or NULL. */
static const char *find_value(const char *text, const char *key)
{
    const char *at = strstr(text, key);

    if (!at)
        return NULL;
    at += strlen(key);
    at += *at == '\'' || *at == '"';
    at += strspn(at, " ");
    if (*at++ != ':')
        return NULL;
    return at + strspn(at, " ");
}

static dkm_number npy_header_number_of(char kind, const char *size)
{
    static const struct {
        char kind;
        const char *size;
        dkm_number number;
    } known[] = {
        {'b', "1", DKM_NUMBER_U8},  {'i', "1", DKM_NUMBER_I8},  {'u', "1", DKM_NUMBER_U8},
        {'i', "2", DKM_NUMBER_I16}, {'u', "2", DKM_NUMBER_U16}, {'i', "4", DKM_NUMBER_I32},
        {'u', "4", DKM_NUMBER_U32}, {'i', "8", DKM_NUMBER_I64}, {'u', "8", DKM_NUMBER_U64},
        {'f', "4", DKM_NUMBER_F32}, {'f', "8", DKM_NUMBER_F64},
    };

    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (known[k].kind == kind && strcmp(known[k].size, size) == 0)
            return known[k].number;
    return DKM_NUMBER_COUNT;
}

static dkm_local read_descr(const reader *r, const char *value, dkm_npy_header *h)
{
    char descr[16] = "";
    int low_first = dkm_number_low_first();

    if (!value || (*value != '\'' && *value != '"'))
        return dkm_fail(
            r->ctx, DKM_ERR_FORMAT,
            "%s holds records of several fields: save each field as an array of its own", r->path);
    snprintf(descr, sizeof descr, "%.*s", (int)strcspn(value + 1, "'\""), value + 1);
    h->number = strlen(descr) > 2 ? npy_header_number_of(descr[1], descr + 2) : DKM_NUMBER_COUNT;
    h->swapped = (descr[0] == '>' && low_first) || (descr[0] == '<' && !low_first);
    if (h->number == DKM_NUMBER_COUNT)
        return dkm_fail(r->ctx, DKM_ERR_FORMAT,
                        "%s: numbers of type '%s' are not read: convert them with astype(float)",
                        r->path, descr);
    return DKM_LOCAL_OK;
}

static dkm_local npy_header_read_shape(const reader *r, const char *value, dkm_npy_header *h)
{
    if (!value || *value++ != '(')
        return tell_damage(r, "no shape");
    for (;;) {
        char *end;
        long long size;
        value += strspn(value, " ,");
        if (*value == ')')
            break;
        size = strtoll(value, &end, 10);
        if (end == value || size < 0)
            return tell_damage(r, "the shape is not made of integers");
        if (h->dims == DKM_NPY_DIMS)
            return tell_damage(r, "too many dimensions");
        h->shape[h->dims++] = (dkm_idx)size;
        value = end + (*end == 'L');
    }
    if (h->dims == 0)
        return dkm_fail(r->ctx, DKM_ERR_FORMAT, "%s holds a single number, not rows of them",
                        r->path);
    return DKM_LOCAL_OK;
}

static dkm_local read_dictionary(const reader *r, const char *text, dkm_npy_header *h)
{
    const char *order = find_value(text, "fortran_order");
    dkm_local local = DKM_LOCAL_OK;

    if (!order) {
        local = tell_damage(r, "no fortran_order");
        goto out;
    }
    h->fortran = strncmp(order, "True", 4) == 0;
    DKM_STEP(read_descr(r, find_value(text, "descr"), h));
    DKM_STEP(npy_header_read_shape(r, find_value(text, "shape"), h));
out:
    return local;
}

dkm_local dkm_npy_header_parse(dkm_ctx *ctx, const char *path, const char *bytes, dkm_idx count,
                               dkm_npy_header *header)
{
    const unsigned char *b = (const unsigned char *)bytes;
    reader r = {ctx, path};
    char text[DKM_NPY_HEADER_ROOM + 1];
    dkm_idx length, start;

    *header = (dkm_npy_header){0};
    if (count < 12 || memcmp(bytes, MAGIC, 6) != 0)
        return dkm_fail(ctx, DKM_ERR_FORMAT, "%s is no npy file: it does not begin as one", path);
    if (b[6] < 1 || b[6] > 3)
        return dkm_fail(ctx, DKM_ERR_FORMAT, "%s: npy version %d is not known: save it again", path,
                        b[6]);
    start = b[6] == 1 ? 10 : 12;
    length = b[8] | (dkm_idx)b[9] << 8;
    if (b[6] > 1)
        length |= (dkm_idx)b[10] << 16 | (dkm_idx)b[11] << 24;
    if (start + length > count)
        return tell_damage(&r, count < DKM_NPY_HEADER_ROOM ? "it is cut short" : "it is too long");
    memcpy(text, bytes + start, (size_t)length);
    text[length] = '\0';
    header->offset = start + length;
    return read_dictionary(&r, text, header);
}

dkm_idx dkm_npy_header_write(dkm_number number, dkm_idx m, dkm_idx d,
                             char bytes[DKM_NPY_HEADER_ROOM])
{
    char shape[64], *text = bytes + 10;
    int length;

    if (d >= 0)
        snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)m, (long long)d);
    else
        snprintf(shape, sizeof shape, "(%lld,)", (long long)m);
    length = snprintf(
        text, DKM_NPY_HEADER_ROOM - 10, "{'descr': '<%c%d', 'fortran_order': False, 'shape': %s, }",
        dkm_number_is_integer(number) ? 'i' : 'f', (int)dkm_number_bytes(number), shape);
    while ((10 + length + 1) % ALIGNMENT != 0)
        text[length++] = ' ';
    text[length++] = '\n';
    memcpy(bytes, MAGIC "\x01\x00", 8);
    bytes[8] = (char)(length & 0xff);
    bytes[9] = (char)(length >> 8);
    return 10 + length;
}

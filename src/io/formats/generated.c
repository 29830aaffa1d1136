/* Objects that are not stored but counted through: a file of one line says which. Row i is made from i alone, so
 * that every rank makes its own, and any slice of them. Counts stay below 2^53.
 *
 *   strings ALPHABET A:B        all strings of A to B letters: the shortest first, then in the order of the letters
 *   label-sets N A:B            all sets of A to B of the labels 0, ..., N - 1: the smallest first, then in
 *                               lexicographic order
 *   grid LOW:HIGH:COUNT ...     dense rows, a column per range of COUNT numbers from LOW to HIGH; the last column
 *                               runs fastest
 *
 * Local; a string of l letters takes O(l) operations, a set of l labels of N takes O(l), and O(N l) where it is the first
 * of a range or rows are skipped. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "data/builder.h"
#include "io/formats/format.h"

#define LINE    65536 /* bytes of the line that says which */
#define LENGTHS 64    /* letters or labels, at most */
#define MOST    9007199254740992.0

typedef struct range {
    double low, high;
    dkm_idx count;
} range;

typedef struct generated {
    dkm_idx letters;           /* of the alphabet, or labels */
    char alphabet[257];        /* of strings */
    dkm_idx shortest, longest; /* lengths of strings, sizes of sets */
    dkm_idx columns;
    range *ranges; /* of a grid */
} generated;

static dkm_local refuse(const dkm_file *file, const char *what)
{
    return dkm_fail(
        file->ctx, DKM_ERR_FORMAT,
        "%s: %s: one line is needed, such as 'strings ACGT 1:8', 'label-sets 20 0:3' or "
        "'grid 0:1:11 -2:2:41'",
        file->path, what);
}

/* How many there are of a length: A^l strings, or N over l sets. */
static double count_of(const generated *g, int sets, dkm_idx length)
{
    double count = 1;

    for (dkm_idx k = 0; k < length && count < MOST; k++) {
        count *= (double)(sets ? g->letters - k : g->letters);
        if (sets && count < MOST) /* a product that is exact, and divisible */
            count /= (double)(k + 1);
    }
    return count;
}

static dkm_local parse_lengths(const dkm_file *file, const char *text, generated *g, int sets,
                               double *rows)
{
    long long shortest = -1, longest = -1;
    char rest;

    if (sscanf(text, "%lld:%lld%c", &shortest, &longest, &rest) != 2 || shortest < 0 ||
        longest < shortest || longest > LENGTHS || (sets && longest > g->letters))
        return refuse(file, "no lengths A:B with 0 <= A <= B, B at most 64 and no more than there "
                            "are labels");
    g->shortest = (dkm_idx)shortest;
    g->longest = (dkm_idx)longest;
    for (dkm_idx l = g->shortest; l <= g->longest && *rows < MOST; l++)
        *rows += count_of(g, sets, l);
    return DKM_LOCAL_OK;
}

static dkm_local parse_strings(dkm_file *file, char **words, dkm_idx count, generated *g,
                               double *rows)
{
    char seen[256] = {0};

    if (count != 3 || strlen(words[1]) > 256)
        return refuse(file, "no alphabet of at most 256 letters and lengths");
    for (const char *at = words[1]; *at; at++)
        if (seen[(unsigned char)*at]++)
            return refuse(file, "a letter stands twice in the alphabet");
    memcpy(g->alphabet, words[1], strlen(words[1]) + 1);
    g->letters = (dkm_idx)strlen(words[1]);
    file->type = DKM_STRINGS;
    file->d = 0;
    return parse_lengths(file, words[2], g, 0, rows);
}

static dkm_local parse_sets(dkm_file *file, char **words, dkm_idx count, generated *g, double *rows)
{
    long long labels = 0;
    char rest;

    if (count != 3 || sscanf(words[1], "%lld%c", &labels, &rest) != 1 || labels < 1 ||
        labels > 1000000)
        return refuse(file, "no number of labels up to a million and sizes");
    g->letters = file->d = (dkm_idx)labels;
    file->type = DKM_LABEL_SETS;
    return parse_lengths(file, words[2], g, 1, rows);
}

static dkm_local parse_grid(dkm_file *file, char **words, dkm_idx count, generated *g, double *rows)
{
    dkm_local local = DKM_LOCAL_OK;

    if (count < 2)
        return refuse(file, "no ranges");
    g->columns = file->d = count - 1;
    file->type = DKM_DENSE;
    *rows = 1;
    DKM_STEP(dkm_calloc(file->ctx, g->columns, &g->ranges));
    for (dkm_idx c = 0; c < g->columns; c++) {
        range *r = &g->ranges[c];
        long long steps = 0;
        char rest;
        if (sscanf(words[c + 1], "%lf:%lf:%lld%c", &r->low, &r->high, &steps, &rest) != 3 ||
            !isfinite(r->low) || !isfinite(r->high) || steps < 1)
            return refuse(file, "a range is not LOW:HIGH:COUNT");
        r->count = (dkm_idx)steps;
        *rows = *rows < MOST ? *rows * (double)steps : MOST;
    }
out:
    return local;
}

/* The words of a line; there may be one per column of a grid. */
static dkm_local split_words(const dkm_file *file, char *line, char ***words, dkm_idx *count)
{
    dkm_local local = DKM_LOCAL_OK;
    char *rest = NULL;

    *count = 0;
    DKM_STEP(dkm_alloc(file->ctx, LINE / 2 + 1, words));
    for (char *word = strtok_r(line, " \t\r\n", &rest); word;
         word = strtok_r(NULL, " \t\r\n", &rest))
        (*words)[(*count)++] = word;
out:
    return local;
}

static dkm_local read_line(const dkm_file *file, char *line)
{
    FILE *f = fopen(file->path, "r");
    size_t length;

    if (!f)
        return dkm_fail(file->ctx, DKM_ERR_IO, "%s: %s", file->path, strerror(errno));
    length = fread(line, 1, LINE, f);
    fclose(f);
    if (length >= LINE || memchr(line, '\0', length))
        return refuse(file, "too long a line, or no text");
    line[length] = '\0';
    if (strchr(line, '\n') && strchr(line, '\n')[1])
        return refuse(file, "more than one line");
    return DKM_LOCAL_OK;
}

static dkm_local parse(dkm_file *file, generated *g)
{
    static const struct {
        const char *name;
        dkm_type type;
        dkm_local (*parse)(dkm_file *file, char **words, dkm_idx count, generated *g, double *rows);
    } kinds[] = {{"strings", DKM_STRINGS, parse_strings},
                 {"label-sets", DKM_LABEL_SETS, parse_sets},
                 {"grid", DKM_DENSE, parse_grid}};
    dkm_local local = DKM_LOCAL_OK;
    char *line = NULL, **words = NULL;
    dkm_idx count = 0;
    double rows = 0;
    size_t k = 0;

    DKM_STEP(dkm_alloc(file->ctx, LINE + 1, &line));
    DKM_STEP(read_line(file, line));
    DKM_STEP(split_words(file, line, &words, &count));
    while (k < 3 && (count == 0 || strcmp(words[0], kinds[k].name) != 0))
        k++;
    if (k == 3)
        DKM_STEP(refuse(file, "it does not say what to generate"));
    if (file->type != DKM_TYPE_COUNT && file->type != kinds[k].type)
        DKM_STEP(dkm_fail(file->ctx, DKM_ERR_ARG, "%s generates %s, not %s", file->path,
                          dkm_type_name(kinds[k].type), dkm_type_name(file->type)));
    DKM_STEP(kinds[k].parse(file, words, count, g, &rows));
    if (rows >= MOST)
        DKM_STEP(refuse(file, "more than 2^53 objects"));
    file->m = (dkm_idx)rows;
    snprintf(file->about, sizeof file->about, "generated %s", kinds[k].name);
out:
    DKM_FREE(words);
    DKM_FREE(line);
    return local;
}

static dkm_status generated_open(dkm_file *file)
{
    dkm_status status = DKM_OK;
    generated *g = NULL;

    DKM_AGREE(file->ctx, dkm_calloc(file->ctx, 1, &g));
    file->state = g;
    DKM_AGREE(file->ctx, parse(file, g));
out:
    return status;
}

static void generated_close(dkm_file *file)
{
    generated *g = file->state;

    if (g)
        DKM_FREE(g->ranges);
    DKM_FREE(g);
    file->state = NULL;
}

/* The length of object @p row, which becomes its number among those of that length. */
static dkm_idx length_of(const generated *g, int sets, dkm_idx *row)
{
    dkm_idx length = g->shortest;

    for (; length < g->longest && (double)*row >= count_of(g, sets, length); length++)
        *row -= (dkm_idx)count_of(g, sets, length);
    return length;
}

static dkm_local make_string(const generated *g, dkm_idx row, dkm_builder *b)
{
    dkm_idx length = length_of(g, 0, &row);
    char text[LENGTHS];

    for (dkm_idx k = length - 1; k >= 0; k--) {
        text[k] = g->alphabet[row % g->letters];
        row /= g->letters;
    }
    return dkm_builder_bytes(b, text, length);
}

/* A set of labels, ascending. */
typedef struct combination {
    dkm_idx size, labels[LENGTHS];
} combination;

/* Combination number @p row in lexicographic order: a label is the next as long as the sets that begin with it
 * are not enough. */
static void find_set(const generated *g, dkm_idx row, combination *c)
{
    dkm_idx k = 0;

    c->size = length_of(g, 1, &row);
    for (dkm_idx label = 0; k < c->size && label < g->letters; label++) {
        generated rest = {.letters = g->letters - label - 1};
        double with = count_of(&rest, 1, c->size - k - 1);
        if ((double)row >= with)
            row -= (dkm_idx)with;
        else
            c->labels[k++] = label;
    }
}

/* The one after it: the last label that can grow does, and those behind it follow it; after the last set of a size
 * the first of the next. */
static void next_set(const generated *g, combination *c)
{
    dkm_idx k = c->size - 1;

    while (k >= 0 && c->labels[k] == g->letters - c->size + k)
        k--;
    if (k < 0) {
        c->size++;
        c->labels[0] = -1;
        k = 0;
    }
    c->labels[k]++;
    for (k++; k < c->size; k++)
        c->labels[k] = c->labels[k - 1] + 1;
}

static dkm_local put_set(const combination *c, dkm_idx c0, dkm_idx c1, dkm_builder *b)
{
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx k = 0; k < c->size; k++)
        if (c->labels[k] >= c0 && c->labels[k] < c1)
            DKM_STEP(dkm_builder_entry(b, c->labels[k] - c0, 1.0));
out:
    return local;
}

static dkm_local make_sets(const generated *g, dkm_idx first, dkm_idx step, dkm_idx count,
                           dkm_idx c0, dkm_idx c1, dkm_builder *b)
{
    dkm_local local = DKM_LOCAL_OK;
    combination c = {0};

    for (dkm_idx i = 0; i < count; i++) {
        if (i == 0 || step != 1)
            find_set(g, first + i * step, &c);
        else
            next_set(g, &c);
        DKM_STEP(put_set(&c, c0, c1, b));
        dkm_builder_next(b);
    }
out:
    return local;
}

static dkm_local make_strings(const generated *g, dkm_idx first, dkm_idx step, dkm_idx count,
                              dkm_builder *b)
{
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx i = 0; i < count; i++) {
        DKM_STEP(make_string(g, first + i * step, b));
        dkm_builder_next(b);
    }
out:
    return local;
}

static void make_row(const generated *g, dkm_idx row, dkm_idx c0, dkm_idx c1, double *values)
{
    for (dkm_idx c = g->columns - 1; c >= 0; c--) {
        const range *r = &g->ranges[c];
        double at = (double)(row % r->count);
        if (c >= c0 && c < c1)
            values[c - c0] =
                r->count > 1 ? r->low + (r->high - r->low) * (at / (double)(r->count - 1)) : r->low;
        row /= r->count;
    }
}

static dkm_local generated_read(dkm_file *file, dkm_idx first, dkm_idx step, dkm_idx count,
                                dkm_idx c0, dkm_idx c1, dkm_objs *objs)
{
    const generated *g = file->state;
    dkm_local local = DKM_LOCAL_OK;
    dkm_builder b;

    if (file->type == DKM_DENSE) {
        DKM_STEP(dkm_objs_init(objs, file->ctx, DKM_DENSE, count, c1 - c0, 0));
        for (dkm_idx i = 0; i < count; i++)
            make_row(g, first + i * step, c0, c1, objs->values + i * (c1 - c0));
        return local;
    }
    DKM_STEP(dkm_builder_begin(&b, objs, file->ctx, file->type, count,
                               file->type == DKM_LABEL_SETS ? c1 - c0 : 0));
    DKM_STEP(file->type == DKM_STRINGS ? make_strings(g, first, step, count, &b)
                                       : make_sets(g, first, step, count, c0, c1, &b));
    DKM_STEP(dkm_builder_end(&b));
out:
    return local;
}

const dkm_format dkm_format_generated = {.name = "generated",
                                         .endings = ".gen",
                                         .open = generated_open,
                                         .read = generated_read,
                                         .close = generated_close};

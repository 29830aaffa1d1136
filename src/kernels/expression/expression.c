#include "kernels/expression/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"

#define DEPTH_LIMIT 64
#define SHOWN       72 /* bytes of a long text shown around the caret */

typedef struct reader {
    dkm_expression *e;
    dkm_idx at;
    int depth;
} reader;

/* The part of the text around @p at that is shown, on one line, and the caret under it. */
static void draw_caret(const char *text, dkm_idx at, char *line, char *caret)
{
    dkm_idx length = (dkm_idx)strlen(text);
    dkm_idx from = length <= SHOWN || at < SHOWN / 2 ? 0 : at - SHOWN / 2, k;

    for (k = 0; k < SHOWN && from + k < length; k++)
        line[k] = isspace((unsigned char)text[from + k]) ? ' ' : text[from + k];
    line[k] = '\0';
    memset(caret, ' ', (size_t)(at - from));
    caret[at - from] = '^';
    caret[at - from + 1] = '\0';
}

dkm_local dkm_expression_fail(const dkm_expression *e, dkm_idx at, const char *format, ...)
{
    char message[512], line[SHOWN + 1], caret[SHOWN + 2];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    draw_caret(e->text, at, line, caret);
    return dkm_fail(e->ctx, DKM_ERR_ARG, "%s: %s\n  %s\n  %s", e->what, message, line, caret);
}

static char peek(reader *r)
{
    while (isspace((unsigned char)r->e->text[r->at]))
        r->at++;
    return r->e->text[r->at];
}

static int in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static dkm_local read_name(reader *r, dkm_span *name)
{
    char first = peek(r);

    name->at = r->at;
    if (!isalpha((unsigned char)first))
        return dkm_expression_fail(r->e, name->at, "a name is wanted here");
    while (in_name(r->e->text[r->at]))
        r->at++;
    name->length = r->at - name->at;
    return DKM_LOCAL_OK;
}

static dkm_local read_value(reader *r, dkm_span *value)
{
    peek(r);
    value->at = r->at;
    while (r->e->text[r->at] && !strchr(",()= \t\r\n", r->e->text[r->at]))
        r->at++;
    value->length = r->at - value->at;
    if (value->length == 0)
        return dkm_expression_fail(r->e, value->at, "a value is wanted here");
    return DKM_LOCAL_OK;
}

/* Is the next argument `name=value`? Nothing is consumed. */
static int at_setting(const reader *r)
{
    reader ahead = *r;

    peek(&ahead);
    while (in_name(ahead.e->text[ahead.at]))
        ahead.at++;
    return peek(&ahead) == '=';
}

/* Is the next argument a file or columns? A file begins like no number and has a character that no
 * name has. */
static int at_word(const reader *r)
{
    reader ahead = *r;
    char first = peek(&ahead);
    const char *word = ahead.e->text + ahead.at;
    size_t length = strcspn(word, ",()= \t\r\n");

    if (length > 0 && strspn(word, DKM_COLUMN_CHARACTERS) == length)
        return 1;
    return !isdigit((unsigned char)first) && first != '-' && first != '+' &&
           (memchr(word, '.', length) || memchr(word, '/', length));
}

static dkm_local read_term(reader *r, dkm_idx parent);

static dkm_local read_argument(reader *r, dkm_idx term)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_expression_value *s = &r->e->setting[r->e->settings];

    if (at_word(r)) {
        *s = (dkm_expression_value){.term = term};
        r->e->settings++;
        return read_value(r, &s->value);
    }
    if (!at_setting(r)) {
        r->e->term[term].inner++;
        return read_term(r, term);
    }
    s->term = term;
    DKM_STEP(read_name(r, &s->name));
    peek(r);
    r->at++;
    DKM_STEP(read_value(r, &s->value));
    r->e->settings++;
out:
    return local;
}

static dkm_local read_arguments(reader *r, dkm_idx term)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx open = r->at++;

    for (;;) {
        DKM_STEP(read_argument(r, term));
        if (peek(r) == ')')
            break;
        if (peek(r) == '\0')
            return dkm_expression_fail(r->e, open, "this parenthesis is not closed");
        if (peek(r) != ',')
            return dkm_expression_fail(r->e, r->at, "a comma or ')' is wanted here");
        r->at++;
    }
    r->at++;
out:
    return local;
}

static dkm_local read_term(reader *r, dkm_idx parent)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx mine = r->e->terms;

    r->e->term[mine].parent = parent;
    DKM_STEP(read_name(r, &r->e->term[mine].name));
    r->e->terms++;
    if (++r->depth > DEPTH_LIMIT)
        return dkm_expression_fail(r->e, r->e->term[mine].name.at, "nested deeper than %d",
                                   DEPTH_LIMIT);
    if (peek(r) == '(')
        DKM_STEP(read_arguments(r, mine));
    r->depth--;
out:
    return local;
}

dkm_local dkm_expression_read(dkm_ctx *ctx, const char *what, const char *text, dkm_expression *e)
{
    dkm_local local = DKM_LOCAL_OK;
    reader r = {.e = e};
    dkm_idx capacity = (dkm_idx)strlen(text) + 1; /* each term and setting takes a byte or more */

    *e = (dkm_expression){.ctx = ctx, .what = what, .text = text};
    DKM_STEP(dkm_calloc(ctx, capacity, &e->term));
    DKM_STEP(dkm_calloc(ctx, capacity, &e->setting));
    DKM_STEP(read_term(&r, -1));
    if (peek(&r))
        local = dkm_expression_fail(e, r.at, "the expression should end here");
out:
    return local;
}

int dkm_expression_is(const dkm_expression *e, dkm_span span, const char *name)
{
    return (dkm_idx)strlen(name) == span.length &&
           strncmp(e->text + span.at, name, (size_t)span.length) == 0;
}

dkm_local dkm_expression_number(const dkm_expression *e, dkm_span span, double *number)
{
    char *end = NULL;

    *number = strtod(e->text + span.at, &end);
    if (span.length == 0 || end != e->text + span.at + span.length || !isfinite(*number))
        return dkm_expression_fail(e, span.at, "'%.*s' is not a number", (int)span.length,
                                   e->text + span.at);
    return DKM_LOCAL_OK;
}

void dkm_expression_print(double x, char text[DKM_NUMBER_SIZE])
{
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, DKM_NUMBER_SIZE, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            return;
    }
}

void dkm_expression_clear(dkm_expression *e)
{
    DKM_FREE(e->term);
    DKM_FREE(e->setting);
}

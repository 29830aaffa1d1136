/** @file expression.h  The grammar of kernel expressions, before any meaning.
 *
 *      expression := name [ '(' argument { ',' argument } ')' ]
 *      argument   := name '=' value | word | expression
 *
 *  Blanks may stand anywhere between these. A value is what stands up to the next comma,
 *  parenthesis or blank. So is a word: the name of a file, which has a '.' or '/' in it, or indices
 *  and ranges of columns such as 0:3;7. It is stored as a setting without a name. Reading gives a
 *  flat list of terms, each before the terms inside it, so walking the list backwards meets inner
 *  terms first.
 */
#ifndef DKMAP_KERNELS_EXPRESSION_EXPRESSION_H
#define DKMAP_KERNELS_EXPRESSION_EXPRESSION_H

#include <dkmap/context.h>

/** What indices and ranges of columns are written with. */
#define DKM_COLUMN_CHARACTERS "0123456789:;-"

/** A range of the text. */
typedef struct dkm_span {
    dkm_idx at, length;
} dkm_span;

/** One `name(...)`. */
typedef struct dkm_term {
    dkm_span name;
    dkm_idx parent; /**< the term it stands inside of, or -1 */
    dkm_idx inner;  /**< how many terms stand directly inside it */
} dkm_term;

/** One `name=value` and the term it belongs to. */
typedef struct dkm_expression_value {
    dkm_span name, value;
    dkm_idx term;
} dkm_expression_value;

typedef struct dkm_expression {
    dkm_ctx *ctx;
    const char *what; /**< begins every message: "kernel" */
    const char *text; /**< borrowed */
    dkm_idx terms, settings;
    dkm_term *term;
    dkm_expression_value *setting;
} dkm_expression;

/** Read @p text, which is borrowed. Local; dkm_expression_clear() frees, also after a failure.
 *  @return ok; DKM_ERR_ARG with the text and a caret under the wrong place; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_local dkm_expression_read(dkm_ctx *ctx, const char *what, const char *text,
                                            dkm_expression *e);

/** Fail with a message, the text, and a caret under byte @p at of it. Local. */
DKM_NODISCARD dkm_local dkm_expression_fail(const dkm_expression *e, dkm_idx at, const char *format,
                                            ...) DKM_PRINTF(3, 4);

/** Does a range of the text read @p name? Local. */
int dkm_expression_is(const dkm_expression *e, dkm_span span, const char *name);

/** A range of the text as a finite number, or a failure pointing at it. Local. */
DKM_NODISCARD dkm_local dkm_expression_number(const dkm_expression *e, dkm_span span,
                                              double *number);

#define DKM_NUMBER_SIZE 32

/** A number in the fewest digits that read back as the same, from six on: 1200 is not 1.2e+03.
 *  Local. */
void dkm_expression_print(double x, char text[DKM_NUMBER_SIZE]);

void dkm_expression_clear(dkm_expression *e);

#endif

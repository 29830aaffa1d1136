/** @file report.h  What a fit reports: results by name, in order.
 *
 *      double residual = dkm_report_real(report, "residual");
 */
#ifndef DKMAP_REPORT_H
#define DKMAP_REPORT_H

#include <dkmap/context.h>

DKM_API_BEGIN

typedef struct dkm_report dkm_report;

typedef enum dkm_result_kind {
    DKM_RESULT_INT,
    DKM_RESULT_REAL,
    DKM_RESULT_TEXT,
    DKM_RESULT_REALS,  /**< a list, for records */
    DKM_RESULT_LINE,   /**< text for a person alone: a line of a table */
    DKM_RESULT_WARNING /**< what the fit did otherwise than asked; it has no name */
} dkm_result_kind;

/** One result. New fields are added at the end. */
typedef struct dkm_result {
    dkm_result_kind kind;
    const char *name;
    int64_t integer;
    double real;
    const char *text;
    dkm_idx count;        /**< of a list */
    const double *values; /**< of a list */
} dkm_result;

/** How many results there are. Local. */
dkm_idx dkm_report_count(const dkm_report *report);

/** The k-th of them, valid as long as the report; NULL past the last. Local. */
const dkm_result *dkm_report_at(const dkm_report *report, dkm_idx k);

/** The first result of a name that is not a line; NULL if there is none. Local. */
const dkm_result *dkm_report_find(const dkm_report *report, const char *name);

/** A number by name, integers as well; NaN if there is none. Local. */
double dkm_report_real(const dkm_report *report, const char *name);

/** A text by name; NULL if there is none. Local. */
const char *dkm_report_text(const dkm_report *report, const char *name);

void dkm_report_destroy(dkm_report **report);

DKM_API_END

#endif

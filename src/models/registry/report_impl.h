/** @file report_impl.h  How fits fill a report.
 *
 *  Adding never fails at once: memory that ran out is remembered, and dkm_report_check() says so.
 *  Every function takes a report that is NULL, and does nothing then.
 */
#ifndef DKMAP_MODELS_REGISTRY_REPORT_IMPL_H
#define DKMAP_MODELS_REGISTRY_REPORT_IMPL_H

#include <dkmap/report.h>

/** Local. @param[out] report  new, owned by the caller */
DKM_NODISCARD dkm_local dkm_report_create(dkm_ctx *ctx, dkm_report **report);

/** Add a result; names and texts are copied. Local; the same on every rank. */
void dkm_report_add_int(dkm_report *report, const char *name, int64_t value);
void dkm_report_add_real(dkm_report *report, const char *name, double value);
void dkm_report_add_text(dkm_report *report, const char *name, const char *text);
void dkm_report_add_reals(dkm_report *report, const char *name, dkm_idx count,
                          const double *values);
void dkm_report_add_line(dkm_report *report, const char *name, const char *text);
void dkm_report_add_grid(dkm_report *report, int P, int Q);
void dkm_report_warn(dkm_report *report, const char *format, ...) DKM_PRINTF(2, 3);

/** Whether everything could be added. Local. */
DKM_NODISCARD dkm_local dkm_report_check(const dkm_report *report);

#endif

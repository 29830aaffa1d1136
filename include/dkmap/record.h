/** @file record.h  Run records: one JSON line a run, for tables and plots made later. */
#ifndef DKMAP_RECORD_H
#define DKMAP_RECORD_H

#include <dkmap/context.h>

typedef struct dkm_record dkm_record;

/** An empty record of the run of @p command; sizes of the job and the program version are filled
 * in. Collective. */
DKM_NODISCARD
dkm_status dkm_record_create(dkm_ctx *ctx, const char *command, dkm_record **record);

/** Add a field; a name with dots ("loss.mean") makes nested objects. Local; the same on all ranks.
 */
void dkm_record_text(dkm_record *record, const char *name, const char *value);
void dkm_record_real(dkm_record *record, const char *name, double value);
void dkm_record_int(dkm_record *record, const char *name, int64_t value);
/** Add a list of numbers; what is not finite becomes null. */
void dkm_record_reals(dkm_record *record, const char *name, dkm_idx count, const double *values);

/** Add the phases of the context (seconds min / mean / max, flop rate), peak memory a rank and,
 *  where no field is called so, the `seconds` since the record was made, and append the record to
 * @p path as one line. Collective. */
DKM_NODISCARD
dkm_status dkm_record_append(dkm_record *record, const char *path);

void dkm_record_destroy(dkm_record **record);

#endif

/** @file runlog.h  Run records: one JSON line a run, for tables and plots made later. */
#ifndef DKMAP_RUNLOG_H
#define DKMAP_RUNLOG_H

#include <dkmap/context.h>

DKM_API_BEGIN

typedef struct dkm_runlog dkm_runlog;

/** An empty record of the run of @p command; sizes of the job and the program version are filled
 * in. Collective. */
DKM_NODISCARD dkm_status dkm_runlog_create(dkm_ctx *ctx, const char *command, dkm_runlog **record);

/** Add a field; a name with dots ("loss.mean") makes nested objects, and one with numbers
 *  ("trials.0.mean"), which come in order, a list of objects. Local; the same on all ranks. */
void dkm_runlog_text(dkm_runlog *record, const char *name, const char *value);
void dkm_runlog_real(dkm_runlog *record, const char *name, double value);
void dkm_runlog_int(dkm_runlog *record, const char *name, int64_t value);
/** Add a list of numbers; what is not finite becomes null. */
void dkm_runlog_reals(dkm_runlog *record, const char *name, dkm_idx count, const double *values);

/** Add a remark unless there is a field of this name; several remarks of one name are a list. A
 *  dot in the name makes an object. Local; the same on all ranks. */
void dkm_runlog_note(dkm_runlog *record, const char *name, const char *text);
void dkm_runlog_note_real(dkm_runlog *record, const char *name, double value);

/** Add the phases of the context (seconds min / mean / max, flop rate), peak memory per rank
 * (resident, and allocated by dkmap) and, where no field is called so, the `seconds` since the
 * record was made, and append the record to
 * @p path as one line. Collective. */
DKM_NODISCARD dkm_status dkm_runlog_append(dkm_runlog *record, const char *path);

/** Add the same, and make a line of the record in which numbers have all their digits. Collective.
 *  @param[in] record  to be written
 *  @param[out] line  JSON on rank 0, freed by dkm_runlog_line_free(); NULL on other ranks and on
 *                    failure */
DKM_NODISCARD dkm_status dkm_runlog_line(dkm_runlog *record, char **line);
void dkm_runlog_line_free(char **line);

void dkm_runlog_destroy(dkm_runlog **record);

DKM_API_END

#endif

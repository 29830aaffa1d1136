/** @file run.h  What a command has at hand while it runs.
 *
 *  Results are reported: one `name value` line each on standard output, or one JSON object of all,
 *  and the same in the run record where one is wanted.
 */
#ifndef DKMAP_CLI_CORE_RUN_H
#define DKMAP_CLI_CORE_RUN_H

#include <dkmap/checkpoint.h>
#include <dkmap/model.h>
#include <dkmap/runlog.h>

#include "cli/core/args.h"
#include "cli/core/listener.h"

/** Exit status of the program. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_STOPPED = 3 };

typedef struct run {
    dkm_ctx *ctx;
    const args *args;
    dkm_runlog *record;         /**< NULL without --record and --json */
    dkm_checkpoint *checkpoint; /**< NULL without --checkpoint */
    listener *listener;
    double started;
    dkm_search_info search; /**< of predictions chosen among candidates */
    dkm_idx labels;         /**< columns of labels in ARFF files, by --labels */
} run;

/** Run the command of @p a. Collective on @p comm.
 *  @return the exit status of the program, the same on every rank */
int run_command(const args *a, MPI_Comm comm);

/** The same in a context of the caller, who sees there what was allocated. Collective. */
int run_in_context(const args *a, dkm_ctx *ctx);

/** --grid and --block as a layout. */
dkm_layout run_layout(const run *r);

/** The value of a real option that must be > 0. Logically collective. */
DKM_NODISCARD dkm_status run_positive(run *r, const char *name, double *out);

/** Read svmlight files from now on as the model's inputs were. Collective.
 *  @return DKM_OK; DKM_ERR_ARG when --svm-base says otherwise */
DKM_NODISCARD dkm_status run_follow_model(run *r, const dkm_model *model);

/** Check, before a long run, that --output is a name for an HDF5 file of ours and can be written.
 *  Collective.
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_IO */
DKM_NODISCARD dkm_status run_check_model_path(run *r);

/** Put the name of the file at fault before the message of a failure, where the library could not
 *  know it: arguments and objects that do not fit. Collective.
 *  @return @p status */
DKM_NODISCARD dkm_status run_error_context(run *r, const char *file, dkm_status status);

/** Report a result. Local; rank 0 prints. */
void report_text(run *r, const char *name, const char *text);
void report_real(run *r, const char *name, double number);
void report_int(run *r, const char *name, int64_t number);

/** Report the shape of the process grid as PxQ. Local; rank 0 prints. */
void report_grid(run *r, int P, int Q);

/** Report the seconds since the command began; the record has its own. Local; rank 0 prints. */
void report_seconds(run *r);

/** Append the record so far and begin another one: a command that measures the same thing several
 *  times leaves one line each. Collective; without --record nothing is done. */
DKM_NODISCARD dkm_status run_next_record(run *r);

/** Whether the results are one JSON object on standard output, by --json. Local. */
int run_wants_json(const run *r);

/** Print a `name value` line that is not meant for the record; --json has it, and a list of texts
 *  where there are several lines of one name. Local; rank 0 prints. */
void run_show(run *r, const char *name, const char *text);
void run_show_real(run *r, const char *name, double number);

/** Put a line on standard output, but for --json: what it says must be recorded too. Local; rank 0
 *  prints. */
void run_print(run *r, const char *text);

#endif

/** @file listener.h  Messages and progress of the library, shown on standard error.
 *
 *  On a terminal, progress is a bar that is redrawn in place; in a log it is a line now and then.
 */
#ifndef DKMAP_CLI_CORE_LISTENER_H
#define DKMAP_CLI_CORE_LISTENER_H

#include <dkmap/context.h>

typedef struct listener {
    dkm_level most; /**< the least urgent level that is shown */
    int quiet, terminal;
    int drawn;   /**< a bar stands on the terminal's last line */
    double next; /**< when a log gets its next line of progress */
} listener;

/** A listener for dkm_ctx_set_listener(); @p l must outlive the context. Needs MPI. */
dkm_listener listener_make(listener *l, int quiet, int verbose);

/** Take the bar off the terminal, so that something else can be written. */
void listener_clear(listener *l);

#endif

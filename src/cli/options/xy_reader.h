/** @file xy_reader.h  Two files whose rows belong together: inputs and outputs, truth and
 * predictions.
 */
#ifndef DKMAP_CLI_OPTIONS_XY_READER_H
#define DKMAP_CLI_OPTIONS_XY_READER_H

#include <dkmap/data.h>

#include "cli/core/run.h"

/** The options that name a file and its type (NULL: its ending says), and what it is read for. Of
 * two files of outputs the second takes its type from the first where xy_companion_type() says. */
typedef struct file_options {
    const char *where, *type;
    dkm_role role;
    int missing_ok; /**< of the second file: NaN may stand in it */
} file_options;

/** The type of a text file without one of its own that goes with objects of @p type, or NULL:
 *  labels, label sets and sets look like rows of numbers or strings there. Local. */
const char *xy_companion_type(const char *where, dkm_type type);

/** Read both files. Collective.
 *
 *  Both are opened and their numbers of rows compared before either is read.
 *
 *  @param[out] A, B  new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG naming both files and numbers of rows; as dkm_source_read() else
 */
DKM_NODISCARD dkm_status xy_read(run *r, file_options first, file_options second, dkm_data **A,
                                 dkm_data **B);

/** Open the first file to be read as often as need be, and read the second. Collective; checks and
 *  failures as of pair_read(). */
DKM_NODISCARD dkm_status xy_open(run *r, file_options first, file_options second, dkm_source **a,
                                 dkm_data **B);

#endif

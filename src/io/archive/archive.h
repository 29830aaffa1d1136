/** @file archive.h  Named parts of a model or a checkpoint, on their way to or from a file.
 *
 *  A model turns itself into an archive and back; src/io writes and reads archives and knows
 * nothing of models. Text, numbers and arrays are the same on every rank; data are spread in slabs.
 */
#ifndef DKMAP_IO_ARCHIVE_ARCHIVE_H
#define DKMAP_IO_ARCHIVE_ARCHIVE_H

#include "data/objects.h"
#include "io/archive/matrix_entry.h"

typedef enum dkm_archive_entry_kind {
    DKM_ENTRY_TEXT,
    DKM_ENTRY_REALS,
    DKM_ENTRY_DATA,
    DKM_ENTRY_ROWS /**< of a matrix; they go from it to the file and back without a copy */
} dkm_archive_entry_kind;

typedef struct dkm_archive_entry {
    char *name;
    dkm_archive_entry_kind kind;
    char *text;
    dkm_idx count;
    double *reals; /**< count of them; a plain number is an array of one */
    dkm_data *data;
    int borrowed; /**< the data belong to someone else */
    dkm_matrix_entry rows;
} dkm_archive_entry;

typedef struct dkm_archive {
    dkm_ctx *ctx;
    dkm_idx count, capacity;
    dkm_archive_entry *parts;
} dkm_archive;

/** An empty archive. Local; dkm_archive_clear() frees it, also after a failure. */
dkm_archive dkm_archive_empty(dkm_ctx *ctx);

/** Add a part; text and numbers are copied. Local. */
DKM_NODISCARD dkm_local dkm_archive_put_text(dkm_archive *b, const char *name, const char *text);
DKM_NODISCARD dkm_local dkm_archive_put_real(dkm_archive *b, const char *name, double value);
DKM_NODISCARD dkm_local dkm_archive_put_reals(dkm_archive *b, const char *name, dkm_idx count,
                                              const double *values);
/** Add data; takes over *data (nulled on success). Local. */
DKM_NODISCARD dkm_local dkm_archive_put_data(dkm_archive *b, const char *name, dkm_data **data);
/** Add data that stay the caller's and outlive the archive. Local. */
DKM_NODISCARD dkm_local dkm_archive_borrow_data(dkm_archive *b, const char *name, dkm_data *data);

/** Add rows; the path is copied, matrix and slab stay the caller's and outlive the archive. Local.
 */
DKM_NODISCARD dkm_local dkm_archive_put_rows(dkm_archive *b, const char *name,
                                             const dkm_matrix_entry *rows);

/** The part called @p name, or NULL. Local. */
dkm_archive_entry *dkm_archive_find(const dkm_archive *b, const char *name);

/** What a part holds; a part that is missing or of another kind is DKM_ERR_FORMAT naming it. Local.
 */
DKM_NODISCARD dkm_local dkm_archive_text(const dkm_archive *b, const char *name, const char **text);
DKM_NODISCARD dkm_local dkm_archive_real(const dkm_archive *b, const char *name, double *value);
DKM_NODISCARD dkm_local dkm_archive_reals(const dkm_archive *b, const char *name, dkm_idx *count,
                                          const double **values);
/** A number within [least, most]; one that is not is DKM_ERR_FORMAT naming it. Local. */
DKM_NODISCARD dkm_local dkm_archive_number(const dkm_archive *b, const char *name, double least,
                                           double most, double *value);
/** An integer within [least, most]; likewise. Local. */
DKM_NODISCARD dkm_local dkm_archive_count(const dkm_archive *b, const char *name, dkm_idx least,
                                          dkm_idx most, dkm_idx *count);
/** One of the numbers of part @p name as an integer within [least, most]; likewise. Local. */
DKM_NODISCARD dkm_local dkm_archive_check_int(const dkm_archive *b, const char *name, double number,
                                              dkm_idx least, dkm_idx most, dkm_idx *integer);
/** As many numbers as are wanted; likewise. Local. */
DKM_NODISCARD dkm_local dkm_archive_numbers(const dkm_archive *b, const char *name, dkm_idx count,
                                            const double **values);
/** Hand over data that are dense rows; likewise. Local. */
DKM_NODISCARD dkm_local dkm_archive_take_rows(dkm_archive *b, const char *name, dkm_data **data);
/** Refuse an archive with a number that is not finite, in this rank's slabs or elsewhere. Local. */
DKM_NODISCARD dkm_local dkm_archive_check_finite(const dkm_archive *b);

/** Hand over the data of a part: the caller owns them now. Local. */
DKM_NODISCARD dkm_local dkm_archive_take_data(dkm_archive *b, const char *name, dkm_data **data);

/** Where the rows of a part lie. Local. */
DKM_NODISCARD dkm_local dkm_archive_rows(const dkm_archive *b, const char *name,
                                         const dkm_matrix_entry **rows);

void dkm_archive_clear(dkm_archive *b);

#endif

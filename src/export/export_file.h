/** @file export_file.h  A file that rank 0 writes from front to back: text, bytes, and rows of data
 *  that all ranks hold, which come to it in blocks.
 *
 *  What goes wrong while writing is recorded until dkm_export_file_commit(), so that ranks stay together.
 */
#ifndef DKMAP_EXPORT_EXPORT_FILE_H
#define DKMAP_EXPORT_EXPORT_FILE_H

#include "io/atomic_file.h"
#include "kernels/evaluation/row_transform.h"

typedef struct dkm_export_file {
    dkm_ctx *ctx;
    dkm_atomic_file out;
    dkm_idx at, used;
    char *buffer; /**< of rank 0; NULL on the others, where writing does nothing */
    dkm_local local;
} dkm_export_file;

/** Begin. Collective; dkm_export_file_close() frees, also after a failure. */
DKM_NODISCARD dkm_status dkm_export_file_open(dkm_export_file *file, dkm_ctx *ctx,
                                              const char *path);
/** Finish the file and give it its name. Collective.
 *  @return DKM_OK; the first failure of any write */
DKM_NODISCARD dkm_status dkm_export_file_commit(dkm_export_file *file);
void dkm_export_file_close(dkm_export_file *file);

/** Append bytes, or text as printf() has it. Local. */
void dkm_export_bytes(dkm_export_file *file, const void *bytes, dkm_idx count);
void dkm_export_text(dkm_export_file *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Append numbers: each as text with a comma after it, ten a line; or as eight bytes, little end
 *  first. Local. */
void dkm_export_numbers(dkm_export_file *file, dkm_idx count, const double *numbers);
void dkm_export_doubles(dkm_export_file *file, dkm_idx count, const double *numbers);

/** Append all rows of dense data, by one of the two functions above.
 *
 *  Collective. Rank 0 holds a megabyte of them at a time; every row is sent once.
 *
 *  @param[in] transform  what is done to the rows before; NULL for nothing */
DKM_NODISCARD dkm_status dkm_export_rows(dkm_export_file *file, const dkm_data *rows,
                                         const dkm_row_transform *transform,
                                         void (*write)(dkm_export_file *file, dkm_idx count,
                                                       const double *numbers));

#endif

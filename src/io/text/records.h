/** @file records.h  Text files: their lines, and where their records start.
 *
 *  A dkm_text walks over the lines of a file, plain or gzipped. A dkm_records knows where to start
 *  walking: ranks scan one part of the file each, noting the place of a record now and then, and
 *  share those marks, so that any rank finds any record by reading a batch of bounded size.
 *  A gzipped file is scanned by rank 0 alone and walked from its beginning.
 *
 *  A reader opens with dkm_records_index(), and reads with dkm_text_open(), dkm_records_seek() and
 *  dkm_text_next().
 */
#ifndef DKMAP_IO_TEXT_RECORDS_H
#define DKMAP_IO_TEXT_RECORDS_H

#include <dkmap/context.h>

typedef struct dkm_text {
    dkm_ctx *ctx;
    const char *path; /**< borrowed */
    void *stream;     /**< of zlib */
    char *buffer;
    dkm_idx capacity, have, at; /**< of the buffer: bytes it can hold, holds, and that were read */
    dkm_idx base;               /**< offset of the buffer in the (unpacked) file */
    dkm_idx start;              /**< offset of the first line: 3 after a byte order mark, else 0 */
    dkm_idx offset, number; /**< of the line given last: its place in the file, its number from 1 */
    dkm_idx length;         /**< of the line given last */
    char *line;             /**< given last */
    int ended, again;
    dkm_idx most; /**< bytes a line may have: a gzipped file is not believed everything */
} dkm_text;

/** Open a file at its first line. Local. @p text must be zeroed or fresh; dkm_text_close() frees
 *  what it holds, also after a failure. @p path is borrowed.
 *  @return ok; DKM_ERR_IO for a path that is no readable file (named, with the reason) */
DKM_NODISCARD dkm_local dkm_text_open(dkm_text *text, dkm_ctx *ctx, const char *path);

/** Go to byte @p offset (of the unpacked file), where line @p number starts. Local. */
DKM_NODISCARD dkm_local dkm_text_seek(dkm_text *text, dkm_idx offset, dkm_idx number);

/** The next line, without its end (LF or CR LF), followed by a zero byte; NULL after the last.
 *
 *  Local. The caller may change it; it stays until the next call. A last line without an end
 *  counts; lines may hold zero bytes. Lines of a plain file may be of any length, those of a
 * gzipped one of 32 MiB and 4 times the bytes of the file: a few bytes could else unpack to a line
 * that no memory holds, and with the buffer that grows to it all stays below 64 MiB and 8 times the
 * file.
 */
DKM_NODISCARD dkm_local dkm_text_next(dkm_text *text, char **line, dkm_idx *length);

/** Tell that line @p number is longer than a line may be. Local. */
DKM_NODISCARD dkm_local dkm_text_tell_long(const dkm_text *text, dkm_idx number);

/** Let dkm_text_next() give the last line once more. Local. */
void dkm_text_again(dkm_text *text);

void dkm_text_close(dkm_text *text);

/** What makes a record of lines. */
typedef enum dkm_records_kind {
    DKM_RECORDS_LINES,       /**< every line is one, blank ones too */
    DKM_RECORDS_FILLED,      /**< every line is one but blank lines and those that begin with # */
    DKM_RECORDS_UNCOMMENTED, /**< every line is one but those that begin with # */
    DKM_RECORDS_HEADED /**< one begins at every line with > in front and goes on to the next */
} dkm_records_kind;

typedef struct dkm_records_mark {
    dkm_idx record, offset, number; /**< record from 0, its byte offset, its line from 1 */
} dkm_records_mark;

typedef struct dkm_records {
    dkm_ctx *ctx;
    dkm_records_kind kind;
    dkm_idx count; /**< records of the file */
    dkm_idx marked;
    dkm_records_mark *marks; /**< in ascending order; the same on all ranks */
} dkm_records;

/** Whether a line begins a record. Local. */
int dkm_records_begins(dkm_records_kind kind, const char *line, dkm_idx length);

/** Find the records of a file from byte @p offset on, where line @p number starts (0 and 1 for all
 *  of it).
 *
 *  Collective. dkm_records_clear() frees what @p records holds, also after a failure.
 *
 *  @return DKM_OK; DKM_ERR_IO for a path that is no readable file; DKM_ERR_FORMAT for a gzipped
 *          file that is torn; DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_status dkm_records_index(dkm_records *records, dkm_ctx *ctx, const char *path,
                                           dkm_records_kind kind, dkm_idx offset, dkm_idx number);

/** Place @p text so that dkm_text_next() gives the first line of record @p k, which must exist.
 *
 *  Local. Goes on from where @p text is when that is nearer than a mark.
 *
 *  @param[in] next  the record that @p text would come to next; -1 when not known
 */
DKM_NODISCARD dkm_local dkm_records_seek(const dkm_records *records, dkm_text *text, dkm_idx next,
                                         dkm_idx k);

void dkm_records_clear(dkm_records *records);

#endif

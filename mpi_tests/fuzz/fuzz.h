/** @file fuzz.h  What the fuzz targets share: one context a process, one file in memory, and the
 *  promises that every input is held against.
 *
 *  A target is fuzz_<name>.c, which defines LLVMFuzzerTestOneInput(); its inputs are the files of
 *  corpus/<name>. With DKMAP_FUZZ it is a libFuzzer program, else replay.c runs it over its corpus.
 *  A promise that is broken ends the process by abort(), so that libFuzzer saves the input.
 */
#ifndef DKMAP_FUZZ_H
#define DKMAP_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include <dkmap/extended.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** The context of this process: MPI is initialized at the first call. */
dkm_ctx *fuzz_ctx(void);

/** Begin an input. */
void fuzz_begin(void);

/** End an input that brought a file of @p bytes: no block of the context is left, and none had more
 *  than 64 MiB + @p factor * @p bytes. Readers of numbers keep to a factor of 8. */
void fuzz_end(size_t bytes, size_t factor);

/** The same for another context, in which @p live blocks were alive before. */
void fuzz_check_memory(dkm_ctx *ctx, dkm_idx live, size_t bytes, size_t factor);

/** End the process for a promise that is broken, told as @p what. */
_Noreturn void fuzz_broken(const char *what, const char *detail);

/** Make a file, in memory where the system can, and give its path: valid until the next call with
 *  the same ending. */
const char *fuzz_file(const char *ending, const void *data, size_t size);

/** The input as a string, to be freed with free(). */
char *fuzz_text(const uint8_t *data, size_t size);

/** Objects to try kernels and models on. */
typedef enum fuzz_kind {
    FUZZ_DENSE,
    FUZZ_SPARSE,
    FUZZ_STRINGS,
    FUZZ_LABELS,
    FUZZ_SETS,
    FUZZ_LABEL_SETS,
    FUZZ_GRAPHS,
    FUZZ_KINDS
} fuzz_kind;

/** A few of one kind, made once and kept. */
const dkm_data *fuzz_objects(fuzz_kind kind);

/** Read a file whole, from its middle on, and three rows of it.
 *  @return 1 where it was read, 0 where it was refused */
int fuzz_read(const char *where, dkm_role role, const char *type);

/** An input of a reader: its first byte chooses role, type and the base of
 *  svmlight indices, the rest is a file with this ending.
 *  @return 0 */
int fuzz_reader(const char *ending, const uint8_t *data, size_t size);

/** Whether a corpus is of use: of the inputs of a reader one at least was read as what it is,
 *  without its type being named. */
int fuzz_understands(void);

/** Role and type that a byte chooses; NULL where the type is left open. */
dkm_role fuzz_role(uint8_t choice);
const char *fuzz_type(uint8_t choice);

#endif

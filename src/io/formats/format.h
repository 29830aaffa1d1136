/** @file format.h  What a reader of one file format provides.
 *
 *  A format is one file and one line of DKM_FORMAT_LIST. Opening is collective on the ranks that
 *  read (io/readers.h), so that they build an index over the records of a text file together;
 *  reading is local, and the caller agrees afterwards.
 */
#ifndef DKMAP_IO_FORMATS_FORMAT_H
#define DKMAP_IO_FORMATS_FORMAT_H

#include "data/categories.h"
#include "data/objects.h"

typedef struct dkm_file {
    dkm_ctx *ctx;
    const char *path;    /**< without dataset and slice */
    const char *dataset; /**< of HDF5 and npz, else NULL */
    dkm_role role;
    dkm_type type;    /**< wanted by the user, else DKM_TYPE_COUNT; open() sets what it is */
    dkm_idx m, d;     /**< of all of the file: set by open() */
    char **names;     /**< of tables whose first line has them: d of them, the format's own */
    char *is_text;    /**< of tables: which columns are text, the format's own; NULL: none is */
    const char *skip; /**< columns that are not wanted and may be anything; NULL: all are wanted */
    dkm_categories *const *categories; /**< of columns that are text; NULL: all are numbers */
    int missing_ok;                    /**< whether NaN and empty cells are read as NaN */
    char about[128];                   /**< one line for a person: set by open() */
    void *state;                       /**< the format's own */
} dkm_file;

typedef struct dkm_format {
    const char *name;
    const char *endings; /**< blank-separated, with the dot */
    int is_text;         /**< lines that may be something else when the user says what */
    /** Whether the file can only be read from its beginning, so that one rank must read it for all;
     *  NULL: no. Local, on rank 0. */
    int (*is_forward)(dkm_file *file);
    /** Find m, d, type and whatever reading needs. Collective. */
    dkm_status (*open)(dkm_file *file);
    /** Read rows first, first + step, ... (count of them), columns [c0, c1) of @p d, into @p objs,
     *  which the format initializes. Local. Numbers that are NaN or infinite are refused, naming
     *  row and column (from 0, in the file) or line (from 1). */
    dkm_local (*read)(dkm_file *file, dkm_idx first, dkm_idx step, dkm_idx count, dkm_idx c0,
                      dkm_idx c1, dkm_objs *objs);
    void (*close)(dkm_file *file);
    /** Read one column of text as strings; NULL where there is no text. Local. */
    dkm_local (*read_text)(dkm_file *file, dkm_idx first, dkm_idx step, dkm_idx count, dkm_idx c,
                           dkm_objs *objs);
} dkm_format;

/** The format of a file: by its ending or, for text, by the type wanted of it (DKM_TYPE_COUNT when
 *  none is). A file of unknown ending whose type is wanted is text. Local.
 *  @return NULL when unknown */
const dkm_format *dkm_format_for(const char *path, dkm_type type);

/** All endings that are known, blank-separated. Local.
 *  @return @p list */
char *dkm_format_endings(char *list, size_t size);

/** A new format is a file that defines dkm_format_<name>, and its name in this list. */
#define DKM_FORMAT_LIST(X)                                                                         \
    X(npy)                                                                                         \
    X(npz)                                                                                         \
    X(csv)                                                                                         \
    X(hdf5)                                                                                        \
    X(idx)                                                                                         \
    X(svmlight)                                                                                    \
    X(lines)                                                                                       \
    X(fasta)                                                                                       \
    X(sets)                                                                                        \
    X(graphs)                                                                                      \
    X(mtx)                                                                                         \
    X(arff)                                                                                        \
    X(generated)

#define DKM_FORMAT_DECLARE(name) extern const dkm_format dkm_format_##name;
DKM_FORMAT_LIST(DKM_FORMAT_DECLARE)
DKM_FORMAT_DECLARE(label_sets) /* chosen by the type that the user names, never by its ending */

#endif

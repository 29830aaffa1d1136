/** @file edit.h  Valid files of parts, changed through the HDF5 library and sealed again.
 *
 *  An input is a recipe: which valid file to begin with, and edits of it, a few bytes each. So
 *  every input gets past the checksum and past HDF5 itself, to the checks of parts, sizes, types,
 *  links and numbers. The valid files are made by commands when a target begins.
 */
#ifndef DKMAP_FUZZ_EDIT_H
#define DKMAP_FUZZ_EDIT_H

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/core/args.h"
#include "cli/core/run.h"
#include "fuzz/fuzz.h"
#include "io/filesum.h"

enum { EDIT_WORDS = 40, EDIT_PATHS = 64, EDIT_NAME = 64, EDIT_CELLS = 4096, EDIT_SEAL = 24 };

/** A valid file, and the names of all that is in it. */
typedef struct edit_file {
    char *bytes;
    size_t length;
    char path[EDIT_PATHS][EDIT_NAME];
    int paths;
} edit_file;

/** Bytes of a recipe; zeros follow its end. */
typedef struct edit_recipe {
    const uint8_t *at, *end;
} edit_recipe;

static inline unsigned edit_next(edit_recipe *r)
{
    return r->at < r->end ? *r->at++ : 0;
}

/** Run a command in a context of its own; the memory it takes is checked as by fuzz_end().
 *  @return its exit status */
static inline int edit_run_args(const args *a, size_t bytes)
{
    dkm_ctx *ctx = NULL;
    int status;

    (void)fuzz_ctx(); /* begins MPI */
    if (dkm_ctx_create(MPI_COMM_SELF, &ctx) != DKM_OK)
        fuzz_broken("no context", "");
    status = run_in_context(a, ctx);
    fuzz_check_memory(ctx, 0, bytes, 8);
    dkm_ctx_destroy(&ctx);
    return status;
}

/** Run a command line, words apart by spaces, '@' being the folder and name that files begin with;
 *  it reads files of @p bytes in all. */
static inline int edit_run(const char *line, const char *stem, size_t bytes)
{
    static char words[EDIT_WORDS][300];
    char *list[EDIT_WORDS + 1] = {0}, copy[1000], *at = copy;
    int count = 1, status = -1;
    args a;

    snprintf(copy, sizeof copy, "%s", line);
    snprintf(words[0], sizeof words[0], "dkmap");
    for (char *word = strtok(at, " "); word && count < EDIT_WORDS - 1; word = strtok(NULL, " "))
        snprintf(words[count++], sizeof words[0], "%s%s", *word == '@' ? stem : "",
                 *word == '@' ? word + 1 : word);
    snprintf(words[count++], sizeof words[0], "--threads=1"); /* of BLAS, which would spin */
    for (int k = 0; k < count; k++)
        list[k] = words[k];
    if (args_read(&a, count, list, NULL) == ARGS_RUN)
        status = edit_run_args(&a, bytes);
    args_free(&a);
    return status;
}

static inline herr_t edit_note(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    edit_file *f = user;

    (void)group;
    (void)info;
    if (f->paths < EDIT_PATHS && strlen(name) < EDIT_NAME)
        snprintf(f->path[f->paths++], EDIT_NAME, "%s", name);
    return 0;
}

/** Take a file into memory and remove it. */
static inline void edit_take(const char *path, edit_file *f)
{
    FILE *in = fopen(path, "rb");
    hid_t file;

    if (!in)
        fuzz_broken("no valid file", path);
    fseek(in, 0, SEEK_END);
    f->length = (size_t)ftell(in);
    rewind(in);
    f->bytes = malloc(f->length);
    if (!f->bytes || fread(f->bytes, 1, f->length, in) != f->length)
        fuzz_broken("cannot read", path);
    fclose(in);
    file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, edit_note, f);
    H5Fclose(file);
    unlink(path);
}

static inline const char *edit_pick(const edit_file *f, edit_recipe *r)
{
    return f->path[edit_next(r) % (unsigned)f->paths];
}

static inline double edit_number(edit_recipe *r)
{
    static const double special[] = {NAN,        INFINITY, -INFINITY, 0,          -1,     1,
                                     2,          3,        1e300,     -1e300,     0.5,    7,
                                     2147483648, 9.3e18,   1e-300,    4294967297, 5e-324, 100};
    unsigned byte = edit_next(r);

    return byte < sizeof special / sizeof *special ? special[byte] : (double)byte - 128.0;
}

static inline int64_t edit_whole(edit_recipe *r)
{
    static const int64_t special[] = {0,         -1,        INT64_MAX, INT64_MIN, INT64_MAX - 1,
                                      INT32_MAX, 1LL << 32, 1LL << 61, 3,         4};
    unsigned byte = edit_next(r);

    return byte < sizeof special / sizeof *special ? special[byte] : (int64_t)byte - 20;
}

static inline const char *edit_text(edit_recipe *r, char room[256])
{
    static const char *const texts[] = {"",
                                        "linear",
                                        "rbf(sigma=1)",
                                        "gram",
                                        "distance",
                                        "ssk(r=2, lambda=0.5)",
                                        "dense",
                                        "sparse",
                                        "strings",
                                        "labels",
                                        "label-sets",
                                        "sets",
                                        "graph",
                                        "free",
                                        "sphere",
                                        "auto",
                                        "candidates",
                                        "extend(f.h5)",
                                        "tensor",
                                        "class",
                                        "strings(p=1)",
                                        "diag(lambda=0.5)",
                                        "identity",
                                        "spectrum(p=2)",
                                        "normalize(linear)",
                                        "rownorm(rbf(sigma=1))",
                                        "landmarks",
                                        "fisher",
                                        "lle",
                                        "markov",
                                        "gaussian",
                                        "multinomial",
                                        "extend(/etc/passwd)",
                                        "patch(height=1, width=2, size=1)",
                                        "abc",
                                        "diffusion(tau=1)",
                                        "letters"};
    unsigned byte = edit_next(r), length;

    if (byte < sizeof texts / sizeof *texts)
        return texts[byte];
    length = edit_next(r) % 40;
    for (unsigned k = 0; k < length; k++)
        room[k] = (char)edit_next(r);
    room[length] = '\0';
    return room;
}

static inline hid_t edit_string(const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1);

    H5Tset_size(type, strlen(text) + 1);
    return type;
}

/* Numbers of a dataset: one of them, or all. */
static inline void edit_values(hid_t file, const char *path, edit_recipe *r)
{
    static double cells[EDIT_CELLS];
    unsigned which = edit_next(r);
    double number = edit_number(r);
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(set);
    hssize_t count = H5Sget_simple_extent_npoints(space);

    if (count > 0 && count <= EDIT_CELLS &&
        H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, cells) >= 0) {
        for (hssize_t k = 0; k < count; k++)
            if (which == 255 || k == (hssize_t)which % count)
                cells[k] = number;
        H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, cells);
    }
    H5Sclose(space);
    H5Dclose(set);
}

/* Another dataset in the place of one: of another type, shape or storage. */
static inline void edit_replace(hid_t file, const char *path, edit_recipe *r)
{
    static const unsigned sizes[] = {0, 1, 2, 3, 4, 5, 6, 8, 12, 24};
    static double zeros[EDIT_CELLS];
    const hid_t types[] = {H5T_NATIVE_DOUBLE, H5T_NATIVE_INT64, H5T_NATIVE_UCHAR,
                           H5T_NATIVE_FLOAT,  H5T_NATIVE_SHORT, H5T_IEEE_F64BE};
    unsigned rank = edit_next(r) % 4, how = edit_next(r) % 8;
    hsize_t dims[3], cells = 1;
    hid_t type = types[edit_next(r) % 6], list = H5Pcreate(H5P_DATASET_CREATE), space, set;

    for (unsigned k = 0; k < 3; k++) {
        unsigned byte = edit_next(r);
        dims[k] = byte == 255 ? (hsize_t)1 << 40 : sizes[byte % 10];
        cells *= k < rank && dims[k] <= 24 ? dims[k] : 1;
    }
    if (how == 1)
        H5Pset_external(list, "/etc/passwd", 0, H5F_UNLIMITED);
    if (how == 2 && rank > 0) {
        hsize_t one[3] = {1, 1, 1};
        H5Pset_chunk(list, (int)rank, one);
        H5Pset_deflate(list, 1);
    }
    if (how == 3)
        H5Pset_layout(list, H5D_COMPACT);
    H5Ldelete(file, path, H5P_DEFAULT);
    space = how == 4 ? H5Screate(H5S_NULL) : H5Screate_simple((int)rank, dims, NULL);
    if (how == 5)
        H5Pset_virtual(list, space, "/etc/passwd", "/x", space);
    set = H5Dcreate2(file, path, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    if (set >= 0 && how != 1 && how != 5 && how != 6 && cells <= EDIT_CELLS && dims[0] <= 24 &&
        dims[1] <= 24 && dims[2] <= 24)
        H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(list);
}

static inline void edit_put_text(hid_t file, const char *path, const char *text)
{
    hid_t type = edit_string(text), space = H5Screate(H5S_SCALAR), set;

    H5Ldelete(file, path, H5P_DEFAULT);
    set = H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text);
    H5Dclose(set);
    H5Sclose(space);
    H5Tclose(type);
}

static inline void edit_attribute(hid_t at, const char *name, hid_t type, const void *number)
{
    hid_t space = H5Screate(H5S_SCALAR), attribute;

    H5Adelete(at, name);
    attribute = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, number);
    H5Aclose(attribute);
    H5Sclose(space);
}

/* What an object says of itself. */
static inline void edit_said(hid_t file, const char *path, edit_recipe *r)
{
    static const char *const names[] = {"rows", "cols", "type", "format_version", "seed", "ranks"};
    unsigned which = edit_next(r) % 6;
    hid_t at = H5Oopen(file, which > 2 ? "/" : path, H5P_DEFAULT), type;
    int64_t number;
    char room[256];
    const char *text;

    if (which == 2) {
        text = edit_text(r, room);
        type = edit_string(text);
        edit_attribute(at, names[which], type, text);
        H5Tclose(type);
    } else {
        number = edit_whole(r);
        edit_attribute(at, names[which], H5T_NATIVE_INT64, &number);
    }
    H5Oclose(at);
}

/* The list of parts, or the method, anew. */
static inline void edit_root(const edit_file *f, hid_t file, edit_recipe *r)
{
    static const char *const methods[] = {"krr", "krr-primal", "kpca",       "kde",
                                          "knn", "hopfield",   "svm",        "extend",
                                          "lle", "jkm",        "checkpoint", "jkm-chain"};
    unsigned how = edit_next(r) % 6, which = edit_next(r);
    char list[EDIT_PATHS * EDIT_NAME] = "";
    size_t used = 0;
    hid_t root = H5Oopen(file, "/", H5P_DEFAULT), type;

    if (how == 0) {
        const char *name = methods[which % 12];
        type = edit_string(name);
        edit_attribute(root, "method", type, name);
        H5Tclose(type);
    } else {
        for (int k = 0; k < f->paths; k++) {
            int times = strchr(f->path[k], '/') != NULL ? how == 4 && (unsigned)k == which : 1;
            if ((unsigned)k == which % (unsigned)f->paths)
                times = how == 1 ? 0 : how == 2 ? 2 : times;
            for (; times > 0; times--)
                used += (size_t)snprintf(list + used, sizeof list - used, "%s\n", f->path[k]);
        }
        if (how == 3 && used > 0)
            list[used - 1 - which % used] = '\0';
        type = edit_string(list);
        edit_attribute(root, "parts", type, list);
        H5Tclose(type);
    }
    H5Oclose(root);
}

static inline void edit_link(const edit_file *f, hid_t file, const char *path, edit_recipe *r)
{
    unsigned how = edit_next(r) % 5;
    const char *other = edit_pick(f, r);

    if (how == 4) {
        H5Lmove(file, path, file, "moved", H5P_DEFAULT, H5P_DEFAULT);
        H5Lmove(file, other, file, path, H5P_DEFAULT, H5P_DEFAULT);
        H5Lmove(file, "moved", file, other, H5P_DEFAULT, H5P_DEFAULT);
        return;
    }
    if (strcmp(path, other) == 0)
        how = how == 1 ? 0 : how;
    H5Ldelete(file, path, H5P_DEFAULT);
    if (how == 1)
        H5Lcreate_hard(file, other, file, path, H5P_DEFAULT, H5P_DEFAULT);
    if (how == 2)
        H5Lcreate_soft(other, file, path, H5P_DEFAULT, H5P_DEFAULT);
    if (how == 3)
        H5Lcreate_external("/etc/passwd", other, file, path, H5P_DEFAULT, H5P_DEFAULT);
}

static inline void edit_once(const edit_file *f, hid_t file, edit_recipe *r)
{
    unsigned what = edit_next(r) % 8;
    const char *path = edit_pick(f, r);
    char room[256];

    if (what <= 1)
        edit_values(file, path, r);
    if (what == 2)
        edit_replace(file, path, r);
    if (what == 3)
        edit_put_text(file, path, edit_text(r, room));
    if (what == 4)
        edit_said(file, path, r);
    if (what == 5)
        edit_root(f, file, r);
    if (what == 6)
        edit_link(f, file, path, r);
    if (what == 7)
        H5Ldelete(file, path, H5P_DEFAULT);
}

/* Seal a file that HDF5 has closed. @return its length */
static inline size_t edit_seal(const char *path)
{
    static char *bytes;
    static size_t room;
    FILE *file = fopen(path, "r+b");
    int64_t length;
    uint64_t sum;

    if (!file)
        fuzz_broken("cannot open", path);
    fseek(file, 0, SEEK_END);
    length = ftell(file);
    rewind(file);
    if ((size_t)length > room) {
        room = 2 * (size_t)length;
        bytes = realloc(bytes, room);
    }
    if (!bytes || fread(bytes, 1, (size_t)length, file) != (size_t)length)
        fuzz_broken("cannot read", path);
    sum = dkm_filesum(0, bytes, length);
    fseek(file, 0, SEEK_END);
    fwrite("dkm sum3", 8, 1, file);
    fwrite(&length, sizeof length, 1, file);
    fwrite(&sum, sizeof sum, 1, file);
    fclose(file);
    return (size_t)length + EDIT_SEAL;
}

/** Write a valid file to @p path, which has its bytes already, as the recipe changes it.
 *  @return its length */
static inline size_t edit_all(const edit_file *f, const char *path, edit_recipe *r)
{
    hid_t file;

    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    for (int k = 0; k < 8 && r->at < r->end; k++)
        edit_once(f, file, r);
    H5Fclose(file);
    return edit_seal(path);
}

#endif

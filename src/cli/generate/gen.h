/** @file gen.h  What the problems of `dkmap gen` share: files made row by row.
 *
 *  A row is a function of the seed and its own number, so that files are the same on any number of
 *  ranks. All ranks write, in batches: memory does not grow with the number of rows.
 */
#ifndef DKMAP_CLI_GENERATE_GEN_H
#define DKMAP_CLI_GENERATE_GEN_H

#include <dkmap/data.h>

#include "cli/core/run.h"

#define ROW_N                                                                                      \
    {                                                                                              \
        .name = "n", .kind = OPT_INT, .flags = OPT_REQUIRED, .min = 1, .metavar = "N",             \
        .help = "how many examples to make"                                                        \
    }
#define ROW_OUT_DIR                                                                                \
    {                                                                                              \
        .name = "out-dir", .kind = OPT_TEXT, .flags = OPT_REQUIRED, .metavar = "DIR",              \
        .help = "folder to write into; made where there is none"                                   \
    }

/** Random numbers of one row, one after the other. */
typedef struct gen_dice {
    uint64_t seed, stream, row, thrown;
} gen_dice;

/** Dice for row @p i of the problem that @p stream belongs to. Local. */
gen_dice gen_dice_of(const run *r, uint64_t stream, dkm_idx i);
/** Uniform in [0, 1); normal; an integer below n. Local. */
double gen_uniform(gen_dice *dice);
double gen_normal(gen_dice *dice);
dkm_idx gen_below(gen_dice *dice, dkm_idx n);

/** Make the folder --out-dir where there is none. Collective. */
DKM_NODISCARD dkm_status gen_make_dir(run *r);

enum { GEN_STRING_MOST = 64 };

/** A file of --out-dir: its name and what makes row i of it. */
typedef struct gen_file {
    const char *name;
    dkm_idx n, d; /**< rows; columns of dense rows, 0 of labels, negative of strings */
    /** Numbers of a dense row, or a label. Local. */
    void (*numbers)(void *user, dkm_idx i, double *row);
    /** A string of at most GEN_STRING_MOST letters; its length is returned. Local. */
    dkm_idx (*letters)(void *user, dkm_idx i, char *string);
    void *user;
} gen_file;

/** Write a file and tell its name. Collective. */
DKM_NODISCARD dkm_status gen_write(run *r, const gen_file *file);

#endif

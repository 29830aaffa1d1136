/** @file completion_eval.h  What completing a kernel matrix is worth, over draws of what is
 *  missing and weights of the kernels: `extend complete` with labels. */
#ifndef DKMAP_CLI_COMMANDS_EXTEND_COMPLETION_EVAL_H
#define DKMAP_CLI_COMMANDS_EXTEND_COMPLETION_EVAL_H

#include <dkmap/complete.h>

#include "cli/core/run.h"

enum { COMPLETION_MASKS = 16 }; /**< at most */

/** Rows of the option table. */
#define ROWS_COMPLETION_TRIAL                                                                      \
    {.name = "y",                                                                                  \
     .kind = OPT_TEXT,                                                                             \
     .metavar = "FILE",                                                                            \
     .help = "labels of the objects: tell how well support vector machines, one class against "    \
             "the rest, do on the joint kernel, instead of writing it"},                           \
        {.name = "y-type",                                                                         \
         .kind = OPT_CHOICE,                                                                       \
         .metavar = "TYPE",                                                                        \
         .choices = "labels|",                                                                     \
         .help = "what --y holds, where the file's ending does not say"},                          \
        {.name = "missing",                                                                        \
         .kind = OPT_REAL,                                                                         \
         .flags = OPT_LIST,                                                                        \
         .metavar = "P[,P...]",                                                                    \
         .help = "with --y: per cent of the objects to hide, drawn --repeat times, beside or "     \
                 "in place of the masks of --observed"},                                           \
        {.name = "repeat",                                                                         \
         .kind = OPT_INT,                                                                          \
         .min = 1,                                                                                 \
         .default_text = "5",                                                                      \
         .metavar = "N",                                                                           \
         .help = "with --y: draws of what is missing and of the folds"},                           \
        {.name = "folds",                                                                          \
         .kind = OPT_INT,                                                                          \
         .min = 2,                                                                                 \
         .default_text = "2",                                                                      \
         .metavar = "N",                                                                           \
         .help = "with --y: each is judged by what was learned from the others"},                  \
    {                                                                                              \
        .name = "C", .kind = OPT_REAL, .default_text = "10", .metavar = "C",                       \
        .help = "with --y: weight > 0 of examples on the wrong side of the margin"                 \
    }

/** The matrices, and the masks of --observed. */
typedef struct completion_input {
    const dkm_data *K, *S;
    int masks;
    dkm_data *observed[COMPLETION_MASKS];
} completion_input;

/** Try every share that is missing and every mask with every lambda, and tell. Collective. */
DKM_NODISCARD dkm_status completion_trial(run *r, const completion_input *in,
                                          const dkm_complete_settings *settings);

#endif

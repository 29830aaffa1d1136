/** @file landmark_options.h  Options of the solver pcg, and what is reported. */
#ifndef DKMAP_CLI_OPTIONS_LANDMARK_OPTIONS_H
#define DKMAP_CLI_OPTIONS_LANDMARK_OPTIONS_H

#include <dkmap/nystroem.h>

#include "cli/core/run.h"

#define WORD_OF_CHOICE(code, name) name "|"
#define CHOICE_WORDS               DKM_LANDMARK_LIST(WORD_OF_CHOICE)

#define ROW_LANDMARKS(text)                                                                        \
    {                                                                                              \
        .name = "landmarks", .kind = OPT_WHOLE, .least = 1, .metavar = "N", .help = text           \
    }
#define ROW_REDUCE(text)                                                                           \
    {                                                                                              \
        .name = "reduce", .kind = OPT_WHOLE, .least = 1, .metavar = "N", .help = text              \
    }
#define ROW_LANDMARK_CHOICE                                                                        \
    {                                                                                              \
        .name = "landmark-choice", .kind = OPT_WORD, .metavar = "HOW", .choices = CHOICE_WORDS,    \
        .default_text = "uniform",                                                                 \
        .help = "which ones: any, those that others explain least, or by randomly pivoted "        \
                "Cholesky"                                                                         \
    }

/** Rows of the option table of a method that has the solver. */
#define ROWS_LANDMARKS                                                                             \
    ROW_LANDMARKS(                                                                                 \
        "of the solver pcg: how many of the inputs stand for all; 10 sqrt(m) when not given"),     \
        ROW_LANDMARK_CHOICE,                                                                       \
        {.name = "centers",                                                                        \
         .kind = OPT_WORD,                                                                         \
         .metavar = "WHICH",                                                                       \
         .choices = "landmarks|all|",                                                              \
         .default_text = "landmarks",                                                              \
         .help = "what f(x) is made of: kernel values to landmarks, or to all inputs, which is "   \
                 "the exact fit found by iteration"},                                              \
        {.name = "tolerance",                                                                      \
         .kind = OPT_REAL,                                                                         \
         .metavar = "T",                                                                           \
         .help = "relative residual at which steps of pcg end: 1e-7, with all centers 1e-12"},     \
        {.name = "keep",                                                                           \
         .kind = OPT_WORD,                                                                         \
         .metavar = "WORD",                                                                        \
         .choices = "auto|matrix|nothing|",                                                        \
         .default_text = "auto",                                                                   \
         .help = "kernel values of pcg: keep them, compute them anew in every step, or keep "      \
                 "them where they fit the memory"},                                                \
    {                                                                                              \
        .name = "steps", .kind = OPT_WHOLE, .least = 1, .most = DKM_NYSTROEM_STEPS,                \
        .metavar = "N", .help = "of pcg, at most", .default_text = "200"                           \
    }

/** Those options as settings; the precision is that of --precision. Logically collective.
 *  @return DKM_OK; DKM_ERR_ARG */
DKM_NODISCARD
dkm_status landmark_settings(run *r, dkm_nystroem_settings *settings);

/** --landmarks and --landmark-choice alone. Local. */
void landmark_choice(const run *r, dkm_nystroem_settings *settings);

/** Refuse options of pcg where `cv` takes another solver. Local.
 *  @param[in] svr  whether --tolerance is that of support vector regression */
DKM_NODISCARD
dkm_local landmark_check_cv(run *r, int svr);

/** --time in seconds; 0 when it is not given. Logically collective.
 *  @return DKM_OK; DKM_ERR_ARG */
DKM_NODISCARD
dkm_status landmark_seconds(run *r, double *seconds);

/** Tell how the system was solved. Local; rank 0 prints. */
void landmark_tell(run *r, const dkm_nystroem_info *info);

#endif

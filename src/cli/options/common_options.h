/** @file common_options.h  Rows that the option tables of several commands share. */
#ifndef DKMAP_CLI_OPTIONS_COMMON_OPTIONS_H
#define DKMAP_CLI_OPTIONS_COMMON_OPTIONS_H

#include <dkmap/data.h>

#include "cli/core/option.h"

#define WORD_OF_TYPE(code, name) name "|"
#define TYPE_WORDS               DKM_TYPE_LIST(WORD_OF_TYPE)

#define ROW_X(text)                                                                                \
    {                                                                                              \
        .name = "x", .kind = OPT_TEXT, .flags = OPT_REQUIRED, .metavar = "FILE", .help = text      \
    }
#define ROW_Y(text)                                                                                \
    {                                                                                              \
        .name = "y", .kind = OPT_TEXT, .flags = OPT_REQUIRED, .metavar = "FILE", .help = text      \
    }
#define ROW_X_TYPE                                                                                 \
    {                                                                                              \
        .name = "x-type", .kind = OPT_CHOICE, .metavar = "TYPE", .choices = TYPE_WORDS,            \
        .help = "what inputs are, where the file's ending does not say"                            \
    }
#define ROW_SVM_BASE                                                                               \
    {                                                                                              \
        .name = "svm-base", .kind = OPT_CHOICE, .metavar = "BASE", .choices = "auto|0|1|",         \
        .default_text = "auto",                                                                    \
        .help = "what the indices of svmlight files count from; auto: as in the model, else from " \
                "0 if the index 0 occurs in the first file read"                                   \
    }
#define ROWS_TABLE                                                                                 \
    {.name = "missing",                                                                            \
     .kind = OPT_CHOICE,                                                                           \
     .metavar = "WORD",                                                                            \
     .choices = "fail|drop|mean|median|",                                                          \
     .default_text = "fail",                                                                       \
     .help = "what to do with NaN and empty cells of the inputs: refuse them, leave their rows "   \
             "out, or put the mean or median of the column in their place, also in new inputs"},   \
    {                                                                                              \
        .name = "standardize", .kind = OPT_FLAG,                                                   \
        .help =                                                                                    \
            "bring the columns of the inputs to mean 0 and deviation 1, whatever rows weigh, and " \
            "new inputs by the same numbers"                                                       \
    }
#define ROW_LABELS                                                                                 \
    {                                                                                              \
        .name = "labels", .kind = OPT_TEXT, .flags = OPT_OF_ARFF, .metavar = "N|FILE",             \
        .help = "of ARFF files: how many of the last columns are labels, or the XML file that "    \
                "names them; inputs are the columns before them, outputs the label sets"           \
    }
#define ROW_Y_TYPE                                                                                 \
    {                                                                                              \
        .name = "y-type", .kind = OPT_CHOICE, .metavar = "TYPE", .choices = TYPE_WORDS,            \
        .help = "what outputs are, where the file's ending does not say"                           \
    }
#define ROW_KX                                                                                     \
    {                                                                                              \
        .name = "kx", .kind = OPT_TEXT, .flags = OPT_REQUIRED, .metavar = "KERNEL",                \
        .help = "kernel of the inputs, such as linear, poly(degree=3, c=1), rbf(sigma=2), "        \
                "matern(nu=1.5, sigma=1), rq(alpha=1, sigma=1), laplace(sigma=1), "                \
                "expdot(sigma=1), cosine, tanimoto; of strings ssk(r=3, lambda=0.01), "            \
                "spectrum(p=3), mismatch(p=5, k=1), strings(p=3), "                                \
                "smith-waterman(open=10, extend=1); class, labels, set, "                          \
                "diffusion(tau=1), gram, "                                                         \
                "distance; and of kernels sum, product, scale, power, exp, normalize, rownorm, "   \
                "rbf"                                                                              \
    }
#define ROW_KERNEL_DIR                                                                             \
    {                                                                                              \
        .name = "kernel-dir", .kind = OPT_TEXT, .metavar = "DIR",                                  \
        .help = "where the files are that the model's kernel names, as extend(q.h5); by default "  \
                "beside the model"                                                                 \
    }
#define ROW_FACTOR                                                                                 \
    {                                                                                              \
        .name = "factor", .kind = OPT_CHOICE, .metavar = "WORD", .choices = "copy|refer|drop|",    \
        .default_text = "copy",                                                                    \
        .help =                                                                                    \
            "copy: the new file has the whole factor; refer: it names MODEL for the rows that "    \
            "are there, which must stay beside it as it is, else the factor is computed anew "     \
            "when it is "                                                                          \
            "needed; drop: it has none, and nothing can be added or removed any more"              \
    }
#define ROW_OUTPUT(text)                                                                           \
    {                                                                                              \
        .name = "output", .letter = 'o', .kind = OPT_TEXT, .flags = OPT_REQUIRED,                  \
        .metavar = "FILE", .help = text                                                            \
    }

#endif

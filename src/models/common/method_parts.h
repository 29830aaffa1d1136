/** @file method_parts.h  Settings that several methods share: their rows, what they come to, and
 * what is reported of what they set.
 */
#ifndef DKMAP_MODELS_COMMON_METHOD_PARTS_H
#define DKMAP_MODELS_COMMON_METHOD_PARTS_H

#include <dkmap/eigen.h>
#include <dkmap/nystroem.h>
#include <dkmap/ridge.h>

#include "models/common/cost_model.h"
#include "models/registry/method_impl.h"

#define DKM_ROW_KX                                                                                 \
    {                                                                                              \
        .name = "kx", .kind = DKM_SETTING_KERNEL, .flags = DKM_SETTING_REQUIRED,                   \
        .metavar = "KERNEL", .help = DKM_KX_HELP                                                   \
    }
/** The same for a method that chooses a kernel itself: @p text says which. */
#define DKM_ROW_KX_OR(text)                                                                        \
    {                                                                                              \
        .name = "kx", .kind = DKM_SETTING_KERNEL, .metavar = "KERNEL", .help = DKM_KX_HELP text    \
    }
#define DKM_KX_HELP                                                                                \
    "kernel of the inputs, such as linear, poly(degree=3, c=1), rbf(sigma=2), matern(nu=1.5, "     \
    "sigma=1), rq(alpha=1, sigma=1), laplace(sigma=1), expdot(sigma=1), cosine, tanimoto; of "     \
    "strings ssk(r=3, lambda=0.01), spectrum(p=3), mismatch(p=5, k=1), strings(p=3), "             \
    "smith-waterman(open=10, extend=1), weighted-degree(degree=5, shift=0); of images "            \
    "local-patch(shape=28x28, width=9, degree=2, power=1); of graphs weisfeiler-lehman(h=3); "     \
    "class, labels, set, diffusion(tau=1), gram, distance; and of kernels sum, product, scale, "   \
    "power, exp, normalize, rownorm, rbf, on"
#define DKM_ROW_REGULARIZER(text)                                                                  \
    {                                                                                              \
        .name = "regularizer", .kind = DKM_SETTING_CHOICE, .metavar = "WORD",                      \
        .choices = "rkhs|l2-coef|", .default_text = "rkhs", .old_names = "penalty|",               \
        .old_choices = "weights|coefficients|", .help = text                                       \
    }
#define DKM_ROW_PRECISION(with)                                                                    \
    {                                                                                              \
        .name = "precision", .kind = DKM_SETTING_CHOICE, .metavar = "WORD",                        \
        .choices = "auto|double|mixed|single|", .default_text = "auto", .only_with = with,         \
        .help = "of the factor: mixed refines a single one to double accuracy, which is faster"    \
    }
#define DKM_ROWS_TUNE                                                                              \
    {.name = "tune",                                                                               \
     .kind = DKM_SETTING_FLAG,                                                                     \
     .aliases = "autotune|", /* Open MPI's mpirun looks for a --tune of its own here too */        \
     .not_in_cv = "is for fit: cv tries the values it is given",                                   \
     .help = "begin at the numbers given, and follow the gradient of the leave-one-out error by "  \
             "all numbers > 0 of the kernel and the ridge; needs NLopt"},                          \
        {.name = "tune-fits",                                                                      \
         .kind = DKM_SETTING_INT,                                                                  \
         .min = 2,                                                                                 \
         .max = 100000,                                                                            \
         .metavar = "N",                                                                           \
         .default_text = "100",                                                                    \
         .only_with = "tune|",                                                                     \
         .not_in_cv = "is for fit --tune",                                                         \
         .help = "look at the error so many times at most, all starts together"},                  \
        {.name = "tune-starts",                                                                    \
         .kind = DKM_SETTING_INT,                                                                  \
         .min = 1,                                                                                 \
         .max = 9,                                                                                 \
         .metavar = "N",                                                                           \
         .default_text = "3",                                                                      \
         .only_with = "tune|",                                                                     \
         .not_in_cv = "is for fit --tune",                                                         \
         .help = "searches: from the numbers given, and from 1/3, 3, 1/9, ... times those of the " \
                 "kernel with a hundredth of the ridge"},                                          \
        {.name = "tune-subset",                                                                    \
         .kind = DKM_SETTING_INT,                                                                  \
         .min = 10,                                                                                \
         .metavar = "N",                                                                           \
         .only_with = "tune|",                                                                     \
         .not_in_cv = "is for fit --tune",                                                         \
         .help = "begin with so many of the examples, drawn at random, go on with twice as "       \
                 "many, and end by a search by all; when not given a sixteenth, 500 at least, of " \
                 "2000 examples or more, of kde none"},                                            \
    {                                                                                              \
        .name = "tune-widths", .kind = DKM_SETTING_CHOICE, .metavar = "WORD",                      \
        .choices = "given|columns|", .default_text = "given", .only_with = "tune|",                \
        .not_in_cv = "is for fit --tune",                                                          \
        .help = "columns: after a third of the looks, give every column of dense inputs a width "  \
                "of its own"                                                                       \
    }
#define DKM_ROW_COMPONENTS                                                                         \
    {                                                                                              \
        .name = "components", .kind = DKM_SETTING_TEXT,                                            \
        .flags = DKM_SETTING_REQUIRED | DKM_SETTING_SEARCH, .metavar = "P|F%|all",                 \
        .help = "how many components, the share of variance they must explain (95%), or all"       \
    }
#define DKM_ROW_EIGENSOLVER                                                                        \
    {                                                                                              \
        .name = "eigensolver", .kind = DKM_SETTING_CHOICE, .metavar = "HOW",                       \
        .choices = "auto|block|full|", .default_text = "auto",                                     \
        .help = "block finds leading components by matrix products, full decomposes all"           \
    }
#define DKM_WORD_OF_CHOICE(code, name) name "|"
#define DKM_ROW_LANDMARK_CHOICE(with)                                                              \
    {                                                                                              \
        .name = "landmark-choice", .kind = DKM_SETTING_CHOICE, .metavar = "HOW",                   \
        .choices = DKM_LANDMARK_LIST(DKM_WORD_OF_CHOICE), .default_text = "uniform",               \
        .only_with = with,                                                                         \
        .help = "which ones: any, those that others explain least, or by randomly pivoted "        \
                "Cholesky"                                                                         \
    }

/** Rows of the solver pcg. @p with says what they go with, @p tolerance_with what the tolerance does,
 *  @p choice_with the choice of landmarks. */
#define DKM_ROWS_PCG(with, choice_with, tolerance_with)                                            \
    {.name = "landmarks",                                                                          \
     .kind = DKM_SETTING_INT,                                                                      \
     .min = 1,                                                                                     \
     .metavar = "N",                                                                               \
     .only_with = with,                                                                            \
     .help = "of the solver pcg: how many of the inputs stand for all; 10 sqrt(m) when not "       \
             "given"},                                                                             \
        DKM_ROW_LANDMARK_CHOICE(choice_with),                                                      \
        {.name = "basis",                                                                          \
         .kind = DKM_SETTING_CHOICE,                                                               \
         .metavar = "WHICH",                                                                       \
         .choices = "landmarks|all|",                                                              \
         .default_text = "landmarks",                                                              \
         .old_names = "centers|",                                                                  \
         .only_with = with,                                                                        \
         .help = "what f(x) is made of: kernel values to landmarks, or to all inputs, which is "   \
                 "the exact fit found by iteration"},                                              \
        {.name = "tolerance",                                                                      \
         .kind = DKM_SETTING_REAL,                                                                 \
         .flags = DKM_SETTING_POSITIVE | DKM_SETTING_BELOW_ONE,                                    \
         .metavar = "T",                                                                           \
         .only_with = tolerance_with,                                                              \
         .help = "relative residual at which iterations of pcg end: 1e-7, with all inputs as "     \
                 "basis 1e-12"},                                                                   \
        {.name = "cache",                                                                          \
         .kind = DKM_SETTING_CHOICE,                                                               \
         .metavar = "WORD",                                                                        \
         .choices = "auto|matrix|nothing|",                                                        \
         .default_text = "auto",                                                                   \
         .old_names = "keep|",                                                                     \
         .only_with = with,                                                                        \
         .help = "kernel values of pcg: keep them in memory, compute them anew in every "          \
                 "iteration, or keep them where they fit the memory"},                             \
    {                                                                                              \
        .name = "max-iter", .kind = DKM_SETTING_INT, .min = 1, .max = DKM_NYSTROEM_STEPS,          \
        .metavar = "N", .help = "iterations of pcg, at most", .default_text = "200",               \
        .old_names = "steps|", .only_with = with                                                   \
    }

/** Examples to learn from: at least one, and as many outputs as inputs. Local.
 *  @param[in] Y  NULL for methods without outputs */
DKM_NODISCARD dkm_local dkm_check_examples(dkm_ctx *ctx, dkm_idx m, const dkm_data *Y);

/** components and eigensolver. Local.
 *  @return ok; DKM_ERR_ARG */
DKM_NODISCARD dkm_local dkm_read_eigen(dkm_ctx *ctx, const dkm_settings *settings,
                                       dkm_eigen_settings *eigen);

/** precision. Local. */
dkm_ridge_precision dkm_read_precision(const dkm_settings *settings);

/** The rows of pcg, with the precision. Local. */
void dkm_read_nystroem(const dkm_settings *settings, dkm_nystroem_settings *nystroem);

/** How many components were found, with a warning where that is fewer than were asked for. */
void dkm_report_components(dkm_report *report, const dkm_eigen_info *info);
/** The same, with what is known of an eigendecomposition. */
void dkm_report_eigen(dkm_report *report, const dkm_eigen_info *info);
/** How a ridge system was solved, exactly or by pcg. */
void dkm_report_ridge(dkm_report *report, const dkm_ridge_info *info);
void dkm_report_nystroem(dkm_report *report, const dkm_nystroem_info *info);

/** Components to reckon with in an estimate; those that a share of the variance will take are
 *  guessed, and the note says so. Local. */
dkm_idx dkm_estimate_components(const dkm_eigen_settings *eigen, dkm_cost *cost);
/** The same for the numbers of an output. */
dkm_idx dkm_estimate_outputs(const dkm_workload *work, dkm_cost *cost);
/** Classes to reckon with, which are not known before the labels are read. Local. */
dkm_idx dkm_estimate_classes(const dkm_workload *work, dkm_cost *cost);
/** Whether a fit factors in single precision. Local. */
int dkm_estimate_mixed(dkm_ridge_precision precision, dkm_idx m);

#endif

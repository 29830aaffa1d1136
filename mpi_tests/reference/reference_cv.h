/** @file reference_cv.h  Cross-validation by a slow reference: deal the same folds, select the
 * examples, fit and predict with the model itself, one setting and one fold after the other. */
#ifndef DKMAP_REFERENCE_CV_H
#define DKMAP_REFERENCE_CV_H

#include <dkmap/cv.h>

enum { CV_M = 41, CV_D = 2, CV_FOLDS = 3, CV_FOLDS_MOST = 8, CV_KERNELS = 2, CV_GAMMAS = 2 };
enum { CV_SETTINGS_MOST = 24 };

extern const double cv_gammas[CV_GAMMAS];

typedef enum cv_output { CV_DENSE, CV_LABELS, CV_STRINGS } cv_output;

/** One problem with all it points to: CV_FOLDS folds of CV_M examples, not nested. */
typedef struct cv_sample {
    dkm_data *X, *Y;
    dkm_kernel *kx[CV_KERNELS], *ky[CV_KERNELS];
    dkm_cv_ridge ridge;
    dkm_cv_problem problem;
} cv_sample;

/** Collective; cv_sample_close() frees, also after a failure. */
dkm_status cv_sample_open(dkm_ctx *ctx, cv_output kind, const char *ky, cv_sample *s);
void cv_sample_close(cv_sample *s);

/** Fit a setting with the model of the method itself. Collective. */
typedef dkm_status (*cv_fitter)(cv_sample *s, dkm_ctx *ctx, dkm_idx kernel, dkm_idx setting,
                                const dkm_data *X, const dkm_data *Y, dkm_model **model);
dkm_status cv_fit_krr(cv_sample *s, dkm_ctx *ctx, dkm_idx kernel, dkm_idx setting,
                      const dkm_data *X, const dkm_data *Y, dkm_model **model);
dkm_status cv_fit_kde(cv_sample *s, dkm_ctx *ctx, dkm_idx kernel, dkm_idx setting,
                      const dkm_data *X, const dkm_data *Y, dkm_model **model);

/** Check the table, the choice of each outer fold and its loss against refits, with all ranks
 *  together and in groups: every number on few ranks, one that does not divide them on many. */
void cv_compare(cv_sample *s, cv_fitter fit);

#endif

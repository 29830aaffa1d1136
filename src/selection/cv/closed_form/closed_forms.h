/** @file closed_forms.h  Methods with a closed form for the folds of cross-validation.
 *
 *  Without one, or with a setting that it does not honor, cross-validation fits the method anew for
 *  every setting and fold.
 */
#ifndef DKMAP_SELECTION_CV_CLOSED_FORM_CLOSED_FORMS_H
#define DKMAP_SELECTION_CV_CLOSED_FORM_CLOSED_FORMS_H

#include <dkmap/cv.h>
#include <dkmap/method.h>

/** A setting that a closed form honors: what it predicts is what a fit would. */
typedef struct dkm_cv_honored {
    const char *name;
    const char *choices; /**< those of its choices that it honors, each followed by '|'; NULL: every
                            value */
} dkm_cv_honored;

typedef struct dkm_cv_closed_form {
    const char *method;
    const dkm_cv_method *folds;
    const dkm_cv_honored *honors; /**< ended by an empty row */
    /** Whether fits are faster than the closed form all the same. Local; NULL: they never are. */
    int (*fits_are_faster)(const dkm_settings *settings, const dkm_kernel *kx);
} dkm_cv_closed_form;

/** The closed form of a method; NULL if it has none. Local. */
const dkm_cv_closed_form *dkm_cv_closed_form_of(const char *method);

/** Whether it honors every setting that differs from its default. Local. */
int dkm_cv_honors(const dkm_cv_closed_form *form, const dkm_settings *settings);

#endif

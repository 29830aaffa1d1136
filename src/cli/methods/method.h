/** @file method.h  The methods that learn from examples, as every command that names one sees them.
 *
 *  A method is one struct: its options, the settings they make, and the fit. `fit`, and every other
 *  command that takes a method, add options of their own to those and list the methods they serve,
 *  one word each.
 */
#ifndef DKMAP_CLI_METHODS_METHOD_H
#define DKMAP_CLI_METHODS_METHOD_H

#include <dkmap/cv.h>
#include <dkmap/hopfield.h>
#include <dkmap/jkm.h>
#include <dkmap/kde.h>
#include <dkmap/knn.h>
#include <dkmap/kpca.h>
#include <dkmap/krr.h>
#include <dkmap/svm.h>

#include "cli/core/run.h"

/** What the options of a method come to. */
typedef struct method_settings {
    dkm_kernel *kx, *ky; /**< NULL where the method has no such kernel */
    union {
        dkm_krr_settings krr;
        dkm_kpca_settings kpca;
        dkm_kde_settings kde;
        dkm_knn_settings knn;
        dkm_hopfield_settings hopfield;
        dkm_svm_settings svm;
        dkm_jkm_settings jkm;
    };
    double gammas[DKM_PATH_MOST]; /**< what krr.gammas points to */
    const char *extra;            /**< of kde: a file of outputs without inputs, or NULL */
} method_settings;

/** One setting of a method that is a ridge regression. */
typedef struct ridge_point {
    double gamma;
    int center;
    dkm_eigen_settings eigen; /**< of the outputs, where they are decomposed */
} ridge_point;

/** What is known of a fit. */
typedef union method_info {
    dkm_krr_info krr;
    dkm_kpca_info kpca;
    dkm_kde_info kde;
    dkm_hopfield_info hopfield;
    dkm_svm_info svm;
    dkm_jkm_info jkm;
    dkm_idx m; /**< of methods that have no more to tell than how many examples there were */
} method_info;

struct method {
    const char *name;
    const char *summary;   /**< one line */
    const char *about;     /**< a paragraph for the help, or NULL */
    const char *arguments; /**< of an example; an ending that suits the command follows them */
    const option *options; /**< inputs, outputs, kernels and settings, and no file to write */

    /** Settings from the options of this run; kernels are there already. Logically collective. */
    dkm_status (*settings)(run *r, method_settings *s);

    /** Learn from examples, which may be taken over. Collective.
     *  @param[in]  Y      NULL for methods without the option --y
     *  @param[out] model  new, owned by the caller; NULL on failure
     *  @param[out] info   zeroed by the caller; method_info_free() frees what it holds */
    dkm_status (*fit)(run *r, const method_settings *s, dkm_data **X, dkm_data **Y,
                      dkm_model **model, method_info *info);

    /** The same for inputs that are read as often as need be; NULL where the method must keep them.
     *  Collective. */
    dkm_status (*fit_stream)(run *r, const method_settings *s, dkm_source *X, dkm_data **Y,
                             dkm_model **model, method_info *info);

    /** Tell how the fit went. Local; rank 0 prints. */
    void (*tell)(run *r, const method_settings *s, const method_info *info);

    /** Warn of what the fit did otherwise than asked; 0 where there is nothing. NULL: there never
     * is. Local; rank 0 prints. */
    int (*warn)(run *r, const method_info *info);

    /** For `cv`: names of the options that take lists there, ended by NULL; the last one changes
     *  fastest. */
    const char *const *lists;
    /** Refuse options that mean nothing there. NULL: all of them mean something. Local. */
    dkm_local (*check_cv)(run *r);
    /** Whether a fit can be given the rows of a Gram matrix of its inputs instead of them: refits
     * of `cv` then compute no kernels. */
    int takes_gram;
    /** A closed form for all settings of a fold at once, and which point of it settings are; 0
     * where it is not for them. NULL: `cv` refits. Local. */
    const dkm_cv_method *cv;
    int (*ridge_point)(const method_settings *s, ridge_point *point);
};

extern const method method_krr, method_kpca, method_kde, method_knn, method_svm, method_hopfield,
    method_jkm;

/** The settings of the command's method, kernels included. Logically collective.
 *  method_settings_free() frees what they hold, also after a failure; they must not be moved. */
DKM_NODISCARD
dkm_status method_settings_read(run *r, method_settings *s);
void method_settings_free(method_settings *s);

/** Free what is known of a fit of @p m. Local. */
void method_info_free(const method *m, method_info *info);

/** Read the examples that the options name. Collective.
 *  @param[out] Y  NULL as well for methods without the option --y */
DKM_NODISCARD
dkm_status method_read_examples(run *r, dkm_data **X, dkm_data **Y);

/** Open the inputs and read the outputs. Collective.
 *  @param[out] Y  NULL as well for methods without the option --y */
DKM_NODISCARD
dkm_status method_open_examples(run *r, dkm_source **X, dkm_data **Y);

#endif

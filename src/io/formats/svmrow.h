/** @file svmrow.h  One line of an svmlight file: labels, then index:value pairs. All local. */
#ifndef DKMAP_IO_FORMATS_SVMROW_H
#define DKMAP_IO_FORMATS_SVMROW_H

#include "io/text/records.h"

/** A line taken apart: either may be empty. */
typedef struct dkm_svm_row {
    char *labels, *features;
} dkm_svm_row;

/** Take a line apart, cutting it in place and its comment off. */
dkm_svm_row dkm_svm_split(char *line);

/** Read the feature at *at and step over it; `qid:` is passed over.
 *  @param[out] index  -1 after the last
 *  @return ok; DKM_ERR_FORMAT naming file, line and word */
DKM_NODISCARD dkm_local dkm_svm_feature(const dkm_text *text, char **at, dkm_idx *index,
                                        double *value);

/** Read the label at *at and step over it and its comma.
 *  @param[out] more  0 after the last */
DKM_NODISCARD dkm_local dkm_svm_label(const dkm_text *text, char **at, double *label, int *more);

#define DKM_SVM_NOWHERE INT64_MAX

/** What is found out over many lines: each the least, so that ranks agree by a minimum. */
typedef struct dkm_svm_facts {
    dkm_idx least, minus_most; /**< index of a feature */
    dkm_idx minus_top;         /**< label */
    dkm_idx set_line;          /**< first line with no label or several */
    dkm_idx fraction_line;     /**< first line with a label that is no integer */
    dkm_idx unfit_line;        /**< first line with a label that cannot be in a set */
    dkm_idx feature_line;      /**< first line with features, where labels are looked at */
} dkm_svm_facts;

#define DKM_SVM_NO_FACTS                                                                           \
    ((dkm_svm_facts){DKM_SVM_NOWHERE, 1, 1, DKM_SVM_NOWHERE, DKM_SVM_NOWHERE, DKM_SVM_NOWHERE,     \
                     DKM_SVM_NOWHERE})

/** Learn from the features of a line, which must have ascending indices. */
DKM_NODISCARD dkm_local dkm_svm_scan_features(const dkm_text *text, char *at, dkm_svm_facts *f);
/** Learn from the labels of a line, and whether there are features. */
DKM_NODISCARD dkm_local dkm_svm_scan_labels(const dkm_text *text, dkm_svm_row r, dkm_svm_facts *f);

#endif

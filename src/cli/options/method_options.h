/** @file method_options.h  Options of a command that takes a method, as settings of that method. */
#ifndef DKMAP_CLI_OPTIONS_METHOD_OPTIONS_H
#define DKMAP_CLI_OPTIONS_METHOD_OPTIONS_H

#include <dkmap/method.h>

#include "cli/core/run.h"

/** What the options of the command come to. Logically collective.
 *
 *  Options with several values that `cv` searches over are left out: the grid sets them.
 *
 *  @param[out] settings  new, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status method_settings_read(run *r, dkm_settings **settings);

/** Read the examples that the options name. Collective.
 *  @param[out] Y  NULL as well for methods without outputs */
DKM_NODISCARD dkm_status method_read_examples(run *r, dkm_data **X, dkm_data **Y);

/** Learn the columns of --x, as --missing and --standardize say, and let inputs go through them.
 *  Collective.
 *  @param[out] table  new, owned by the caller, who ends its use; NULL where there is none */
DKM_NODISCARD dkm_status method_learn_table(run *r, dkm_table **table);

/** With --missing drop, leave out the rows that have missing values, and say how many. Collective. */
DKM_NODISCARD dkm_status method_drop_missing(run *r, dkm_data **const *data);

/** Read --weights, a number for each of @p rows examples, where the method takes them. Collective.
 *  @param[out] weights  new, owned by the caller; NULL where none are given */
DKM_NODISCARD dkm_status method_read_weights(run *r, dkm_idx rows, dkm_data **weights);

/** What --factor says of how the file -o keeps the factor of a model that is changed. Collective. */
DKM_NODISCARD dkm_status method_store_factor(run *r, dkm_model *model);

/** Outputs of vertices of a graph that are not known: any output and the weight 0, where the method
 *  takes weights. Collective.
 *  @param[in,out] weights  of the examples; may point to NULL
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED for other methods and commands */
DKM_NODISCARD dkm_status method_fill_outputs(run *r, const dkm_data *X, dkm_data **Y,
                                             dkm_data **weights);

/** Open the inputs and read the outputs. Collective.
 *  @param[out] Y  NULL as well for methods without outputs */
DKM_NODISCARD dkm_status method_open_examples(run *r, dkm_source **X, dkm_data **Y);

/** Print what a fit reports, and put it in the record. Local; rank 0 prints. */
void method_report(run *r, const dkm_report *report);

#endif

/** @file settings_impl.h  What methods read of their settings: typed, by name.
 *
 *  A getter of a name that the method's table does not have, or of another kind, is a bug of ours:
 *  it asserts.
 */
#ifndef DKMAP_MODELS_REGISTRY_SETTINGS_IMPL_H
#define DKMAP_MODELS_REGISTRY_SETTINGS_IMPL_H

#include <dkmap/joint.h>
#include <dkmap/method.h>
#include <dkmap/settings.h>

typedef struct dkm_setting_entry {
    dkm_idx count;
    dkm_value *values;    /**< count of them, each with a text of its own */
    dkm_kernel *kernel;   /**< in place of values */
    const dkm_data *data; /**< in place of values; borrowed */
} dkm_setting_entry;

struct dkm_settings {
    dkm_ctx *ctx;
    const dkm_method *method;
    const char *prefix; /**< of names in messages: "--" or "" */
    dkm_idx rows;       /**< of the method's table and of the layout's */
    dkm_setting_entry *entry;
};

/** The k-th row of settings; NULL past the last. Local. */
const dkm_setting *dkm_settings_row(const dkm_settings *settings, dkm_idx k);

/** Whether a value was set, be it the default. Local. */
int dkm_settings_given(const dkm_settings *settings, const char *name);

/** Whether a value was set that is not the default. Local. */
int dkm_settings_changed(const dkm_settings *settings, const char *name);

/** The value set, or the default; 0 where there is neither. Local. */
double dkm_settings_real(const dkm_settings *settings, const char *name);
int64_t dkm_settings_int(const dkm_settings *settings, const char *name);
/** The place of a choice among the choices of the table. */
int dkm_settings_choice(const dkm_settings *settings, const char *name);
int dkm_settings_flag(const dkm_settings *settings, const char *name);

/** The k-th value of a list; NULL past the last. Local. */
const dkm_value *dkm_settings_value(const dkm_settings *settings, const char *name, dkm_idx k);

/** Grid and block size. Local. */
dkm_layout dkm_settings_layout(const dkm_settings *settings);

/** The kernel of a setting, on @p ctx. Logically collective, and collective where @p training is
 *  given.
 *  @param[in]  training  objects that resolve its words (dkm_kernel_resolve()); NULL: these stay
 *  @param[out] kernel    new, owned by the caller; NULL on failure and where none is set */
DKM_NODISCARD dkm_status dkm_settings_kernel(dkm_ctx *ctx, const dkm_settings *settings,
                                             const char *name, const dkm_data *training,
                                             dkm_kernel **kernel);

/** The joint kernel of a setting, on @p ctx. Logically collective. */
DKM_NODISCARD dkm_status dkm_settings_joint(dkm_ctx *ctx, const dkm_settings *settings,
                                            const char *name, dkm_joint **joint);

/** The objects of a setting: as set, or read from the file that it names. Collective.
 *  @param[in]  type  of outputs in a file; NULL: its ending says
 *  @param[out] data  NULL where none are set
 *  @param[out] own   new where a file was read, owned by the caller; else NULL */
DKM_NODISCARD dkm_status dkm_settings_data(dkm_ctx *ctx, const dkm_settings *settings,
                                           const char *name, const char *type,
                                           const dkm_data **data, dkm_data **own);

/** Take over what settings @p from hold of all kernels. Logically collective on @p ctx. */
DKM_NODISCARD dkm_status dkm_settings_replace_kernels(dkm_ctx *ctx, dkm_settings *settings,
                                                      const dkm_settings *from);

/** What dkm_settings_check() checks, but for the expressions of kernels. Local. */
DKM_NODISCARD dkm_local dkm_settings_check_values(dkm_ctx *ctx, const dkm_settings *settings);

/** Refuse what has no effect in cross-validation. Local. */
DKM_NODISCARD dkm_local dkm_settings_check_cv(dkm_ctx *ctx, const dkm_settings *settings);

#endif

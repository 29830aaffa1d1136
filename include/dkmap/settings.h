/** @file settings.h  Settings of a method, by name: what `dkmap fit` takes as options.
 *
 *  Each method has a table of settings (method.h lists them). A dkm_settings holds the values of
 * one method's settings, checked against its table as they are set. Settings are keyed by strings,
 * so that programs keep working, without being compiled again, when a method gains a setting.
 *
 *      dkm_settings *s = NULL;
 *      DKM_TRY(dkm_settings_create(ctx, "kde", &s));
 *      DKM_TRY(dkm_settings_set(s, "kx", "rbf(sigma=2)"));
 *      DKM_TRY(dkm_settings_set(s, "ridge", "1e-3"));
 */
#ifndef DKMAP_SETTINGS_H
#define DKMAP_SETTINGS_H

#include <dkmap/data.h>
#include <dkmap/kernel.h>

DKM_API_BEGIN

/** What the text of a value must be. */
typedef enum dkm_setting_kind {
    DKM_SETTING_TEXT,
    DKM_SETTING_REAL,
    DKM_SETTING_INT,    /**< an integer from `min` to `max` */
    DKM_SETTING_CHOICE, /**< one of `choices` */
    DKM_SETTING_GRID,   /**< two positive integers, PxQ */
    DKM_SETTING_BYTES,  /**< a number of bytes, or one with k, M, G or T behind it */
    DKM_SETTING_TIME,   /**< seconds, or a number with s, m, h or d behind it */
    DKM_SETTING_FLAG,   /**< of an option: takes no value; of a setting: "yes" or "no" */
    DKM_SETTING_KERNEL, /**< a kernel expression, or a kernel: dkm_settings_set_kernel() */
    DKM_SETTING_JOINT,  /**< a joint kernel expression */
    DKM_SETTING_DATA    /**< a file, or objects in memory: dkm_settings_set_data() */
} dkm_setting_kind;

enum {
    DKM_SETTING_REQUIRED = 1,
    DKM_SETTING_REPEATED = 2,     /**< of an option: may be given more than once */
    DKM_SETTING_LIST = 4,         /**< a value may be several, separated by commas */
    DKM_SETTING_SEARCH = 8,       /**< so it may where settings are searched over */
    DKM_SETTING_POSITIVE = 16,    /**< of reals and times: > 0 */
    DKM_SETTING_NONNEGATIVE = 32, /**< of reals: >= 0 */
    DKM_SETTING_BELOW_ONE = 64,   /**< of reals: < 1 */
    DKM_SETTING_HIDDEN = 128      /**< not an option of the command, or not documented there */
};

/** One row of a table of settings. Tables end with a row whose name is NULL. New fields are added
 * at the end: read rows through pointers. */
typedef struct dkm_setting {
    const char *name; /**< without dashes */
    char letter;      /**< of the short form of an option, or 0 */
    dkm_setting_kind kind;
    int flags;
    const char *metavar; /**< stands for the value in the help, or NULL */
    const char *help;
    const char *default_text; /**< the value when none is set, or NULL: then the method chooses */
    const char *choices;      /**< of DKM_SETTING_CHOICE, each followed by '|' */
    int64_t min, max;         /**< of DKM_SETTING_INT; a max of 0 is no bound */
    const char *aliases;      /**< second names, each followed by '|', or NULL */
    const char *old_names;    /**< the same for names that are accepted and not documented */
    const char *old_choices;  /**< as many as `choices`: accepted in their place; or NULL */
    const char *only_with; /**< settings without which this one has no effect, as "solver=pcg", each
                              followed by '|'; a name alone: whenever that is set; or NULL */
    const char *not_in_cv; /**< why cross-validation does not take it, after its name; or NULL */
} dkm_setting;

/** One value: its text and what the text means. */
typedef struct dkm_value {
    const char *text;
    double real;     /**< of reals; times in seconds; bytes */
    int64_t integer; /**< of integers; the place of a choice among the choices; 1 for a flag set */
    int P, Q;        /**< of DKM_SETTING_GRID */
} dkm_value;

/** Whether @p name, of @p length letters, is the row's name or one of its other names. Local. */
int dkm_setting_is_called(const dkm_setting *row, const char *name, size_t length);

/** Read @p text as a value of a row. Local.
 *  @param[in] row  of a table of settings
 *  @param[in] text  as the user typed it
 *  @param[out] value  its text is @p text, which is borrowed
 *  @return 1, or 0 when it is not one */
int dkm_setting_parse(const dkm_setting *row, const char *text, dkm_value *value);

/** Why dkm_setting_parse() did not take @p text: "--gamma expects a number, not 'x'". Local.
 *  @param[in] row  of a table of settings
 *  @param[in]  label  what the user called the setting
 *  @param[in] text  as the user typed it
 *  @param[out] out    @p size bytes at most, ended by a zero
 *  @param[in] size  of @p out */
void dkm_setting_explain(const dkm_setting *row, const char *label, const char *text, char *out,
                         size_t size);

/** Read a number of components, a share of variance such as 95%, or all. Local.
 *  @param[in] text  as the user typed it
 *  @param[out] components  how many; 0 for a share, INT64_MAX for all
 *  @param[out] share       of variance, in (0, 1]; left alone where there is a number
 *  @return 1, or 0 when it is none of them */
int dkm_components_parse(const char *text, dkm_idx *components, double *share);

/** The place of the name nearest to a misspelled one by edit distance; -1 where none is near.
 *  Local.
 *  @param[in] name  as the user typed it
 *  @param[in] length  of it, in bytes
 *  @param[in] count  of names
 *  @param[in] names  count of them */
int dkm_nearest_name(const char *name, size_t length, int count, const char *const *names);

typedef struct dkm_settings dkm_settings;

/** Settings of a method, none set. Logically collective.
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] method  its name
 *  @param[out] settings  new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG for a method that is not there, with the nearest name */
DKM_NODISCARD dkm_status dkm_settings_create(dkm_ctx *ctx, const char *method,
                                             dkm_settings **settings);

/** A copy on a context, which may have fewer ranks than that of the original. Logically collective
 *  on @p ctx. Kernels are cloned, objects stay borrowed. */
DKM_NODISCARD dkm_status dkm_settings_copy(dkm_ctx *ctx, const dkm_settings *settings,
                                           dkm_settings **copy);

/** Set a value from text, in place of what was set. Logically collective.
 *
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[in] name  any of the names of the setting
 *  @param[in] text  copied; NULL unsets. Of a list, values separated by commas
 *  @return DKM_OK; DKM_ERR_ARG for a name that is not there (the nearest one is named) and for text
 *          that is not a value; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_settings_set(dkm_settings *settings, const char *name,
                                          const char *text);
DKM_NODISCARD dkm_status dkm_settings_set_real(dkm_settings *settings, const char *name,
                                               double value);
DKM_NODISCARD dkm_status dkm_settings_set_int(dkm_settings *settings, const char *name,
                                              int64_t value);

/** Set a setting of kind kernel to a copy of a kernel. Logically collective. */
DKM_NODISCARD dkm_status dkm_settings_set_kernel(dkm_settings *settings, const char *name,
                                                 const dkm_kernel *kernel);

/** Set a setting of kind data to objects, which are borrowed for as long as the settings are used.
 *  Logically collective. */
DKM_NODISCARD dkm_status dkm_settings_set_data(dkm_settings *settings, const char *name,
                                               const dkm_data *data);

/** Whether messages call settings as the command does, "--gamma", instead of "gamma". Local. */
void dkm_settings_name_options(dkm_settings *settings, int options);

/** The text of a value that is set, or the default; NULL where there is neither, where the value is
 *  not text, and for names that are not there. Of a list the first. Local. */
const char *dkm_settings_text(const dkm_settings *settings, const char *name);

/** How many values are set: 0 where the default holds. Local. */
dkm_idx dkm_settings_count(const dkm_settings *settings, const char *name);

/** Check what no single value shows: that everything required is set, and that settings go
 * together. Logically collective. Fits check it, too.
 *  @return DKM_OK; DKM_ERR_ARG */
DKM_NODISCARD dkm_status dkm_settings_check(dkm_ctx *ctx, const dkm_settings *settings);

void dkm_settings_destroy(dkm_settings **settings);

/** Settings that every method takes beside its own: the process grid and the block size. */
extern const dkm_setting dkm_layout_settings[];

DKM_API_END

#endif

#include "models/registry/settings_impl.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "models/registry/method_impl.h"

enum { NAMES = 100, LABEL = 80, MESSAGE = 400 };

const dkm_setting dkm_layout_settings[] = {
    {.name = "grid",
     .kind = DKM_SETTING_GRID,
     .metavar = "PxQ",
     .help = "process grid; near-square over all ranks when not given"},
    {.name = "block",
     .kind = DKM_SETTING_INT,
     .metavar = "NB",
     .help = "block size of distributed matrices; 0 chooses",
     .default_text = "0"},
    {0}};

static dkm_idx table_rows(const dkm_setting *table)
{
    dkm_idx rows = 0;

    while (table && table[rows].name)
        rows++;
    return rows;
}

const dkm_setting *dkm_settings_row(const dkm_settings *s, dkm_idx k)
{
    dkm_idx own = table_rows(s->method->settings);

    if (k < own)
        return &s->method->settings[k];
    return k < s->rows ? &dkm_layout_settings[k - own] : NULL;
}

/* The place of the setting called @p name; -1 if there is none. */
static dkm_idx find_row(const dkm_settings *s, const char *name)
{
    for (dkm_idx k = 0; k < s->rows; k++)
        if (dkm_setting_is_called(dkm_settings_row(s, k), name, strlen(name)))
            return k;
    return -1;
}

static const dkm_setting_entry *entry_of(const dkm_settings *s, const char *name)
{
    dkm_idx k = find_row(s, name);

    assert(k >= 0);
    return &s->entry[k];
}

static void clear_entry(dkm_setting_entry *e)
{
    for (dkm_idx k = 0; k < e->count; k++) {
        char *text = (char *)(uintptr_t)e->values[k].text;
        DKM_FREE(text);
    }
    DKM_FREE(e->values);
    dkm_kernel_destroy(&e->kernel);
    *e = (dkm_setting_entry){0};
}

void dkm_settings_destroy(dkm_settings **settings)
{
    dkm_settings *s = *settings;

    if (!s)
        return;
    for (dkm_idx k = 0; s->entry && k < s->rows; k++)
        clear_entry(&s->entry[k]);
    DKM_FREE(s->entry);
    DKM_FREE(*settings);
}

static dkm_local unknown_method(dkm_ctx *ctx, const char *name)
{
    const char *names[NAMES];
    int count = 0, nearest;

    for (; count < NAMES && dkm_method_at(count); count++)
        names[count] = dkm_method_at(count)->name;
    nearest = dkm_nearest_name(name, strlen(name), count, names);
    if (nearest < 0)
        return dkm_fail(ctx, DKM_ERR_ARG, "unknown method '%s'", name);
    return dkm_fail(ctx, DKM_ERR_ARG, "unknown method '%s': did you mean '%s'?", name,
                    names[nearest]);
}

static dkm_local make_settings(dkm_ctx *ctx, const dkm_method *method, dkm_settings **settings)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_calloc(ctx, 1, settings));
    **settings = (dkm_settings){.ctx = ctx, .method = method, .prefix = ""};
    (*settings)->rows = table_rows(method->settings) + table_rows(dkm_layout_settings);
    DKM_STEP(dkm_calloc(ctx, (*settings)->rows, &(*settings)->entry));
out:
    return local;
}

dkm_status dkm_settings_create(dkm_ctx *ctx, const char *method, dkm_settings **settings)
{
    dkm_status status = DKM_OK;
    const dkm_method *found = dkm_method_find(method);
    dkm_settings *s = NULL;

    *settings = NULL;
    DKM_AGREE(ctx, found ? make_settings(ctx, found, &s) : unknown_method(ctx, method));
    *settings = s;
    s = NULL;
out:
    dkm_settings_destroy(&s);
    return status;
}

static dkm_local copy_values(dkm_ctx *ctx, const dkm_setting_entry *from, dkm_setting_entry *to)
{
    dkm_local local = DKM_LOCAL_OK;

    to->data = from->data;
    if (from->count == 0)
        return local;
    DKM_STEP(dkm_calloc(ctx, from->count, &to->values));
    for (; to->count < from->count; to->count++) {
        char *text = NULL;
        DKM_STEP(dkm_strdup(ctx, from->values[to->count].text, &text));
        to->values[to->count] = from->values[to->count];
        to->values[to->count].text = text;
    }
out:
    return local;
}

static dkm_status copy_entry(dkm_ctx *ctx, const dkm_setting_entry *from, dkm_setting_entry *to)
{
    dkm_status status = DKM_OK;

    clear_entry(to);
    DKM_AGREE(ctx, copy_values(ctx, from, to));
    if (from->kernel)
        DKM_TRY(dkm_kernel_clone(ctx, from->kernel, &to->kernel));
out:
    return status;
}

dkm_status dkm_settings_copy(dkm_ctx *ctx, const dkm_settings *settings, dkm_settings **copy)
{
    dkm_status status = DKM_OK;
    dkm_settings *s = NULL;

    *copy = NULL;
    DKM_AGREE(ctx, make_settings(ctx, settings->method, &s));
    s->prefix = settings->prefix;
    for (dkm_idx k = 0; k < s->rows; k++)
        if (settings->entry[k].count > 0 || settings->entry[k].kernel || settings->entry[k].data)
            DKM_TRY(copy_entry(ctx, &settings->entry[k], &s->entry[k]));
    *copy = s;
    s = NULL;
out:
    dkm_settings_destroy(&s);
    return status;
}

dkm_status dkm_settings_replace_kernels(dkm_ctx *ctx, dkm_settings *settings,
                                        const dkm_settings *from)
{
    dkm_status status = DKM_OK;

    for (dkm_idx k = 0; k < settings->rows; k++) {
        dkm_setting_kind kind = dkm_settings_row(settings, k)->kind;
        if (kind == DKM_SETTING_KERNEL || kind == DKM_SETTING_JOINT)
            DKM_TRY(copy_entry(ctx, &from->entry[k], &settings->entry[k]));
    }
out:
    return status;
}

static dkm_local unknown_setting(const dkm_settings *s, const char *name)
{
    const char *names[NAMES];
    int count = 0, nearest;

    for (dkm_idx k = 0; k < s->rows && count < NAMES; k++)
        if (!(dkm_settings_row(s, k)->flags & DKM_SETTING_HIDDEN))
            names[count++] = dkm_settings_row(s, k)->name;
    nearest = dkm_nearest_name(name, strlen(name), count, names);
    if (nearest < 0)
        return dkm_fail(s->ctx, DKM_ERR_ARG, "%s has no setting %s%s", s->method->name, s->prefix,
                        name);
    return dkm_fail(s->ctx, DKM_ERR_ARG, "%s has no setting %s%s: did you mean %s%s?",
                    s->method->name, s->prefix, name, s->prefix, names[nearest]);
}

/* One value of a row more. The text is taken over, also on failure. */
static dkm_local add_value(const dkm_settings *s, const dkm_setting *row, char *text,
                           dkm_setting_entry *e)
{
    char label[LABEL], message[MESSAGE];
    dkm_local local = DKM_LOCAL_OK;
    dkm_value value;

    DKM_STEP(dkm_realloc(s->ctx, e->count + 1, &e->values));
    if (!dkm_setting_parse(row, text, &value)) {
        snprintf(label, sizeof label, "%s%s", s->prefix, row->name);
        dkm_setting_explain(row, label, text, message, sizeof message);
        DKM_STEP(dkm_fail(s->ctx, DKM_ERR_ARG, "%s", message));
    }
    e->values[e->count++] = value;
    text = NULL;
out:
    DKM_FREE(text);
    return local;
}

static dkm_local copy_part(dkm_ctx *ctx, const char *text, size_t length, char **part)
{
    dkm_local local = dkm_calloc(ctx, (dkm_idx)length + 1, part);

    if (local.code == DKM_OK)
        memcpy(*part, text, length);
    return local;
}

static dkm_local set_text(const dkm_settings *s, const char *name, const char *text)
{
    dkm_idx k = find_row(s, name);
    const dkm_setting *row = dkm_settings_row(s, k);
    dkm_local local = DKM_LOCAL_OK;
    char *part = NULL;

    if (k < 0)
        return unknown_setting(s, name);
    clear_entry(&s->entry[k]);
    while (text) {
        size_t length = row->flags & DKM_SETTING_LIST ? strcspn(text, ",") : strlen(text);
        DKM_STEP(copy_part(s->ctx, text, length, &part));
        DKM_STEP(add_value(s, row, part, &s->entry[k]));
        text = text[length] ? text + length + 1 : NULL;
    }
out:
    return local;
}

dkm_status dkm_settings_set(dkm_settings *settings, const char *name, const char *text)
{
    return dkm_agree(settings->ctx, set_text(settings, name, text));
}

dkm_status dkm_settings_set_real(dkm_settings *settings, const char *name, double value)
{
    char text[40];

    snprintf(text, sizeof text, "%.17g", value);
    return dkm_settings_set(settings, name, text);
}

dkm_status dkm_settings_set_int(dkm_settings *settings, const char *name, int64_t value)
{
    char text[40];

    snprintf(text, sizeof text, "%lld", (long long)value);
    return dkm_settings_set(settings, name, text);
}

/* The entry of a setting of a kind, emptied; NULL with a message where there is none. */
static dkm_local open_entry(dkm_settings *s, const char *name, dkm_setting_kind kind,
                            const char *what, dkm_setting_entry **entry)
{
    dkm_idx k = find_row(s, name);

    if (k < 0)
        return unknown_setting(s, name);
    if (dkm_settings_row(s, k)->kind != kind)
        return dkm_fail(s->ctx, DKM_ERR_ARG, "%s%s of %s is not %s", s->prefix, name,
                        s->method->name, what);
    *entry = &s->entry[k];
    clear_entry(*entry);
    return DKM_LOCAL_OK;
}

dkm_status dkm_settings_set_kernel(dkm_settings *settings, const char *name,
                                   const dkm_kernel *kernel)
{
    dkm_status status = DKM_OK;
    dkm_setting_entry *entry = NULL;

    DKM_AGREE(settings->ctx, open_entry(settings, name, DKM_SETTING_KERNEL, "a kernel", &entry));
    DKM_TRY(dkm_kernel_clone(settings->ctx, kernel, &entry->kernel));
out:
    return status;
}

dkm_status dkm_settings_set_data(dkm_settings *settings, const char *name, const dkm_data *data)
{
    dkm_status status = DKM_OK;
    dkm_setting_entry *entry = NULL;

    DKM_AGREE(settings->ctx, open_entry(settings, name, DKM_SETTING_DATA, "data", &entry));
    entry->data = data;
out:
    return status;
}

void dkm_settings_name_options(dkm_settings *settings, int options)
{
    settings->prefix = options ? "--" : "";
}

dkm_idx dkm_settings_count(const dkm_settings *settings, const char *name)
{
    dkm_idx k = find_row(settings, name);

    return k < 0                                                  ? 0
           : settings->entry[k].kernel || settings->entry[k].data ? 1
                                                                  : settings->entry[k].count;
}

const char *dkm_settings_text(const dkm_settings *settings, const char *name)
{
    dkm_idx k = find_row(settings, name);
    const dkm_setting_entry *e = k < 0 ? NULL : &settings->entry[k];

    if (!e || e->data)
        return NULL;
    if (e->kernel)
        return dkm_kernel_text(e->kernel);
    return e->count > 0 ? e->values[0].text : dkm_settings_row(settings, k)->default_text;
}

int dkm_settings_given(const dkm_settings *s, const char *name)
{
    return dkm_settings_count(s, name) > 0;
}

const dkm_value *dkm_settings_value(const dkm_settings *s, const char *name, dkm_idx k)
{
    const dkm_setting_entry *e = entry_of(s, name);

    return k < e->count ? &e->values[k] : NULL;
}

/* The value set, or the default; all zero where there is neither. */
static dkm_value value_of(const dkm_settings *s, const char *name)
{
    dkm_idx k = find_row(s, name);
    const dkm_setting *row = dkm_settings_row(s, k);
    dkm_value value = {0};

    assert(k >= 0);
    if (s->entry[k].count > 0)
        return s->entry[k].values[0];
    if (row->default_text && !dkm_setting_parse(row, row->default_text, &value))
        assert(!"the default of a setting is a value of it");
    return value;
}

int dkm_settings_changed(const dkm_settings *s, const char *name)
{
    const dkm_setting_entry *e = entry_of(s, name);
    const dkm_setting *row = dkm_settings_row(s, find_row(s, name));
    dkm_value standard = {0};

    if (e->kernel || e->data || e->count > 1)
        return 1;
    if (e->count == 0)
        return 0;
    if (row->kind == DKM_SETTING_FLAG)
        return e->values[0].integer != 0;
    if (!row->default_text || !dkm_setting_parse(row, row->default_text, &standard))
        return 1;
    if (row->kind == DKM_SETTING_CHOICE || row->kind == DKM_SETTING_INT)
        return e->values[0].integer != standard.integer;
    return strcmp(e->values[0].text, standard.text) != 0;
}

double dkm_settings_real(const dkm_settings *s, const char *name)
{
    return value_of(s, name).real;
}

int64_t dkm_settings_int(const dkm_settings *s, const char *name)
{
    return value_of(s, name).integer;
}

int dkm_settings_choice(const dkm_settings *s, const char *name)
{
    return (int)value_of(s, name).integer;
}

int dkm_settings_flag(const dkm_settings *s, const char *name)
{
    return value_of(s, name).integer != 0;
}

dkm_layout dkm_settings_layout(const dkm_settings *s)
{
    dkm_value grid = value_of(s, "grid");

    return (dkm_layout){grid.P, grid.Q, dkm_settings_int(s, "block")};
}

dkm_status dkm_settings_kernel(dkm_ctx *ctx, const dkm_settings *s, const char *name,
                               const dkm_data *training, dkm_kernel **kernel)
{
    dkm_status status = DKM_OK;
    const dkm_setting_entry *e = entry_of(s, name);
    const char *text = dkm_settings_text(s, name);

    *kernel = NULL;
    if (e->kernel)
        DKM_TRY(dkm_kernel_clone(ctx, e->kernel, kernel));
    else if (text)
        DKM_TRY(dkm_kernel_parse(ctx, text, kernel));
    if (*kernel && training)
        DKM_TRY(dkm_kernel_resolve(*kernel, training));
out:
    if (status != DKM_OK)
        dkm_kernel_destroy(kernel);
    return status;
}

dkm_status dkm_settings_joint(dkm_ctx *ctx, const dkm_settings *s, const char *name,
                              dkm_joint **joint)
{
    const char *text = dkm_settings_text(s, name);

    *joint = NULL;
    return text ? dkm_joint_parse(ctx, text, joint) : DKM_OK;
}

dkm_status dkm_settings_data(dkm_ctx *ctx, const dkm_settings *s, const char *name,
                             const char *type, const dkm_data **data, dkm_data **own)
{
    dkm_status status = DKM_OK;
    const dkm_setting_entry *e = entry_of(s, name);

    *own = NULL;
    *data = e->data;
    if (e->count > 0)
        DKM_TRY(dkm_data_read(ctx, e->values[0].text, DKM_OUTPUTS, type, own));
    if (*own)
        *data = *own;
out:
    return status;
}

static dkm_local check_required(dkm_ctx *ctx, const dkm_settings *s)
{
    for (dkm_idx k = 0; k < s->rows; k++) {
        const dkm_setting *row = dkm_settings_row(s, k);
        if ((row->flags & DKM_SETTING_REQUIRED) && !dkm_settings_given(s, row->name))
            return dkm_fail(ctx, DKM_ERR_ARG, "%s needs %s%s", s->method->name, s->prefix,
                            row->name);
    }
    return DKM_LOCAL_OK;
}

/* Whether "name=value" or "name", of @p length letters, holds. */
static int condition_holds(const dkm_settings *s, const char *condition, size_t length)
{
    char name[LABEL];
    const char *equals;
    dkm_value wanted;
    dkm_idx k;

    snprintf(name, sizeof name, "%.*s", (int)length, condition);
    equals = strchr(name, '=');
    name[strcspn(name, "=")] = '\0';
    k = find_row(s, name);
    assert(k >= 0);
    if (!equals)
        return dkm_settings_changed(s, name);
    return dkm_setting_parse(dkm_settings_row(s, k), equals + 1, &wanted) &&
           value_of(s, name).integer == wanted.integer;
}

/* "--solver pcg or --nystroem" of "solver=pcg|nystroem|". */
static void describe_conditions(const dkm_settings *s, const char *conditions, char *out,
                                size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (const char *c = conditions; *c && used < size; c += strcspn(c, "|") + 1)
        used += (size_t)snprintf(out + used, size - used, "%s%s%.*s", c == conditions ? "" : " or ",
                                 s->prefix, (int)strcspn(c, "|"), c);
    for (char *c = out; *c; c++)
        *c = *c == '=' ? ' ' : *c;
}

static dkm_local check_conditions(dkm_ctx *ctx, const dkm_settings *s, const dkm_setting *row)
{
    char conditions[MESSAGE];

    for (const char *c = row->only_with; *c; c += strcspn(c, "|") + 1)
        if (condition_holds(s, c, strcspn(c, "|")))
            return DKM_LOCAL_OK;
    describe_conditions(s, row->only_with, conditions, sizeof conditions);
    return dkm_fail(ctx, DKM_ERR_ARG, "%s%s goes with %s", s->prefix, row->name, conditions);
}

dkm_local dkm_settings_check_values(dkm_ctx *ctx, const dkm_settings *s)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(check_required(ctx, s));
    if (s->method->check)
        DKM_STEP(s->method->check(ctx, s));
    for (dkm_idx k = 0; k < s->rows; k++) {
        const dkm_setting *row = dkm_settings_row(s, k);
        if (row->only_with && dkm_settings_changed(s, row->name))
            DKM_STEP(check_conditions(ctx, s, row));
    }
out:
    return local;
}

static dkm_status check_expression(dkm_ctx *ctx, const dkm_settings *s, const dkm_setting *row)
{
    dkm_status status = DKM_OK;
    dkm_kernel *kernel = NULL;
    dkm_joint *joint = NULL;

    if (row->kind == DKM_SETTING_KERNEL)
        DKM_TRY(dkm_settings_kernel(ctx, s, row->name, NULL, &kernel));
    if (row->kind == DKM_SETTING_JOINT)
        DKM_TRY(dkm_settings_joint(ctx, s, row->name, &joint));
out:
    dkm_joint_destroy(&joint);
    dkm_kernel_destroy(&kernel);
    return status;
}

dkm_status dkm_settings_check(dkm_ctx *ctx, const dkm_settings *s)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(ctx, dkm_settings_check_values(ctx, s));
    for (dkm_idx k = 0; k < s->rows; k++)
        DKM_TRY(check_expression(ctx, s, dkm_settings_row(s, k)));
out:
    return status;
}

dkm_local dkm_settings_check_cv(dkm_ctx *ctx, const dkm_settings *s)
{
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx k = 0; k < s->rows; k++) {
        const dkm_setting *row = dkm_settings_row(s, k);
        if (row->not_in_cv && dkm_settings_changed(s, row->name))
            DKM_STEP(dkm_fail(ctx, DKM_ERR_ARG, "%s%s %s", s->prefix, row->name, row->not_in_cv));
    }
out:
    return local;
}

#include "cli/config/config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_BYTES ((size_t)1 << 20)

static const struct {
    const char *ending;
    int (*read)(config *c, const char *text, size_t bytes);
} formats[] = {{".yaml", config_read_yaml},
               {".yml", config_read_yaml},
               {".json", config_read_yaml},
               {".toml", config_read_toml}};

int config_wrong(config *c, int line, const char *format, ...)
{
    va_list list;
    int used = line > 0 ? snprintf(c->error, sizeof c->error, ":%d: ", line)
                        : snprintf(c->error, sizeof c->error, ": ");

    va_start(list, format);
    vsnprintf(c->error + used, sizeof c->error - (size_t)used, format, list);
    va_end(list);
    return 0;
}

int config_file_read(const char *path, char **text, size_t *bytes, char *error)
{
    FILE *file = fopen(path, "rb");

    *text = file ? malloc(MOST_BYTES + 1) : NULL;
    if (!*text) {
        snprintf(error, CONFIG_ERROR, "%s", strerror(errno));
        if (file)
            fclose(file);
        return 0;
    }
    *bytes = fread(*text, 1, MOST_BYTES, file);
    (*text)[*bytes] = '\0';
    snprintf(error, CONFIG_ERROR, "%s",
             ferror(file)        ? strerror(errno)
             : getc(file) != EOF ? "more than a MiB: this is no file of options"
                                 : "");
    fclose(file);
    if (!*error)
        return 1;
    free(*text);
    *text = NULL;
    return 0;
}

static char *copy_text(const char *text, size_t length)
{
    char *copy = malloc(length + 1);

    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

int config_begin(config *c, const char *name, size_t length, int line)
{
    config_entry *grown = realloc(c->entries, ((size_t)c->count + 1) * sizeof *grown);

    if (!grown)
        return config_wrong(c, line, "no memory");
    c->entries = grown;
    grown[c->count] = (config_entry){.name = copy_text(name, length), .line = line};
    if (!grown[c->count].name)
        return config_wrong(c, line, "no memory");
    c->count++;
    return 1;
}

int config_add(config *c, const char *text, size_t length)
{
    config_entry *e = &c->entries[c->count - 1];
    char **grown;

    if (memchr(text, '\0', length))
        return config_wrong(c, e->line, "the value of '%s' holds a byte of zero", e->name);
    grown = realloc(e->values, ((size_t)e->count + 1) * sizeof *grown);
    if (!grown)
        return config_wrong(c, e->line, "no memory");
    e->values = grown;
    grown[e->count] = copy_text(text, length);
    if (!grown[e->count])
        return config_wrong(c, e->line, "no memory");
    e->count++;
    return 1;
}

static int ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);

    return length >= tail && strcasecmp(path + length - tail, ending) == 0;
}

/* The name of the file goes before what its reader said. */
static void name_file(config *c, const char *path)
{
    char message[CONFIG_ERROR];

    memcpy(message, c->error, sizeof message);
    snprintf(c->error, sizeof c->error, "%.100s%.*s", path, (int)sizeof message - 104, message);
}

int config_parse(config *c, const char *path, const char *text, size_t bytes)
{
    int good = -1;

    *c = (config){0};
    for (size_t k = 0; good < 0 && k < sizeof formats / sizeof *formats; k++)
        if (ends_in(path, formats[k].ending))
            good = formats[k].read(c, text, bytes);
    if (good < 0)
        good = config_wrong(c, 0,
                            "a file of options is YAML or TOML: give it a name that ends in "
                            ".yaml, .yml, .json or .toml");
    if (!good)
        name_file(c, path);
    return good;
}

void config_free(config *c)
{
    for (int k = 0; k < c->count; k++) {
        for (int i = 0; i < c->entries[k].count; i++)
            free(c->entries[k].values[i]);
        free(c->entries[k].values);
        free(c->entries[k].name);
    }
    free(c->entries);
    *c = (config){0};
}

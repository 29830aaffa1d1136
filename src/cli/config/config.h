/** @file config.h  Options from a file: names of options and their values, as YAML or TOML.
 *
 *  A file is one flat table. A value is a scalar or a list of scalars; whatever it is, it is stored as
 *  the text that would stand on the command line. What the names mean is not known here.
 */
#ifndef DKMAP_CLI_CONFIG_CONFIG_H
#define DKMAP_CLI_CONFIG_CONFIG_H

#include <stddef.h>

enum { CONFIG_ERROR = 320 };

typedef struct config_entry {
    char *name;
    int line; /**< counted from 1 */
    int is_list;
    int count; /**< of values: 1 where it is no list */
    char **values;
} config_entry;

typedef struct config {
    int count;
    config_entry *entries;
    char error[CONFIG_ERROR]; /**< one line: file, line and what is wrong */
} config;

/** Read a file from its text. The ending of @p path says the format: .yaml, .yml or .json, which
 *  is YAML too, or .toml.
 *  @param[out] c  fresh; config_free() frees it, also after a failure
 *  @return 1, or 0 with an error */
int config_parse(config *c, const char *path, const char *text, size_t bytes);
void config_free(config *c);

/** Read the text of a file, with a zero behind it. Local.
 *  @param[out] text   from malloc, owned by the caller; NULL on failure
 *  @param[out] error  the reason, of CONFIG_ERROR bytes
 *  @return 1, or 0 with an error */
int config_file_read(const char *path, char **text, size_t *bytes, char *error);

/** For readers of a format: begin an entry of a name, of @p length bytes; add a value to the last
 *  entry; set the error, with the line where that is above 0.
 *  @return 1, or 0 with an error */
int config_begin(config *c, const char *name, size_t length, int line);
int config_add(config *c, const char *text, size_t length);
int config_wrong(config *c, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Readers of a format. @return 1, or 0 with an error */
int config_read_yaml(config *c, const char *text, size_t bytes);
int config_read_toml(config *c, const char *text, size_t bytes);

#endif

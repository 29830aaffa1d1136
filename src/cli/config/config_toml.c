/* The part of TOML 1.0 (toml.io/en/v1.0.0) that a table of options needs: `name = value`, where a
 * value is a string on one line, a number, true, false or an array of them, which may take several
 * lines. Tables, dotted names, dates and strings of several lines are refused. */
#include <stdlib.h>
#include <string.h>

#include "cli/config/config.h"

enum { TEXT = 4096 }; /* bytes of a value, at most */

typedef struct toml_reader {
    config *c;
    const char *at, *end;
    int line;
    char text[TEXT]; /* the value at hand */
    size_t used;
} toml_reader;

static int peek(const toml_reader *r)
{
    return r->at < r->end ? (unsigned char)*r->at : -1;
}

static void skip_blanks(toml_reader *r)
{
    while (peek(r) == ' ' || peek(r) == '\t')
        r->at++;
}

static void skip_comment(toml_reader *r)
{
    if (peek(r) == '#')
        while (peek(r) != '\n' && peek(r) != -1)
            r->at++;
}

/* Over ends of lines, blanks and comments. */
static void skip_lines(toml_reader *r)
{
    for (;;) {
        skip_blanks(r);
        skip_comment(r);
        if (peek(r) == '\r')
            r->at++;
        if (peek(r) != '\n')
            return;
        r->at++;
        r->line++;
    }
}

static int keep(toml_reader *r, char byte)
{
    if (r->used == TEXT)
        return config_wrong(r->c, r->line, "a value of more than %d bytes", TEXT);
    r->text[r->used++] = byte;
    return 1;
}

/* A character by its number, as UTF-8. */
static int keep_character(toml_reader *r, unsigned long code)
{
    int tail = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};

    if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return config_wrong(r->c, r->line, "no character has the number %lX", code);
    if (!keep(r, (char)(first[tail] | (code >> (6 * tail)))))
        return 0;
    while (tail-- > 0)
        if (!keep(r, (char)(0x80 | ((code >> (6 * tail)) & 0x3f))))
            return 0;
    return 1;
}

/* What stands after a backslash. */
static int keep_escape(toml_reader *r)
{
    static const char names[] = "btnfr\"\\", bytes[] = "\b\t\n\f\r\"\\";
    int letter = peek(r), digits = letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    const char *known = letter > 0 ? strchr(names, letter) : NULL;
    char number[9] = "", *end;
    unsigned long code;

    if (known) {
        r->at++;
        return keep(r, bytes[known - names]);
    }
    if (digits == 0 || r->end - r->at <= digits)
        return config_wrong(r->c, r->line,
                            "a backslash that stands for nothing: write '...' for "
                            "text that is taken as it is");
    memcpy(number, r->at + 1, (size_t)digits);
    if (strspn(number, "0123456789abcdefABCDEF") != (size_t)digits)
        return config_wrong(r->c, r->line, "\\%c is followed by %d hexadecimal digits", letter,
                            digits);
    code = strtoul(number, &end, 16);
    r->at += digits + 1;
    return keep_character(r, code);
}

/* "..." with escapes, or '...' without. */
static int read_string(toml_reader *r)
{
    int quote = peek(r), byte;

    if (r->end - r->at >= 3 && r->at[1] == quote && r->at[2] == quote)
        return config_wrong(r->c, r->line, "strings of several lines are not read here");
    r->at++;
    while ((byte = peek(r)) != quote) {
        if (byte == -1 || byte == '\n')
            return config_wrong(r->c, r->line, "a string has no %c at its end", quote);
        r->at++;
        if (byte == '\\' && quote == '"' ? !keep_escape(r) : !keep(r, (char)byte))
            return 0;
    }
    r->at++;
    return 1;
}

/* Whether the text is a number; underscores between its digits are dropped. */
static int is_number(toml_reader *r)
{
    size_t used = 0;
    char *end;

    for (size_t k = 0; k < r->used; k++)
        if (r->text[k] != '_')
            r->text[used++] = r->text[k];
    r->used = used;
    if (r->used == TEXT || r->used == 0)
        return 0;
    r->text[r->used] = '\0';
    (void)strtod(r->text, &end);
    return *end == '\0';
}

static int is_word(const toml_reader *r, const char *word)
{
    return r->used == strlen(word) && memcmp(r->text, word, r->used) == 0;
}

static int read_bare(toml_reader *r)
{
    while (peek(r) > ' ' && !strchr(",]#", peek(r)))
        if (!keep(r, *r->at++))
            return 0;
    if (is_word(r, "true") || is_word(r, "false") || is_number(r))
        return 1;
    return config_wrong(r->c, r->line, "'%.*s' is no value: text goes in quotes",
                        r->used < 60 ? (int)r->used : 60, r->text);
}

static int read_scalar(toml_reader *r)
{
    int first = peek(r);

    r->used = 0;
    if (first == '{' || first == '[')
        return config_wrong(r->c, r->line, "a value is one text or number, or a list of them");
    if (first == '"' || first == '\'' ? !read_string(r) : !read_bare(r))
        return 0;
    return config_add(r->c, r->text, r->used);
}

static int read_array(toml_reader *r)
{
    r->c->entries[r->c->count - 1].is_list = 1;
    r->at++;
    for (;;) {
        skip_lines(r);
        if (peek(r) == ']')
            break;
        if (peek(r) == -1)
            return config_wrong(r->c, r->line, "a list has no ] at its end");
        if (!read_scalar(r))
            return 0;
        skip_lines(r);
        if (peek(r) == ',')
            r->at++;
        else if (peek(r) != ']')
            return config_wrong(r->c, r->line, "a comma or ] is wanted in a list");
    }
    r->at++;
    return 1;
}

static int is_name(int byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '-' || byte == '_';
}

static int read_name(toml_reader *r)
{
    const char *name = r->at;

    r->used = 0;
    if (peek(r) == '[')
        return config_wrong(r->c, r->line, "there are no tables here: write lines of name = value");
    if (peek(r) == '"' || peek(r) == '\'')
        return read_string(r) && config_begin(r->c, r->text, r->used, r->line);
    while (is_name(peek(r)))
        r->at++;
    if (r->at == name)
        return config_wrong(r->c, r->line, "the name of an option is wanted");
    return config_begin(r->c, name, (size_t)(r->at - name), r->line);
}

static int read_line(toml_reader *r)
{
    if (!read_name(r))
        return 0;
    skip_blanks(r);
    if (peek(r) != '=')
        return config_wrong(r->c, r->line, "'%s' is followed by = and a value",
                            r->c->entries[r->c->count - 1].name);
    r->at++;
    skip_blanks(r);
    if (peek(r) == '[' ? !read_array(r) : !read_scalar(r))
        return 0;
    skip_blanks(r);
    skip_comment(r);
    if (peek(r) == '\r')
        r->at++;
    if (peek(r) != '\n' && peek(r) != -1)
        return config_wrong(r->c, r->line, "there is more behind the value of '%s'",
                            r->c->entries[r->c->count - 1].name);
    return 1;
}

int config_read_toml(config *c, const char *text, size_t bytes)
{
    toml_reader r = {.c = c, .at = text, .end = text + bytes, .line = 1};

    for (skip_lines(&r); peek(&r) != -1; skip_lines(&r))
        if (!read_line(&r))
            return 0;
    return 1;
}

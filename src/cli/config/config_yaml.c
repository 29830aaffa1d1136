/* YAML by the events of libyaml: one document, a mapping of scalars to scalars or lists of them.
 * Anchors, tags and anything nested deeper are refused. */
#include <string.h>

#include "cli/config/config.h"

#ifdef DKM_HAVE_YAML
#include <yaml.h>

typedef struct yaml_reader {
    config *c;
    yaml_parser_t parser;
    yaml_event_t event;
    int has_event;
} yaml_reader;

static int event_line(const yaml_reader *r)
{
    return (int)r->event.start_mark.line + 1;
}

static int next_event(yaml_reader *r)
{
    if (r->has_event)
        yaml_event_delete(&r->event);
    r->has_event = yaml_parser_parse(&r->parser, &r->event);
    if (!r->has_event)
        return config_wrong(r->c, (int)r->parser.problem_mark.line + 1, "not YAML: %s",
                            r->parser.problem ? r->parser.problem : "cannot be read");
    return 1;
}

/* A scalar that is written plainly and means nothing. */
static int is_null(const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;

    return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (!*text || strcmp(text, "~") == 0 || strcmp(text, "null") == 0);
}

static int add_scalar(yaml_reader *r, const char *name)
{
    if (r->event.type != YAML_SCALAR_EVENT)
        return config_wrong(r->c, event_line(r),
                            "the value of '%s' is one text or number, or a list of them", name);
    if (is_null(&r->event))
        return config_wrong(r->c, event_line(r), "'%s' has no value", name);
    return config_add(r->c, (const char *)r->event.data.scalar.value, r->event.data.scalar.length);
}

static int read_value(yaml_reader *r)
{
    config_entry *e = &r->c->entries[r->c->count - 1];

    if (!next_event(r))
        return 0;
    if (r->event.type != YAML_SEQUENCE_START_EVENT)
        return add_scalar(r, e->name);
    e->is_list = 1;
    for (;;) {
        if (!next_event(r))
            return 0;
        if (r->event.type == YAML_SEQUENCE_END_EVENT)
            return 1;
        if (!add_scalar(r, e->name))
            return 0;
    }
}

static int read_mapping(yaml_reader *r)
{
    for (;;) {
        if (!next_event(r))
            return 0;
        if (r->event.type == YAML_MAPPING_END_EVENT)
            return 1;
        if (r->event.type != YAML_SCALAR_EVENT)
            return config_wrong(r->c, event_line(r), "the name of an option is wanted");
        if (!config_begin(r->c, (const char *)r->event.data.scalar.value,
                          r->event.data.scalar.length, event_line(r)) ||
            !read_value(r))
            return 0;
    }
}

static int skip_events(yaml_reader *r, int count)
{
    while (count > 0 && next_event(r))
        count--;
    return count == 0;
}

static int read_document(yaml_reader *r)
{
    if (!skip_events(r, 2)) /* the starts of the stream and of the document */
        return 0;
    if (r->event.type == YAML_STREAM_END_EVENT)
        return 1;
    if (!next_event(r))
        return 0;
    if (r->event.type == YAML_SCALAR_EVENT && is_null(&r->event))
        return 1;
    if (r->event.type != YAML_MAPPING_START_EVENT)
        return config_wrong(r->c, event_line(r), "write lines of `name: value`");
    if (!read_mapping(r) || !skip_events(r, 2))
        return 0;
    return r->event.type == YAML_STREAM_END_EVENT
               ? 1
               : config_wrong(r->c, event_line(r), "a second document: a file is one command");
}

int config_read_yaml(config *c, const char *text, size_t bytes)
{
    yaml_reader r = {.c = c};
    int good;

    if (!yaml_parser_initialize(&r.parser))
        return config_wrong(c, 0, "no memory");
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, bytes);
    good = read_document(&r);
    if (r.has_event)
        yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    return good;
}

#else

int config_read_yaml(config *c, const char *text, size_t bytes)
{
    (void)text;
    (void)bytes;
    return config_wrong(c, 0, "dkmap was built without libyaml: write the options as TOML");
}

#endif

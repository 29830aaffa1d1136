#include "cli/core/value.h"

int value_parse(const option *o, const char *text, value *v)
{
    dkm_value read = {.integer = 1};

    if (o->kind != OPT_FLAG && !dkm_setting_parse(o, text, &read))
        return 0;
    *v = (value){.option = o,
                 .text = text,
                 .real = read.real,
                 .integer = read.integer,
                 .P = read.P,
                 .Q = read.Q};
    return 1;
}

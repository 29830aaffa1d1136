/* Tables of training inputs and of new ones: what is learned of the columns of the first (names,
 * categories, fillings, scales) holds for it and for the second. The first byte chooses what becomes
 * of missing values, whether columns are standardized, and the format; the rest is the first file, a
 * form feed, and the second file. */
#include <string.h>

#include <dkmap/table.h>

#include "core/alloc.h"
#include "fuzz/fuzz.h"
#include "io/table/table.h"

static const char *const endings[][2] = {
    {".train.csv", ".new.csv"}, {".train.arff", ".new.arff"}, {".train.tsv", ".new.tsv"}};

/* What a model stores of a table is read again. */
static void check_stored(const dkm_table *table)
{
    dkm_table *again = NULL;
    char *text = NULL;

    if (dkm_table_print(table, &text).code != DKM_OK ||
        dkm_table_parse(fuzz_ctx(), text, &again).code != DKM_OK ||
        dkm_table_cols(again) != dkm_table_cols(table))
        fuzz_broken("a table that cannot be read again", text ? text : "");
    dkm_table_destroy(&again);
    DKM_FREE(text);
}

/* Columns of 0 and 1 and of numbers: as many for both files. */
static void read_through(const char *where, dkm_idx *cols)
{
    dkm_data *data = NULL, *others = NULL, **both[] = {&data, &others, NULL};
    dkm_idx dropped = 0;

    if (dkm_data_read(fuzz_ctx(), where, DKM_INPUTS, NULL, &data) == DKM_OK) {
        if (*cols >= 0 && dkm_data_cols(data) != *cols)
            fuzz_broken("other columns than the table's", where);
        *cols = dkm_data_cols(data);
        if (dkm_table_drop(both, &dropped) != DKM_OK && !*dkm_ctx_message(fuzz_ctx()))
            fuzz_broken("refused without a word", where);
    }
    dkm_data_destroy(&data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end, *second;
    const char *train, *new;
    dkm_table_settings settings;
    dkm_table *table = NULL;
    dkm_idx cols = -1;
    int format;

    if (size < 1)
        return 0;
    settings.missing = (dkm_missing)(data[0] % 4);
    settings.standardize = data[0] / 4 % 3;
    format = data[0] / 12 % 3;
    end = memchr(data + 1, '\f', size - 1);
    second = end ? end + 1 : data + size;
    end = end ? end : data + size;
    train = fuzz_file(endings[format][0], data + 1, (size_t)(end - data) - 1);
    new = fuzz_file(endings[format][1], second, (size_t)(data + size - second));
    fuzz_begin();
    if (dkm_table_learn(fuzz_ctx(), train, NULL, &settings, &table) == DKM_OK && table) {
        for (const char *at = dkm_table_describe(table); *at; at++)
            if ((unsigned char)*at < ' ')
                fuzz_broken("a control character in a description", dkm_table_describe(table));
        check_stored(table);
        dkm_table_use(fuzz_ctx(), table);
        read_through(train, &cols);
        read_through(new, &cols);
        dkm_table_use(fuzz_ctx(), NULL);
    }
    dkm_table_destroy(&table);
    fuzz_end(size, 8);
    return 0;
}

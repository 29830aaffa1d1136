/* Strings to strings: three classes with noise on the outputs (Weston et al. 2002), and outputs
 * that drive the inputs letter by letter (Bakir et al. 2004). */
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/generate/gen.h"

enum { STREAM_CLASS = 2001, STREAM_INPUT, STREAM_OUTPUT, STREAM_STATE };
enum { CLASSES = 3, LETTERS = 4 };

static dkm_idx class_of(const run *r, dkm_idx i)
{
    gen_dice dice = gen_dice_of(r, STREAM_CLASS, i);

    return gen_below(&dice, CLASSES);
}

static void class_row(void *user, dkm_idx i, double *row)
{
    row[0] = (double)class_of(user, i);
}

/* The letter after @p last: any of the first class's with the same chance; in the others it stays
 * with 0.7. The third class has c and d alone. */
static dkm_idx next_letter(dkm_idx class, dkm_idx last, gen_dice *dice)
{
    dkm_idx other;

    if (class == 0)
        return gen_below(dice, LETTERS);
    if (gen_uniform(dice) < 0.7)
        return last;
    if (class == 2)
        return 5 - last; /* c and d are 2 and 3 */
    other = gen_below(dice, LETTERS - 1);
    return other + (other >= last);
}

static dkm_idx toy_input(void *user, dkm_idx i, char *string)
{
    gen_dice dice = gen_dice_of(user, STREAM_INPUT, i);
    dkm_idx class = class_of(user, i), length = 10 + gen_below(&dice, 6);
    dkm_idx letter = class == 2 ? 2 + gen_below(&dice, 2) : gen_below(&dice, LETTERS);

    for (dkm_idx k = 0; k < length; k++) {
        string[k] = (char)('a' + letter);
        letter = next_letter(class, letter, &dice);
    }
    return length;
}

/* Once with probability 0.3, twice with 0.15. */
static int how_often(gen_dice *dice)
{
    double u = gen_uniform(dice);

    return u < 0.3 ? 1 : u < 0.45 ? 2 : 0;
}

static dkm_idx toy_output(void *user, dkm_idx i, char *string)
{
    static const char *const plain[CLASSES] = {"abad", "dbbd", "abc"};
    gen_dice dice = gen_dice_of(user, STREAM_OUTPUT, i);
    const char *text = plain[class_of(user, i)];
    dkm_idx length = (dkm_idx)strlen(text), at;

    memcpy(string, text, (size_t)length);
    for (int k = how_often(&dice); k > 0; k--) {
        at = gen_below(&dice, length + 1);
        memmove(string + at + 1, string + at, (size_t)(length++ - at));
        string[at] = (char)('a' + gen_below(&dice, LETTERS));
    }
    for (int k = how_often(&dice); k > 0; k--) {
        at = gen_below(&dice, length);
        memmove(string + at, string + at + 1, (size_t)(--length - at));
    }
    return length;
}

/* Output letters: two states, each stays with probability 4/5. */
static dkm_idx states(void *user, dkm_idx i, char *string)
{
    gen_dice dice = gen_dice_of(user, STREAM_STATE, i);
    dkm_idx length = 10 + gen_below(&dice, 11), state = gen_below(&dice, 2);

    for (dkm_idx k = 0; k < length; k++) {
        string[k] = (char)('1' + state);
        if (gen_uniform(&dice) < 0.2)
            state = 1 - state;
    }
    return length;
}

static dkm_idx model_of(const run *r, dkm_idx i)
{
    gen_dice dice = gen_dice_of(r, STREAM_CLASS, i);

    return gen_below(&dice, 2);
}

static void model_row(void *user, dkm_idx i, double *row)
{
    row[0] = (double)(1 + model_of(user, i));
}

/* Input letters: the model and the output letter say which may follow which; of two that may, each
 * does with 1/2. */
static dkm_idx driven(void *user, dkm_idx i, char *string)
{
    static const char *const next[2][2][3] = {{{"cc", "cc", "aa"}, {"ab", "ab", "bb"}},
                                              {{"ab", "ab", "bc"}, {"aa", "bb", "bb"}}};
    gen_dice dice = gen_dice_of(user, STREAM_INPUT, i);
    dkm_idx model = model_of(user, i), length;
    char out[GEN_STRING_MOST];

    length = states(user, i, out);
    string[0] = (char)('a' + gen_below(&dice, 3));
    for (dkm_idx k = 1; k < length; k++)
        string[k] = next[model][out[k] - '1'][string[k - 1] - 'a'][gen_below(&dice, 2)];
    return length;
}

/* Inputs, outputs and the label that both hang on. */
static dkm_status write_three(run *r, gen_file x, gen_file y, gen_file label)
{
    gen_file *files[] = {&x, &y, &label};
    dkm_status status = DKM_OK;

    DKM_TRY(gen_make_dir(r));
    for (int k = 0; k < 3; k++) {
        files[k]->n = args_int(r->args, "n");
        files[k]->user = r;
        DKM_TRY(gen_write(r, files[k]));
    }
    report_seconds(r);
out:
    return status;
}

static dkm_status strings(run *r)
{
    return write_three(r, (gen_file){.name = "x.txt", .d = -1, .letters = toy_input},
                       (gen_file){.name = "y.txt", .d = -1, .letters = toy_output},
                       (gen_file){.name = "labels.npy", .numbers = class_row});
}

static dkm_status switching(run *r)
{
    return write_three(r, (gen_file){.name = "x.txt", .d = -1, .letters = driven},
                       (gen_file){.name = "y.txt", .d = -1, .letters = states},
                       (gen_file){.name = "labels.npy", .numbers = model_row});
}

static const option options[] = {ROW_N, ROW_OUT_DIR, {0}};

const command command_gen_strings = {
    .name = "gen strings",
    .summary = "strings of three classes, mapped to a noisy word of the class",
    .about = "Inputs x.txt are 10 to 15 letters of a, b, c, d: any letter may follow in the first "
             "class, in the second a letter stays with 0.7, and in the third too, of c and d "
             "alone. Outputs y.txt are abad, dbbd and abc with letters put in and left out at "
             "random. labels.npy holds the classes.",
    .example = "dkmap gen strings --n 200 --seed 1 --out-dir toy",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = strings,
};

const command command_gen_switching = {
    .name = "gen switching",
    .summary = "strings of a hidden model, driven by outputs of the same length",
    .about = "Outputs y.txt are 10 to 20 letters of 1 and 2 that switch with 1/5; inputs x.txt of "
             "a, b, c follow one of two tables that depend on the output letter. labels.npy holds "
             "which.",
    .example = "dkmap gen switching --n 50 --seed 1 --out-dir switch",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = switching,
};

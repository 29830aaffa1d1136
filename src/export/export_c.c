/* A model as one file of C99: arrays of its numbers, the kernel, f(x) = (k(x, X) - c(x)) C + b, and
 * what becomes of it. The file defines a main() where DKMAP_MAIN is defined. */
#include "export/export_c.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <dkmap/version.h>

#include "io/table/table.h"

enum { NAME_LENGTH = 64 };

void dkm_export_c_array(dkm_export_file *file, const char *name, dkm_idx count,
                        const double *numbers)
{
    dkm_export_text(file, "static const double %s[%lld] = {\n", name, (long long)count);
    dkm_export_numbers(file, count, numbers);
    dkm_export_text(file, "};\n\n");
}

static void put_row(dkm_export_file *file, dkm_idx count, const double *numbers)
{
    dkm_export_text(file, "{");
    dkm_export_numbers(file, count, numbers);
    dkm_export_text(file, "},\n");
}

dkm_status dkm_export_c_rows(dkm_export_file *file, const char *name, const dkm_data *rows)
{
    dkm_status status = DKM_OK;
    dkm_idx d = dkm_data_cols(rows);

    dkm_export_text(file, "static const double %s[%lld][%lld] = {\n", name,
                    (long long)dkm_data_rows(rows), (long long)(d > 0 ? d : 1));
    DKM_TRY(dkm_export_rows(file, rows, NULL, put_row));
    dkm_export_text(file, "};\n\n");
out:
    return status;
}

/* A name for functions, from that of the file. */
static void make_prefix(const char *name, char prefix[NAME_LENGTH])
{
    size_t used = 0;

    if (!isalpha((unsigned char)name[0]) && name[0] != '_')
        prefix[used++] = 'm';
    for (; *name && *name != '.' && used < NAME_LENGTH - 1; name++)
        prefix[used++] = isalnum((unsigned char)*name) ? *name : '_';
    prefix[used] = '\0';
}

static int is_classifier(const dkm_export_plan *plan)
{
    return plan->classes && !plan->is_coordinates;
}

/* Numbers that NAME_predict() gives. */
static dkm_idx predicted(const dkm_export_plan *plan)
{
    return plan->is_coordinates         ? plan->decoder.cols
           : plan->target == DKM_LABELS ? 1
                                        : plan->outputs;
}

static int predicts(const dkm_export_plan *plan)
{
    return !plan->is_coordinates ||
           (strcmp(plan->method, "kde") == 0 && plan->decoder.method != DKM_PREIMAGE_AUTO);
}

static void put_declarations(const dkm_export_plan *plan, const char *p, dkm_export_file *file)
{
    dkm_export_text(file, "enum { %s_inputs = %lld, %s_outputs = %lld, %s_%s = %lld };\n\n", p,
                    (long long)plan->cols, p,
                    (long long)(predicted(plan) > 0 ? predicted(plan) : plan->outputs), p,
                    plan->is_coordinates ? "coordinates" : "scores", (long long)plan->outputs);
    if (predicts(plan))
        dkm_export_text(file,
                        "/* The outputs y of inputs x: %s. */\nvoid %s_predict(const double *x, "
                        "double *y);\n",
                        plan->target == DKM_LABELS       ? "a label"
                        : plan->target == DKM_LABEL_SETS ? "1 for labels of the set, 0 for others"
                                                         : "numbers",
                        p);
    if (is_classifier(plan))
        dkm_export_text(file,
                        "/* Decision values, one per class of %s_classes. */\n"
                        "void %s_score(const double *x, double *s);\n"
                        "extern const double %s_classes[];\n",
                        p, p, p);
    if (is_classifier(plan) && plan->slope > 0)
        dkm_export_text(file,
                        "/* Probabilities of the classes. */\n"
                        "void %s_probabilities(const double *x, double *s);\n",
                        p);
    if (plan->names)
        dkm_export_text(file, "/* Names of the labels. */\nextern const char *const %s_names[];\n",
                        p);
    if (plan->is_coordinates)
        dkm_export_text(file,
                        "/* Coordinates z of inputs x. */\n"
                        "void %s_encode(const double *x, double *z);\n",
                        p);
    if (plan->decoder.method != DKM_PREIMAGE_AUTO)
        dkm_export_text(file,
                        "/* An object y whose image is near the point of coordinates z. */\n"
                        "void %s_decode(const double *z, double *y);\n",
                        p);
    dkm_export_text(file, "\n");
}

static void put_head(const dkm_export_plan *plan, const char *name, dkm_export_file *file)
{
    dkm_export_text(
        file,
        "/* %s: a model of %s, exported by dkmap %s. C99, no other library than that of "
        "mathematics:\n *   cc -std=c99 -O2 -c %s\n"
        " *   cc -std=c99 -O2 -DDKMAP_MAIN %s -lm    a program: inputs on its standard\n"
        " *                                          input, what is predicted on its "
        "standard output\n",
        name, plan->method, DKMAP_VERSION, name, name);
    if (plan->kernel)
        dkm_export_text(file, " * Kernel: %s; %lld training inputs.\n",
                        dkm_kernel_text(plan->kernel), (long long)dkm_data_rows(plan->X));
    dkm_export_text(file,
                    " */\n#include <math.h>\n#ifdef DKMAP_MAIN\n#include <stdio.h>\n%s#endif\n\n",
                    plan->decoder.method != DKM_PREIMAGE_AUTO ? "#include <string.h>\n" : "");
}

/* Columns as they are in files to rows that the kernel sees. */
static void put_table(const dkm_export_plan *plan, dkm_export_file *file)
{
    const dkm_table *t = plan->table;
    int fills =
        t->settings.missing == DKM_MISSING_MEAN || t->settings.missing == DKM_MISSING_MEDIAN;

    dkm_export_text(file, "/* for a missing number, what is taken off, what divides */\n"
                          "static const double columns[][3] = {\n");
    for (dkm_idx j = 0; j < t->count; j++)
        dkm_export_text(file, "{%.17g, %.17g, %.17g},\n", fills ? t->column[j].fill : 0.0,
                        t->column[j].shift, t->column[j].scale);
    dkm_export_text(file,
                    "};\n\nstatic void prepare(const double *x, double *row)\n{\n"
                    "    for (int j = 0; j < %lld; j++) {\n"
                    "        double value = %s;\n\n"
                    "        row[j] = (value - columns[j][1]) / columns[j][2];\n    }\n}\n\n",
                    (long long)plan->cols, fills ? "isnan(x[j]) ? columns[j][0] : x[j]" : "x[j]");
}

/* k(x, X) in k[], centered where the model has it so. */
static void put_centering(const dkm_export_plan *plan, dkm_export_file *file)
{
    long long m = (long long)dkm_data_rows(plan->X);

    if (plan->centers_rows)
        dkm_export_text(file,
                        "    for (int i = 0; i < %lld; i++)\n        mean += k[i] / %lld;\n"
                        "    mean -= %.17g;\n",
                        m, m, plan->grand);
    dkm_export_text(file, "    for (int i = 0; i < %lld; i++)\n        k[i] -= %smeans[i];\n", m,
                    plan->centers_rows ? "mean + " : "");
}

/* f(x), which all else is made from. */
static void put_function(const dkm_export_plan *plan, const char *name, dkm_export_file *file)
{
    long long m = (long long)dkm_data_rows(plan->C), p = (long long)plan->outputs;

    dkm_export_text(file, "%s(const double *x, double *f)\n{\n", name);
    if (plan->table)
        dkm_export_text(file, "    double row[%lld];\n", (long long)plan->d);
    if (plan->X)
        dkm_export_text(file, "    double k[%lld]%s;\n", m, plan->centers_rows ? ", mean = 0" : "");
    dkm_export_text(file, "%s",
                    plan->table ? "\n    prepare(x, row);\n    x = row;\n"
                    : plan->X   ? "\n"
                                : "");
    if (plan->X)
        dkm_export_text(
            file, "    for (int i = 0; i < %lld; i++)\n        k[i] = k0(x, inputs[i]);\n", m);
    if (plan->means)
        put_centering(plan, file);
    dkm_export_text(file,
                    "    for (int j = 0; j < %lld; j++) {\n        f[j] = 0;\n"
                    "        for (int i = 0; i < %lld; i++)\n"
                    "            f[j] += %s[i] * coefficients[i][j];\n%s    }\n}\n\n",
                    p, m, plan->X ? "k" : "x", plan->b ? "        f[j] += intercept[j];\n" : "");
}

/* Text between quotes. */
static void put_quoted(dkm_export_file *file, const char *text, dkm_idx length)
{
    dkm_export_text(file, "\"");
    for (dkm_idx k = 0; k < length; k++) {
        unsigned char c = (unsigned char)text[k];
        if (isalnum(c) || c == ' ' || c == '_' || c == '-' || c == '.' || c == ',')
            dkm_export_text(file, "%c", c);
        else
            dkm_export_text(file, "\\%03o", c);
    }
    dkm_export_text(file, "\"");
}

static void put_names(const dkm_export_plan *plan, const char *p, dkm_export_file *file)
{
    dkm_export_text(file, "const char *const %s_names[] = {\n", p);
    for (dkm_idx k = 0; k < dkm_categories_count(plan->names); k++) {
        dkm_idx length;
        const char *name = dkm_categories_name(plan->names, k, &length);
        put_quoted(file, name, length);
        dkm_export_text(file, ",\n");
    }
    dkm_export_text(file, "};\n\n");
}

/* Labels, label sets and probabilities from decision values. */
static void put_classes(const dkm_export_plan *plan, const char *p, dkm_export_file *file)
{
    long long n = (long long)plan->outputs;

    dkm_export_text(file, "const double %s_classes[] = {\n", p);
    dkm_export_numbers(file, plan->outputs, plan->classes);
    dkm_export_text(file, "};\n\nvoid %s_predict(const double *x, double *y)\n{\n", p);
    if (plan->target == DKM_LABEL_SETS)
        dkm_export_text(file,
                        "    %s_score(x, y);\n    for (int j = 0; j < %lld; j++)\n"
                        "        y[j] = y[j] >= %.17g;\n}\n\n",
                        p, n, plan->threshold);
    else
        dkm_export_text(file,
                        "    double s[%lld];\n    int best = 0;\n\n    %s_score(x, s);\n"
                        "    for (int j = 1; j < %lld; j++)\n        if (s[j] > s[best])\n"
                        "            best = j;\n    y[0] = %s_classes[best];\n}\n\n",
                        n, p, n, p);
    if (plan->slope > 0)
        dkm_export_text(file,
                        "void %s_probabilities(const double *x, double *s)\n{\n"
                        "    double most, sum = 0;\n\n    %s_score(x, s);\n    most = s[0];\n"
                        "    for (int j = 1; j < %lld; j++)\n        most = fmax(most, s[j]);\n"
                        "    for (int j = 0; j < %lld; j++)\n"
                        "        sum += s[j] = exp(%.17g * (s[j] - most));\n"
                        "    for (int j = 0; j < %lld; j++)\n        s[j] /= sum;\n}\n\n",
                        p, p, n, n, plan->slope, n);
}

/* NAME_predict() of kde, and main(). */
static void put_main(const dkm_export_plan *plan, const char *p, dkm_export_file *file)
{
    int decodes = plan->decoder.method != DKM_PREIMAGE_AUTO;
    const char *first = predicts(plan) ? "predict" : "encode";
    dkm_idx widest = plan->cols, given = predicts(plan) ? predicted(plan) : plan->outputs;

    widest = plan->outputs > widest ? plan->outputs : widest;
    widest = plan->decoder.cols > widest ? plan->decoder.cols : widest;
    dkm_export_text(file,
                    "#ifdef DKMAP_MAIN\nint main(int argc, char **argv)\n{\n"
                    "    static double x[%lld], y[%lld];\n"
                    "    int in = %lld, out = %lld, at = 0;\n"
                    "    void (*map)(const double *, double *) = %s_%s;\n\n",
                    (long long)widest, (long long)widest, (long long)plan->cols, (long long)given,
                    p, first);
    if (decodes)
        dkm_export_text(
            file,
            "    if (argc > 1 && strcmp(argv[1], \"decode\") == 0) {\n"
            "        map = %s_decode;\n        in = %lld;\n        out = %lld;\n    }\n",
            p, (long long)plan->outputs, (long long)plan->decoder.cols);
    dkm_export_text(file, "    (void)argc;\n    (void)argv;\n"
                          "    while (scanf(\"%%lf%%*[, \\t]\", x + at) >= 1) {\n"
                          "        if (++at < in)\n            continue;\n        at = 0;\n"
                          "        map(x, y);\n        for (int j = 0; j < out; j++)\n");
    if (plan->names && predicts(plan))
        dkm_export_text(file, "            fprintf(stdout, \"%%s\\n\", %s_names[(int)y[j]]);\n", p);
    else
        dkm_export_text(
            file, "            fprintf(stdout, \"%%.17g%%c\", y[j], j + 1 < out ? ',' : '\\n');\n");
    dkm_export_text(file, "    }\n    return ferror(stdin) != 0 || at != 0;\n}\n#endif\n");
}

/* The numbers of the model, and its kernel. */
static dkm_status put_numbers(const dkm_export_plan *plan, dkm_export_file *file)
{
    dkm_status status = DKM_OK;

    if (plan->table)
        put_table(plan, file);
    if (plan->X) {
        DKM_TRY(dkm_export_c_rows(file, "inputs", plan->X));
        dkm_export_c_kernel(plan, file);
    }
    DKM_TRY(dkm_export_c_rows(file, "coefficients", plan->C));
    if (plan->b)
        dkm_export_c_array(file, "intercept", plan->outputs, plan->b);
    if (plan->means)
        dkm_export_c_array(file, "means", dkm_data_rows(plan->X), plan->means);
out:
    return status;
}

dkm_status dkm_export_c(const dkm_export_plan *plan, const char *name, dkm_export_file *file)
{
    dkm_status status = DKM_OK;
    char p[NAME_LENGTH], function[2 * NAME_LENGTH];

    make_prefix(name, p);
    put_head(plan, name, file);
    put_declarations(plan, p, file);
    DKM_TRY(put_numbers(plan, file));
    snprintf(function, sizeof function, "void %s_%s", p,
             plan->is_coordinates  ? "encode"
             : is_classifier(plan) ? "score"
                                   : "predict");
    put_function(plan, function, file);
    if (is_classifier(plan))
        put_classes(plan, p, file);
    if (plan->decoder.method != DKM_PREIMAGE_AUTO)
        DKM_TRY(dkm_export_c_decoder(plan, p, file));
    if (plan->is_coordinates && predicts(plan))
        dkm_export_text(file,
                        "void %s_predict(const double *x, double *y)\n{\n    double z[%lld];\n\n"
                        "    %s_encode(x, z);\n    %s_decode(z, y);\n}\n\n",
                        p, (long long)plan->outputs, p, p);
    if (plan->names)
        put_names(plan, p, file);
    put_main(plan, p, file);
out:
    return status;
}

/* A kernel as C: a function k<node>(x, y) of two rows for each node of the tree, those inside
 * before the one around them. Distances are sums of squared differences, which lose no digits. */
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "export/export_c.h"
#include "kernels/evaluation/kernel_impl.h"

/* A leaf: what is added up over the columns into s, whether squared norms a and b are too, and the
 * value, in which P and Q stand for the parameters. */
typedef struct leaf {
    const char *name, *sum;
    int norms;
    const char *value;
} leaf;

#define PRODUCT "u * v"
#define SQUARE  "(u - v) * (u - v)"

static const leaf leaves[] = {
    {"linear", PRODUCT, 0, "s"},
    {"poly", PRODUCT, 0, "pow(s + Q, P)"},
    {"rbf", SQUARE, 0, "exp(-s / (2 * P * P))"},
    {"laplace", "fabs(u - v)", 0, "exp(-s / P)"},
    {"expdot", PRODUCT, 0, "exp(s / (P * P))"},
    {"cosine", PRODUCT, 1, "a > 0 && b > 0 ? s / (sqrt(a) * sqrt(b)) : a == b"},
    {"tanimoto", PRODUCT, 1, "a + b - s > 0 ? s / (a + b - s) : 1"},
    {"rq", SQUARE, 0, "pow(1 + s / (2 * Q * P * P), -Q)"},
    {"matern", SQUARE, 0,
     "Q < 1 ? exp(-sqrt(s) / P) : Q < 2 ? (1 + sqrt(3 * s) / P) * exp(-sqrt(3 * s) / P)\n"
     "         : (1 + sqrt(5 * s) / P + 5 * s / (3 * P * P)) * exp(-sqrt(5 * s) / P)"}};

static const leaf *find_leaf(const char *name)
{
    size_t k = 0;

    while (strcmp(leaves[k].name, name) != 0)
        k++;
    return leaves + k;
}

/* A formula with numbers in place of P and Q. */
static void put_formula(dkm_export_file *file, const char *formula, double P, double Q)
{
    for (; *formula; formula++)
        if (*formula == 'P' || *formula == 'Q')
            dkm_export_text(file, "%.17g", *formula == 'P' ? P : Q);
        else
            dkm_export_bytes(file, formula, 1);
}

static double param(const dkm_node *node, int k)
{
    int count = 0;

    while (node->kind->params && node->kind->params[count].name)
        count++;
    return k == 0 && dkm_node_widths(node) ? 1.0 : k < count ? dkm_node_param(node, k) : 0.0;
}

/* How column j of the rows that a leaf sees is written, for row x or y. */
static void put_column(dkm_export_file *file, const dkm_row_transform *t, long long index, char row)
{
    if (t->columns && t->widths)
        dkm_export_text(file, "%c[c%lld[j]] / w%lld[j]", row, index, index);
    else if (t->columns)
        dkm_export_text(file, "%c[c%lld[j]]", row, index);
    else if (t->widths)
        dkm_export_text(file, "%c[j] / w%lld[j]", row, index);
    else
        dkm_export_text(file, "%c[j]", row);
}

/* The columns that a leaf sees, and their widths. */
static void put_columns(dkm_export_file *file, const dkm_row_transform *t, long long index)
{
    char name[32];

    if (t->columns) {
        dkm_export_text(file, "static const int c%lld[] = {", index);
        for (dkm_idx j = 0; j < t->d; j++)
            dkm_export_text(file, "%lld,%s", (long long)t->columns[j], j % 20 == 19 ? "\n" : " ");
        dkm_export_text(file, "};\n");
    }
    snprintf(name, sizeof name, "w%lld", index);
    if (t->widths)
        dkm_export_c_array(file, name, t->d, t->widths);
}

static void put_leaf(dkm_export_file *file, const dkm_node *node, const leaf *l, double P,
                     const dkm_row_transform *t)
{
    long long index = (long long)node->index;

    put_columns(file, t, index);
    dkm_export_text(
        file,
        "static double k%lld(const double *x, const double *y)\n{\n"
        "    double s = 0%s;\n\n    for (int j = 0; j < %lld; j++) {\n        double u = ",
        index, l->norms ? ", a = 0, b = 0" : "", (long long)t->d);
    put_column(file, t, index, 'x');
    dkm_export_text(file, ", v = ");
    put_column(file, t, index, 'y');
    dkm_export_text(file, ";\n        s += %s;\n%s    }\n    return ", l->sum,
                    l->norms ? "        a += u * u;\n        b += v * v;\n" : "");
    put_formula(file, l->value, P, param(node, 1));
    dkm_export_text(file, ";\n}\n\n");
}

/* Values of the kernels inside joined by a sign. */
static void put_joined(dkm_export_file *file, const dkm_node *node, const char *sign)
{
    for (dkm_idx k = 0; k < node->inner_count; k++)
        dkm_export_text(file, "%sk%lld(x, y)", k ? sign : "", (long long)node->inner[k]->index);
}

/* exp(-rate ||x - y||^2) in the space of the kernel inside. */
static void put_gauss(dkm_export_file *file, long long inner, double rate)
{
    dkm_export_text(file, "exp(-%.17g * fmax(0, k%lld(x, x) + k%lld(y, y) - 2 * k%lld(x, y)))",
                    rate, inner, inner, inner);
}

static void put_combined(dkm_export_file *file, const dkm_node *node)
{
    const char *name = node->kind->name;
    long long inner = (long long)node->inner[0]->index;
    double P = param(node, 0);

    dkm_export_text(file, "static double k%lld(const double *x, const double *y)\n{\n    return ",
                    (long long)node->index);
    if (strcmp(name, "sum") == 0 || strcmp(name, "on") == 0)
        put_joined(file, node, " + ");
    else if (strcmp(name, "product") == 0)
        put_joined(file, node, " * ");
    else if (strcmp(name, "scale") == 0)
        dkm_export_text(file, "%.17g * k%lld(x, y)", P, inner);
    else if (strcmp(name, "power") == 0)
        dkm_export_text(file, "pow(k%lld(x, y), %.17g)", inner, P);
    else if (strcmp(name, "exp") == 0)
        dkm_export_text(file, "exp(k%lld(x, y))", inner);
    else if (strcmp(name, "rbf") == 0)
        put_gauss(file, inner, 0.5 / (P * P));
    else
        dkm_export_text(file, "normalized(k%lld(x, y), k%lld(x, x), k%lld(y, y), x, y)", inner,
                        inner, inner);
    dkm_export_text(file, ";\n}\n\n");
}

static int has_normalize(const dkm_kernel *kernel)
{
    for (dkm_idx k = 0; k < kernel->nodes; k++)
        if (strcmp(kernel->node[k].kind->name, "normalize") == 0)
            return 1;
    return 0;
}

/* An object with k(x, x) = 0 is 1 to its equals and 0 to all others. */
static void put_normalized(const dkm_export_plan *plan, dkm_export_file *file)
{
    dkm_export_text(file,
                    "static double normalized(double k, double a, double b, const double *x, const "
                    "double *y)\n{\n"
                    "    int same = a == 0 && b == 0;\n\n"
                    "    for (int j = 0; same && j < %lld; j++)\n"
                    "        same = x[j] == y[j];\n"
                    "    return a > 0 && b > 0 ? k / (sqrt(a) * sqrt(b)) : same;\n}\n\n",
                    (long long)plan->d);
}

/* normalize(exp(A)) is a Gaussian in the space of A, whose values may leave the range of numbers. */
static int is_exponential(const dkm_node *node)
{
    return strcmp(node->kind->name, "normalize") == 0 &&
           strcmp(node->inner[0]->kind->name, "exp") == 0;
}

static dkm_local put_node(const dkm_export_plan *plan, const dkm_node *node, dkm_export_file *file)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_row_transform t = {0};

    if (is_exponential(node)) {
        dkm_export_text(file,
                        "static double k%lld(const double *x, const double *y)\n{\n    return ",
                        (long long)node->index);
        put_gauss(file, (long long)node->inner[0]->inner[0]->index, 0.5);
        dkm_export_text(file, ";\n}\n\n");
    } else if (node->inner_count > 0) {
        put_combined(file, node);
    } else {
        DKM_STEP(dkm_row_transform_of(plan->kernel, node, plan->d, NULL, &t));
        put_leaf(file, node, find_leaf(node->kind->name), param(node, 0), &t);
    }
out:
    dkm_row_transform_clear(&t);
    return local;
}

void dkm_export_c_kernel(const dkm_export_plan *plan, dkm_export_file *file)
{
    const dkm_kernel *kernel = plan->kernel;

    if (has_normalize(kernel))
        put_normalized(plan, file);
    for (dkm_idx k = kernel->nodes - 1; k >= 0 && file->local.code == DKM_OK; k--)
        if (k == 0 || !is_exponential(&kernel->node[k - 1]))
            file->local = put_node(plan, &kernel->node[k], file);
}

/* From a term of an expression to a node: which class its name stands for. */
#include "kernels/expression/node.h"

#include <string.h>
#include <strings.h>

#include "core/minmax.h"
#include "kernels/expression/params.h"
#include "kernels/expression/registered.h"

#define NAME_LIMIT 32 /* longer names are not looked at for a likely meaning */

/* Edit distance between a name of the text and one of ours, both short. */
static dkm_idx node_distance(const char *a, dkm_idx na, const char *b, dkm_idx nb)
{
    dkm_idx row[NAME_LIMIT + 1];

    for (dkm_idx j = 0; j <= nb; j++)
        row[j] = j;
    for (dkm_idx i = 1; i <= na; i++) {
        dkm_idx corner = row[0];
        row[0] = i;
        for (dkm_idx j = 1; j <= nb; j++) {
            dkm_idx swap = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            row[j] = dkm_idx_min(swap, 1 + dkm_idx_min(row[j], row[j - 1]));
        }
    }
    return row[nb];
}

/* Names that other programs have. */
static const char *other_name(const char *text, dkm_idx length)
{
    static const struct {
        const char *other, *advice;
    } known[] = {
        {"gaussian", "it is rbf(sigma=1) here"},
        {"gauss", "it is rbf(sigma=1) here"},
        {"rbfdot", "it is rbf(sigma=1) here"},
        {"polynomial", "it is poly(degree=3, c=1) here"},
        {"polydot", "it is poly(degree=3, c=1) here"},
        {"laplacian", "it is laplace(sigma=1) here"},
        {"laplacedot", "it is laplace(sigma=1) here"},
        {"vanilladot", "it is linear here"},
        {"precomputed", "it is gram here, with --x-type gram"},
        {"jaccard", "it is tanimoto here"},
        {"delta", "it is class here"},
        {"wl", "it is weisfeiler-lehman(h=3) here"},
        {"wd", "it is weighted-degree(degree=5) here"},
        {"wds", "it is weighted-degree(degree=5, shift=3) here"},
        {"locality-improved", "it is local-patch(shape=28x28, width=9, degree=2, power=1) here"},
        {"kronecker", "it is class here"},
        {"intersection", "it is labels for label sets here, and set for the number of subsets"},
        {"squaredexponential", "it is rbf(sigma=1) here"},
        {"se", "it is rbf(sigma=1) here"},
        {"exponential", "it is matern(nu=0.5, sigma=1) here, and laplace(sigma=1) of 1-norms"},
        {"dot", "it is linear here"},
        {"subsequence", "it is ssk(r=3, lambda=0.01) here"},
        {"stringkernel", "it is ssk(r=3, lambda=0.01) or spectrum(p=3) here"},
        {"stringdot", "it is ssk(r=3, lambda=0.01) or spectrum(p=3) here"},
        {"kmer", "it is spectrum(p=3) here"},
        {"rationalquadratic", "it is rq(alpha=1, sigma=1) here"},
        {"sigmoid", "tanh(a <x, x'> + b) has negative eigenvalues for most a and b, so it is no "
                    "kernel; rbf or poly do what it is used for"},
        {"tanh",
         "tanh(a <x, x'> + b) has negative eigenvalues for most a and b, so it is no kernel; "
         "rbf or poly do what it is used for"},
    };

    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if ((dkm_idx)strlen(known[k].other) == length &&
            strncasecmp(known[k].other, text, (size_t)length) == 0)
            return known[k].advice;
    return NULL;
}

static dkm_local fail_unknown(const dkm_expression *e, dkm_span name)
{
    const char *text = e->text + name.at, *nearest = NULL;
    const char *advice = other_name(text, name.length);
    dkm_idx best = 3;

    if (advice)
        return dkm_expression_fail(e, name.at, "unknown name '%.*s': %s", (int)name.length, text,
                                   advice);
    for (dkm_idx k = 0; dkm_kernel_registry[k] && name.length < NAME_LIMIT; k++) {
        const char *known = dkm_kernel_registry[k]->name;
        dkm_idx off = node_distance(text, name.length, known, (dkm_idx)strlen(known));
        if (strlen(known) == (size_t)name.length &&
            strncasecmp(known, text, (size_t)name.length) == 0)
            off = 0;
        if (off < best && off < name.length) {
            best = off;
            nearest = known;
        }
    }
    if (nearest)
        return dkm_expression_fail(e, name.at, "unknown name '%.*s', did you mean '%s'?",
                                   (int)name.length, text, nearest);
    return dkm_expression_fail(e, name.at, "unknown name '%.*s'", (int)name.length, text);
}

static int takes(const dkm_kernel_class *kind, dkm_idx inner)
{
    return inner >= kind->min_inner && (kind->max_inner < 0 || inner <= kind->max_inner);
}

/* One name may stand for several kinds, distinguished by the number of kernels inside. */
static dkm_local node_find_kind(const dkm_expression *e, const dkm_term *t,
                                const dkm_kernel_class **kind)
{
    const dkm_kernel_class *named = NULL;

    *kind = NULL;
    for (dkm_idx k = 0; dkm_kernel_registry[k]; k++) {
        if (!dkm_expression_is(e, t->name, dkm_kernel_registry[k]->name))
            continue;
        named = dkm_kernel_registry[k];
        if (takes(named, t->inner))
            *kind = named;
    }
    if (!named) {
        named = dkm_kernel_registered_find(e->ctx, e->text + t->name.at, t->name.length);
        *kind = named && takes(named, t->inner) ? named : NULL;
    }
    if (!named)
        return fail_unknown(e, t->name);
    if (!*kind && named->max_inner == 0)
        return dkm_expression_fail(e, t->name.at, "%s takes no kernel inside it", named->name);
    if (!*kind)
        return dkm_expression_fail(e, t->name.at, "%s takes %s%d kernel%s inside it, not %lld",
                                   named->name, named->max_inner < 0 ? "at least " : "",
                                   named->min_inner, named->min_inner == 1 ? "" : "s",
                                   (long long)t->inner);
    return DKM_LOCAL_OK;
}

dkm_local dkm_node_read(const dkm_expression *e, dkm_idx term, dkm_node *node)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(node_find_kind(e, &e->term[term], &node->kind));
    DKM_STEP(dkm_params_read(e, term, node));
out:
    return local;
}

#include "selection/metrics/losses.h"

#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"

#define BIT(type) (1u << (type))

int dkm_loss_fits(dkm_loss loss, dkm_type type)
{
    static const unsigned fits[DKM_LOSS_COUNT] = {
        [DKM_LOSS_MSE] = BIT(DKM_DENSE),
        [DKM_LOSS_ZERO_ONE] = BIT(DKM_DENSE) | BIT(DKM_LABELS) | BIT(DKM_LABEL_SETS) |
                              BIT(DKM_STRINGS) | BIT(DKM_SETS),
        [DKM_LOSS_HAMMING] =
            BIT(DKM_DENSE) | BIT(DKM_LABELS) | BIT(DKM_LABEL_SETS) | BIT(DKM_STRINGS),
        [DKM_LOSS_EDIT] = BIT(DKM_STRINGS),
        [DKM_LOSS_RANK] = BIT(DKM_LABELS),
        [DKM_LOSS_KERNEL] = BIT(DKM_TYPE_COUNT) - 1, /* the kernel knows */
    };

    return (fits[loss] & BIT(type)) != 0;
}

/* Letters or list entries of object i. */
static dkm_idx losses_length_of(const dkm_objs *objs, dkm_idx i)
{
    return objs->start[i + 1] - objs->start[i];
}

static void squared_rows(const dkm_objs *y, const dkm_objs *p, double *losses)
{
    for (dkm_idx i = 0; i < y->n; i++) {
        double sum = 0.0;
        for (dkm_idx j = i * y->d; j < (i + 1) * y->d; j++)
            sum += (y->values[j] - p->values[j]) * (y->values[j] - p->values[j]);
        losses[i] = y->d > 0 ? sum / (double)y->d : 0.0;
    }
}

/* Share of the columns that differ. */
static double differing_values(const dkm_objs *y, const dkm_objs *p, dkm_idx i)
{
    dkm_idx differ = 0;

    for (dkm_idx j = i * y->d; j < (i + 1) * y->d; j++)
        differ += y->values[j] != p->values[j];
    return y->d > 0 ? (double)differ / (double)y->d : 0.0;
}

static int same_object(const dkm_objs *y, const dkm_objs *p, dkm_idx i)
{
    dkm_idx length;

    if (dkm_type_storage_form(y->type) == DKM_STORED_VALUES)
        return differing_values(y, p, i) == 0.0;
    length = losses_length_of(y, i);
    if (length != losses_length_of(p, i))
        return 0;
    if (dkm_type_storage_form(y->type) == DKM_STORED_BYTES)
        return memcmp(y->bytes + y->start[i], p->bytes + p->start[i], (size_t)length) == 0;
    return memcmp(y->col + y->start[i], p->col + p->start[i], (size_t)length * sizeof *y->col) == 0;
}

static dkm_local differing_letters(const dkm_data *truth, const dkm_data *pred, dkm_idx i,
                                   double *loss)
{
    const dkm_objs *y = &truth->mine, *p = &pred->mine;
    const char *s = y->bytes + y->start[i], *t = p->bytes + p->start[i];
    dkm_idx length = losses_length_of(y, i), differ = 0;

    if (length != losses_length_of(p, i))
        return dkm_fail(truth->ctx, DKM_ERR_ARG,
                        "row %lld: the true string has %lld letters and the predicted one %lld; "
                        "hamming needs as many (edit does not)",
                        (long long)(truth->first + i), (long long)length,
                        (long long)losses_length_of(p, i));
    for (dkm_idx k = 0; k < length; k++)
        differ += s[k] != t[k];
    *loss = length > 0 ? (double)differ / (double)length : 0.0;
    return DKM_LOCAL_OK;
}

/* |Y xor P| of two ascending lists. */
static dkm_idx symmetric_difference(const dkm_idx *a, dkm_idx n, const dkm_idx *b, dkm_idx m)
{
    dkm_idx i = 0, j = 0, both = 0;

    while (i < n && j < m) {
        dkm_idx x = a[i], y = b[j];
        both += x == y;
        i += x <= y;
        j += y <= x;
    }
    return n + m - 2 * both;
}

static double differing_labels(const dkm_objs *y, const dkm_objs *p, dkm_idx i, dkm_idx labels)
{
    dkm_idx differ = symmetric_difference(y->col + y->start[i], losses_length_of(y, i),
                                          p->col + p->start[i], losses_length_of(p, i));

    return labels > 0 ? (double)differ / (double)labels : 0.0;
}

static dkm_local hamming_rows(const dkm_data *truth, const dkm_data *pred, dkm_idx labels,
                              double *losses)
{
    const dkm_objs *y = &truth->mine, *p = &pred->mine;
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx i = 0; i < y->n && local.code == DKM_OK; i++) {
        if (y->type == DKM_STRINGS)
            local = differing_letters(truth, pred, i, &losses[i]);
        else if (y->type == DKM_LABEL_SETS)
            losses[i] = differing_labels(y, p, i, labels);
        else
            losses[i] = differing_values(y, p, i);
    }
    return local;
}

static dkm_idx least(dkm_idx a, dkm_idx b, dkm_idx c)
{
    dkm_idx ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Levenshtein's distance, one row of the table at a time: row[j] becomes the distance from the
 * first letters of s to the first j of t. */
static dkm_idx edit_distance(const char *s, dkm_idx n, const char *t, dkm_idx m, dkm_idx *row)
{
    for (dkm_idx j = 0; j <= m; j++)
        row[j] = j;
    for (dkm_idx i = 0; i < n; i++) {
        dkm_idx corner = row[0];
        row[0] = i + 1;
        for (dkm_idx j = 0; j < m; j++) {
            dkm_idx next = least(row[j] + 1, row[j + 1] + 1, corner + (s[i] != t[j]));
            corner = row[j + 1];
            row[j + 1] = next;
        }
    }
    return row[m];
}

static dkm_idx losses_longest(const dkm_objs *objs)
{
    dkm_idx most = 0;

    for (dkm_idx i = 0; i < objs->n; i++)
        if (losses_length_of(objs, i) > most)
            most = losses_length_of(objs, i);
    return most;
}

static dkm_local edit_rows(const dkm_data *truth, const dkm_data *pred, double *losses)
{
    const dkm_objs *y = &truth->mine, *p = &pred->mine;
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx *row = NULL;

    DKM_STEP(dkm_alloc(truth->ctx, losses_longest(p) + 1, &row));
    for (dkm_idx i = 0; i < y->n; i++)
        losses[i] = (double)edit_distance(y->bytes + y->start[i], losses_length_of(y, i),
                                          p->bytes + p->start[i], losses_length_of(p, i), row);
out:
    DKM_FREE(row);
    return local;
}

/* The place of @p wanted in a list of @p n pairs of index and distance, or of index and score: the
 * best comes first, so values that fall are scores. */
static double place_in_list(const double *list, dkm_idx n, double wanted)
{
    double nearer = 0.0, as_near = 0.0;
    double sign = list[1] > list[2 * n - 1] ? -1.0 : 1.0;
    dkm_idx at = 0;

    while (at < n && list[2 * at] != wanted)
        at++;
    if (at == n)
        return (double)(n + 1);
    for (dkm_idx k = 0; k < n; k++) {
        nearer += sign * list[2 * k + 1] < sign * list[2 * at + 1];
        as_near += list[2 * k + 1] == list[2 * at + 1];
    }
    return nearer + 0.5 * (as_near + 1.0);
}

dkm_local dkm_loss_rows(const dkm_data *truth, const dkm_data *pred, dkm_loss loss, dkm_idx labels,
                        double *losses)
{
    switch (loss) {
    case DKM_LOSS_MSE:
        squared_rows(&truth->mine, &pred->mine, losses);
        return DKM_LOCAL_OK;
    case DKM_LOSS_ZERO_ONE:
        for (dkm_idx i = 0; i < truth->mine.n; i++)
            losses[i] = same_object(&truth->mine, &pred->mine, i) ? 0.0 : 1.0;
        return DKM_LOCAL_OK;
    case DKM_LOSS_HAMMING:
        return hamming_rows(truth, pred, labels, losses);
    case DKM_LOSS_EDIT:
        return edit_rows(truth, pred, losses);
    case DKM_LOSS_RANK:
        for (dkm_idx i = 0; i < truth->mine.n; i++)
            losses[i] = place_in_list(pred->mine.values + i * pred->mine.d, pred->mine.d / 2,
                                      truth->mine.values[i]);
        return DKM_LOCAL_OK;
    case DKM_LOSS_KERNEL:
    case DKM_LOSS_COUNT:
        break;
    }
    return dkm_fail(truth->ctx, DKM_ERR_INTERNAL, "loss %d has no rows", (int)loss);
}

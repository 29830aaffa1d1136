/* edit: the distance of Levenshtein between two strings: insertions, deletions and changes of a
 * character (of UTF-8) that turn one into the other. */
#include "core/alloc.h"
#include "selection/metrics/losses.h"
#include "selection/metrics/utf8.h"

static dkm_idx least(dkm_idx a, dkm_idx b, dkm_idx c)
{
    dkm_idx ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Levenshtein's distance, one row of the table at a time: row[j] becomes the distance from the
 * first characters of s to the first j of t. */
static dkm_idx edit_distance(const uint32_t *s, dkm_idx n, const uint32_t *t, dkm_idx m,
                             dkm_idx *row)
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
        if (dkm_loss_length(objs, i) > most)
            most = dkm_loss_length(objs, i);
    return most;
}

static dkm_local edit_rows(const dkm_data *truth, const dkm_data *pred, dkm_idx labels,
                           double *losses)
{
    const dkm_objs *y = &truth->mine, *p = &pred->mine;
    dkm_idx longest_truth = losses_longest(y), longest_pred = losses_longest(p);
    dkm_local local = DKM_LOCAL_OK;
    uint32_t *s = NULL, *t;
    dkm_idx *row = NULL;

    (void)labels;
    DKM_STEP(dkm_alloc(truth->ctx, longest_pred + 1, &row));
    DKM_STEP(dkm_alloc(truth->ctx, longest_truth + longest_pred, &s));
    t = s + longest_truth;
    for (dkm_idx i = 0; i < y->n; i++) {
        dkm_idx n = dkm_utf8_decode(y->bytes + y->start[i], dkm_loss_length(y, i), s);
        dkm_idx m = dkm_utf8_decode(p->bytes + p->start[i], dkm_loss_length(p, i), t);
        losses[i] = (double)edit_distance(s, n, t, m, row);
    }
out:
    DKM_FREE(s);
    DKM_FREE(row);
    return local;
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_EDIT) = {.types = DKM_TYPE_BIT(DKM_STRINGS),
                                                      .rows = edit_rows};

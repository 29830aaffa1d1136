/* edit: the distance of Levenshtein between two strings: insertions, deletions and changes of a
 * letter that turn one into the other. */
#include "core/alloc.h"
#include "selection/metrics/losses.h"

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
        if (dkm_loss_length(objs, i) > most)
            most = dkm_loss_length(objs, i);
    return most;
}

static dkm_local edit_rows(const dkm_data *truth, const dkm_data *pred, dkm_idx labels,
                           double *losses)
{
    const dkm_objs *y = &truth->mine, *p = &pred->mine;
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx *row = NULL;

    (void)labels;
    DKM_STEP(dkm_alloc(truth->ctx, losses_longest(p) + 1, &row));
    for (dkm_idx i = 0; i < y->n; i++)
        losses[i] = (double)edit_distance(y->bytes + y->start[i], dkm_loss_length(y, i),
                                          p->bytes + p->start[i], dkm_loss_length(p, i), row);
out:
    DKM_FREE(row);
    return local;
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_EDIT) = {.types = DKM_TYPE_BIT(DKM_STRINGS),
                                                      .rows = edit_rows};

/* mismatch: the (p, k)-mismatch kernel (Leslie, Eskin, Cohen, Weston and Noble 2004, Bioinformatics
 * 20(4):467-476, doi:10.1093/bioinformatics/btg431): the inner product of counts over all words of
 * p characters of the alphabet, where a p-mer counts for every word that differs from it in at most
 * k positions. The alphabet is that of the training strings; in new strings, a character outside it
 * differs from all others. A word's number is the sum of a weight for each character in its
 * position: digits if all words fit in 64 bits, else random bits, which confuse two words with
 * probability 2^-64 per pair.
 *
 * Cost: with a characters, each p-mer makes the sum over i <= k of C(p, i) (a - 1)^i entries, once
 * per string; a kernel value is a sparse inner product of those. The alphabet is replicated. */
#include "kernels/evaluation/object_hash.h"
#include "kernels/evaluation/prepare.h"
#include "kernels/string/kmer_counts.h"

#define WORDS_MOST (1 << 26) /* of one string */

enum { P, K };

typedef struct book {
    dkm_idx p, k;
    dkm_idx n_chars;
    unsigned char letter[256]; /* of the alphabet, in order */
    uint64_t unit;             /* digits: how much a place is worth more than the one before */
    dkm_counts counts;
    dkm_idx used;
} book;

/* The characters of the training strings. Collective. */
static void find_alphabet(const dkm_data *X, book *b)
{
    unsigned char seen[256] = {0};

    for (dkm_idx k = X->mine.start[0]; k < X->mine.start[X->mine.n]; k++)
        seen[(unsigned char)X->mine.bytes[k]] = 1;
    MPI_Allreduce(MPI_IN_PLACE, seen, 256, MPI_UNSIGNED_CHAR, MPI_MAX, dkm_ctx_comm(X->ctx));
    for (int c = 0; c < 256; c++)
        if (seen[c])
            b->letter[b->n_chars++] = (unsigned char)c;
}

static void choose_numbers(book *b)
{
    double words = 1;

    for (dkm_idx place = 0; place < b->p; place++)
        words *= (double)b->n_chars;
    b->unit = words < 0x1p63 ? (uint64_t)b->n_chars : 0;
}

/* What character number x adds in a place; worth is that of the place for digits. */
static uint64_t mismatch_weight(const book *b, dkm_idx place, uint64_t worth, dkm_idx x)
{
    if (b->unit)
        return worth * (uint64_t)x;
    return dkm_hash_mix(dkm_hash_mix(0x9e3779b97f4a7c15u, (uint64_t)place), (uint64_t)x);
}

/* All words that begin with @p number and go on like @p at from @p place on but for at most
 * @p left characters. */
static void spell(book *b, const char *at, dkm_idx place, dkm_idx left, uint64_t number,
                  uint64_t worth)
{
    if (place == b->p) {
        b->counts.code[b->used++] = number;
        return;
    }
    for (dkm_idx x = 0; x < b->n_chars; x++) {
        dkm_idx differs = b->letter[x] != (unsigned char)at[place];
        if (differs <= left)
            spell(b, at, place + 1, left - differs, number + mismatch_weight(b, place, worth, x),
                  worth * b->unit);
    }
}

/* How many words a p-mer may count for: sum of C(p, i) (characters - 1)^i over i <= k, and more by
 * a factor of characters / (characters - 1) a place when its own characters are foreign. */
static double words_each(const book *b)
{
    double sum = 0, term = 1;

    for (dkm_idx i = 0; i <= b->k; i++) {
        sum += term;
        term *= (double)(b->p - i) / (double)(i + 1) * (double)b->n_chars;
    }
    return sum;
}

static dkm_local open_book(book *b, const dkm_objs *X, dkm_objs *out)
{
    double most = 0;

    for (dkm_idx i = 0; i < X->n; i++) {
        dkm_idx pmers = X->start[i + 1] - X->start[i] - b->p + 1;
        double words = pmers > 0 ? (double)pmers * words_each(b) : 0.0;
        most = words > most ? words : most;
    }
    if (most > WORDS_MOST)
        return dkm_fail(X->ctx, DKM_ERR_SIZE,
                        "mismatch(p=%lld, k=%lld): a string counts for up to %.1e words of %lld "
                        "letters, more than %.1e; use a smaller k or shorter strings",
                        (long long)b->p, (long long)b->k, most, (long long)b->n_chars,
                        (double)WORDS_MOST);
    return dkm_counts_open(&b->counts, X->ctx, X->n, (dkm_idx)most, out);
}

static dkm_local count_words(book *b, const dkm_objs *X, dkm_objs *out)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(open_book(b, X, out));
    for (dkm_idx i = 0; i < X->n; i++) {
        b->used = 0;
        for (dkm_idx at = X->start[i]; at + b->p <= X->start[i + 1]; at++)
            spell(b, X->bytes + at, 0, b->k, 0, 1);
        DKM_STEP(dkm_counts_add(&b->counts, b->used));
    }
out:
    dkm_counts_close(&b->counts);
    return local;
}

static dkm_status mismatch_train(const dkm_node *node, dkm_prepared *prepared)
{
    dkm_status status = DKM_OK;
    book b = {.p = (dkm_idx)dkm_node_param(node, P), .k = (dkm_idx)dkm_node_param(node, K)};
    dkm_objs objs = {0};

    find_alphabet(prepared->training ? prepared->training->X : prepared->X, &b);
    choose_numbers(&b);
    DKM_AGREE(prepared->ctx, count_words(&b, &prepared->X->mine, &objs));
    DKM_TRY(dkm_feature_cache_fill(prepared, node->slot, &objs));
out:
    dkm_objs_clear(&objs);
    return status;
}

static const char *mismatch_refuse(const dkm_node *node)
{
    return dkm_node_param(node, K) < dkm_node_param(node, P) ? NULL : "k must be less than p";
}

const dkm_kernel_class dkm_kernel_class_mismatch = {
    .name = "mismatch",
    .types = DKM_TYPE_BIT(DKM_STRINGS),
    .is_data_dependent = 1,
    .params = DKM_PARAMS({.name = "p", .range = DKM_COUNT, .default_value = 5},
                         {.name = "k", .range = DKM_COUNT_OR_ZERO, .default_value = 1}),
    .refuse = mismatch_refuse,
    .train = mismatch_train,
    .diag = dkm_panel_diag_from_extra,
    .tile = dkm_counts_tile};

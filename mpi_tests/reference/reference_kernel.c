#include "reference/reference_kernel.h"

#include <math.h>
#include <string.h>

double reference_dot(dkm_idx d, const double *x, const double *y)
{
    long double sum = 0;

    for (dkm_idx k = 0; k < d; k++)
        sum += (long double)x[k] * y[k];
    return (double)sum;
}

double reference_gap(dkm_idx d, const double *x, const double *y, int power)
{
    long double sum = 0;

    for (dkm_idx k = 0; k < d; k++) {
        long double gap = (long double)x[k] - y[k];
        sum += power == 2 ? gap * gap : fabsl(gap);
    }
    return (double)sum;
}

/* Sum of lambda^(length spanned) over the index tuples of t, continued from @p from on, that spell
 * the r letters of @p word; @p first is the index of the first letter, -1 before there is one. */
static double tuples(const reference_text *t, dkm_idx from, const char *word, dkm_idx r,
                     dkm_idx first, double lambda)
{
    double sum = 0;

    if (r == 0) /* the last letter was at from - 1 */
        return pow(lambda, (double)(from - first));
    for (dkm_idx j = from; j < t->length; j++)
        if (t->bytes[j] == word[0])
            sum += tuples(t, j + 1, word + 1, r - 1, first < 0 ? j : first, lambda);
    return sum;
}

/* Over the tuples of s: the letters so far are in @p word. */
static double tuples_of_both(const reference_text *s, const reference_text *t, dkm_idx from,
                             char *word, dkm_idx have, dkm_idx r, dkm_idx first, double lambda)
{
    double sum = 0;

    if (have == r)
        return pow(lambda, (double)(from - first)) * tuples(t, 0, word, r, -1, lambda);
    for (dkm_idx i = from; i < s->length; i++) {
        word[have] = s->bytes[i];
        sum += tuples_of_both(s, t, i + 1, word, have + 1, r, first < 0 ? i : first, lambda);
    }
    return sum;
}

double reference_ssk(const reference_text *s, const reference_text *t, dkm_idx r, double lambda)
{
    char word[64];

    return tuples_of_both(s, t, 0, word, 0, r, -1, lambda);
}

double reference_spectrum(const reference_text *s, const reference_text *t, dkm_idx p)
{
    double pairs = 0;

    for (dkm_idx i = 0; i + p <= s->length; i++)
        for (dkm_idx j = 0; j + p <= t->length; j++)
            pairs += memcmp(s->bytes + i, t->bytes + j, (size_t)p) == 0;
    return pairs;
}

/* Common stretches of d letters at places of t that are @p apart after those of s. */
static double common_places(const reference_text *s, const reference_text *t, dkm_idx apart,
                            dkm_idx d)
{
    double common = 0;

    for (dkm_idx l = 0; l + d <= s->length; l++)
        if (l + apart >= 0 && l + apart + d <= t->length)
            common += memcmp(s->bytes + l, t->bytes + l + apart, (size_t)d) == 0;
    return common;
}

double reference_weighted_degree(const reference_text *s, const reference_text *t, dkm_idx D,
                                 dkm_idx S)
{
    double k = 0;

    for (dkm_idx d = 1; d <= D; d++)
        for (dkm_idx apart = -S; apart <= S; apart++) {
            double beta = 2.0 * (double)(D - d + 1) / (double)(D * (D + 1));
            double delta = apart == 0 ? 1.0 : 0.5 / (fabs((double)apart) + 1);
            k += beta * delta * common_places(s, t, apart, d);
        }
    return k;
}

static dkm_idx mismatches(const char *a, const char *b, dkm_idx p)
{
    dkm_idx count = 0;

    for (dkm_idx k = 0; k < p; k++)
        count += a[k] != b[k];
    return count;
}

static double stretches_near(const reference_text *s, const char *word, dkm_idx p, dkm_idx k)
{
    double count = 0;

    for (dkm_idx i = 0; i + p <= s->length; i++)
        count += mismatches(s->bytes + i, word, p) <= k;
    return count;
}

double reference_mismatch(const reference_text *s, const reference_text *t, dkm_idx p, dkm_idx k,
                          const char *alphabet)
{
    dkm_idx letters = (dkm_idx)strlen(alphabet), words = 1;
    double sum = 0;
    char word[64];

    for (dkm_idx place = 0; place < p; place++)
        words *= letters;
    for (dkm_idx w = 0; w < words; w++) {
        for (dkm_idx place = 0, rest = w; place < p; place++, rest /= letters)
            word[place] = alphabet[rest % letters];
        sum += stretches_near(s, word, p, k) * stretches_near(t, word, p, k);
    }
    return sum;
}

/* BLOSUM62 (Henikoff and Henikoff 1992), its lower triangle. */
static double pair_score(char a, char b)
{
    static const char letters[] = "ARNDCQEGHILKMFPSTWYV";
    static const signed char rows[] = {
        4,  -1, 5,  -2, 0,  6,  -2, -2, 1,  6,  0,  -3, -3, -3, 9,  -1, 1,  0,  0,  -3, 5,
        -1, 0,  0,  2,  -4, 2,  5,  0,  -2, 0,  -1, -3, -2, -2, 6,  -2, 0,  1,  -1, -3, 0,
        0,  -2, 8,  -1, -3, -3, -3, -1, -3, -3, -4, -3, 4,  -1, -2, -3, -4, -1, -2, -3, -4,
        -3, 2,  4,  -1, 2,  0,  -1, -3, 1,  1,  -2, -1, -3, -2, 5,  -1, -1, -2, -3, -1, 0,
        -2, -3, -2, 1,  2,  -1, 5,  -2, -3, -3, -3, -2, -3, -3, -3, -1, 0,  0,  -3, 0,  6,
        -1, -2, -2, -1, -3, -1, -1, -2, -2, -3, -3, -1, -2, -4, 7,  1,  -1, 1,  0,  -1, 0,
        0,  0,  -1, -2, -2, 0,  -1, -2, -1, 4,  0,  -1, 0,  -1, -1, -1, -1, -2, -2, -1, -1,
        -1, -1, -2, -1, 1,  5,  -3, -3, -4, -4, -2, -2, -3, -2, -2, -3, -2, -3, -1, 1,  -4,
        -3, -2, 11, -2, -2, -2, -3, -2, -1, -2, -3, 2,  -1, -1, -2, -1, 3,  -3, -2, -2, 2,
        7,  0,  -3, -3, -3, -1, -2, -2, -3, -3, 3,  1,  -2, 1,  -1, -2, -2, 0,  -3, -1, 4};
    long i = strchr(letters, a) - letters, j = strchr(letters, b) - letters;

    return i > j ? rows[i * (i + 1) / 2 + j] : rows[j * (j + 1) / 2 + i];
}

double reference_align(const reference_text *s, const reference_text *t, double open, double extend)
{
    double H[65][65] = {{0}}, best = 0;

    for (dkm_idx i = 1; i <= s->length; i++)
        for (dkm_idx j = 1; j <= t->length; j++) {
            double h = fmax(0, H[i - 1][j - 1] + pair_score(s->bytes[i - 1], t->bytes[j - 1]));
            for (dkm_idx l = 1; l <= i; l++)
                h = fmax(h, H[i - l][j] - open - (double)(l - 1) * extend);
            for (dkm_idx l = 1; l <= j; l++)
                h = fmax(h, H[i][j - l] - open - (double)(l - 1) * extend);
            H[i][j] = h;
            best = fmax(best, h);
        }
    return best;
}

static void multiply(dkm_idx n, const long double *A, const long double *B, long double *C)
{
    long double product[32 * 32] = {0};

    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx j = 0; j < n; j++)
            for (dkm_idx k = 0; k < n; k++)
                product[i * n + j] += A[i * n + k] * B[k * n + j];
    memcpy(C, product, (size_t)(n * n) * sizeof *C);
}

void reference_exp(dkm_idx n, const double *A, double *E)
{
    enum { HALVINGS = 8, TERMS = 30 };
    long double small[32 * 32], term[32 * 32] = {0}, sum[32 * 32];

    for (dkm_idx k = 0; k < n * n; k++)
        small[k] = ldexpl((long double)A[k], -HALVINGS);
    for (dkm_idx i = 0; i < n; i++)
        term[i * n + i] = 1;
    memcpy(sum, term, sizeof sum);
    for (int t = 1; t < TERMS; t++) {
        multiply(n, term, small, term);
        for (dkm_idx k = 0; k < n * n; k++) {
            term[k] /= t;
            sum[k] += term[k];
        }
    }
    for (int t = 0; t < HALVINGS; t++)
        multiply(n, sum, sum, sum);
    for (dkm_idx k = 0; k < n * n; k++)
        E[k] = (double)sum[k];
}

static void rotate(dkm_idx n, double *A, dkm_idx p, dkm_idx q)
{
    double theta = 0.5 * atan2(2 * A[p * n + q], A[q * n + q] - A[p * n + p]);
    double c = cos(theta), s = sin(theta);

    for (dkm_idx k = 0; k < n; k++) {
        double a = A[p * n + k], b = A[q * n + k];
        A[p * n + k] = c * a - s * b;
        A[q * n + k] = s * a + c * b;
    }
    for (dkm_idx k = 0; k < n; k++) {
        double a = A[k * n + p], b = A[k * n + q];
        A[k * n + p] = c * a - s * b;
        A[k * n + q] = s * a + c * b;
    }
}

double reference_least_eigenvalue(dkm_idx n, double *A)
{
    double least = INFINITY;

    for (int sweep = 0; sweep < 12; sweep++)
        for (dkm_idx p = 0; p < n; p++)
            for (dkm_idx q = p + 1; q < n; q++)
                rotate(n, A, p, q);
    for (dkm_idx k = 0; k < n; k++)
        least = A[k * n + k] < least ? A[k * n + k] : least;
    return least;
}

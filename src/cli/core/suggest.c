/* Suggestions for misspelled words by the optimal string alignment distance (Damerau 1964, Commun.
 * ACM 7(3):171-176, doi:10.1145/363958.363994): inserting, deleting or changing a character, or
 * swapping two adjacent ones, costs one. Only the first LONGEST characters count. */
#include "cli/core/suggest.h"

#include <string.h>

enum { LONGEST = 40 };

static int least(int a, int b, int c)
{
    int ab = a < b ? a : b;

    return ab < c ? ab : c;
}

static int suggest_distance(const char *a, size_t n, const char *b, size_t m)
{
    int d[LONGEST + 1][LONGEST + 1];

    n = n < LONGEST ? n : LONGEST;
    m = m < LONGEST ? m : LONGEST;
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = (int)(i + j);
                continue;
            }
            d[i][j] =
                least(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least(d[i][j], d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

const option *suggest_option(const command *c, const char *name, size_t length)
{
    const option *best = NULL, *o;
    int shortest = 2 * LONGEST;

    for (int k = 0; (o = option_at(c, k)); k++) {
        int far = suggest_distance(name, length, o->name, strlen(o->name));
        if (far < shortest) {
            shortest = far;
            best = o;
        }
    }
    return best;
}

const char *suggest_command(const command *const *list, const char *word)
{
    const char *best = NULL;
    int shortest = 2 * LONGEST;

    for (; *list; list++) {
        const char *known = command_word(*list);
        int far = suggest_distance(word, strlen(word), known, strlen(known));
        if (far < shortest) {
            shortest = far;
            best = known;
        }
    }
    return best;
}

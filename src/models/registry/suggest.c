/* Suggestions for misspelled names by the optimal string alignment distance (Damerau 1964, Commun.
 * ACM 7(3):171-176, doi:10.1145/363958.363994): inserting, deleting or changing a character, or
 * swapping two adjacent ones, costs one. Only the first LONGEST characters count. A name is near
 * when a third of its characters or fewer are wrong, or when one of both is a part of the other. */
#include <string.h>

#include <dkmap/settings.h>

enum { LONGEST = 40, LEAST_PART = 4, LEAST_BEGINNING = 3 };

static int edit_distance(const char *a, size_t n, const char *b, size_t m)
{
    int d[LONGEST + 1][LONGEST + 1];

    n = n < LONGEST ? n : LONGEST;
    m = m < LONGEST ? m : LONGEST;
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            int least;
            if (i == 0 || j == 0) {
                d[i][j] = (int)(i + j);
                continue;
            }
            least = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            least = d[i - 1][j] + 1 < least ? d[i - 1][j] + 1 : least;
            least = d[i][j - 1] + 1 < least ? d[i][j - 1] + 1 : least;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                least = d[i - 2][j - 2] + 1 < least ? d[i - 2][j - 2] + 1 : least;
            d[i][j] = least;
        }
    return d[n][m];
}

static int is_part(const char *part, size_t n, const char *text, size_t m)
{
    if (n < LEAST_PART)
        return 0;
    for (size_t at = 0; at + n <= m; at++)
        if (memcmp(part, text + at, n) == 0)
            return 1;
    return 0;
}

/* A name that is cut short may be shorter than other parts. */
static int is_beginning(const char *part, size_t n, const char *text, size_t m)
{
    return n >= LEAST_BEGINNING && n < m && memcmp(part, text, n) == 0;
}

static int is_near(const char *a, size_t n, const char *b, size_t m, int distance)
{
    return 3 * distance <= (int)(n > m ? n : m) || is_part(a, n, b, m) || is_part(b, m, a, n) ||
           is_beginning(a, n, b, m);
}

int dkm_nearest_name(const char *name, size_t length, int count, const char *const *names)
{
    int best = -1, shortest = 2 * LONGEST + 1;

    for (int k = 0; k < count; k++) {
        size_t other = strlen(names[k]);
        int distance = edit_distance(name, length, names[k], other);
        if (distance < shortest && is_near(name, length, names[k], other, distance)) {
            shortest = distance;
            best = k;
        }
    }
    return best;
}

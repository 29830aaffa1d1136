#include "io/formats/svmrow.h"

#include <math.h>
#include <string.h>

#include "io/text/scan.h"

#define MOST_LABEL 9007199254740992.0 /* 2^53: integers below are exact */

static int holds_colon(const char *word)
{
    while (!dkm_scan_ends(*word) && *word != ':')
        word++;
    return *word == ':';
}

dkm_svm_row dkm_svm_split(char *line)
{
    char *comment = strchr(line, '#');
    dkm_svm_row r = {.labels = line, .features = line};

    if (comment)
        *comment = '\0';
    if (!holds_colon(line))
        while (!dkm_scan_ends(*r.features))
            r.features++;
    if (*r.features && dkm_scan_ends(*r.features))
        *r.features++ = '\0';
    if (r.features == line)
        r.labels = line + strlen(line);
    return r;
}

dkm_local dkm_svm_feature(const dkm_text *text, char **at, dkm_idx *index, double *value)
{
    char *word = dkm_scan_blanks(*at);

    *index = -1;
    if (strncmp(word, "qid:", 4) == 0) {
        while (!dkm_scan_ends(*word))
            word++;
        word = dkm_scan_blanks(word);
    }
    *at = word;
    if (!*word)
        return DKM_LOCAL_OK;
    if (!dkm_scan_int(at, 0, index) || *index == INT64_MAX || **at != ':')
        return dkm_fail_line(text, "'%.*s' where index:value should be", dkm_scan_word(word), word);
    ++*at;
    if (!dkm_scan_real(at, value) || !dkm_scan_ends(**at))
        return dkm_fail_line(text, "the value of '%.*s' is not a finite number",
                             dkm_scan_word(word), word);
    return DKM_LOCAL_OK;
}

dkm_local dkm_svm_scan_features(const dkm_text *text, char *at, dkm_svm_facts *f)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx last = -1, index;
    double value;

    for (;;) {
        DKM_STEP(dkm_svm_feature(text, &at, &index, &value));
        if (index < 0)
            break;
        if (index <= last)
            DKM_STEP(dkm_fail_line(text, "index %lld after %lld: indices must ascend",
                                   (long long)index, (long long)last));
        f->least = index < f->least ? index : f->least;
        f->minus_most = -index < f->minus_most ? -index : f->minus_most;
        last = index;
    }
out:
    return local;
}

dkm_local dkm_svm_label(const dkm_text *text, char **at, double *label, int *more)
{
    char *word = *at;

    *more = *word != '\0';
    if (!*more)
        return DKM_LOCAL_OK;
    if (!dkm_scan_real(at, label) || (**at != ',' && **at != '\0'))
        return dkm_fail_line(text, "the label '%.*s' is not a finite number", dkm_scan_word(word),
                             word);
    *at += **at == ',';
    return DKM_LOCAL_OK;
}

static void note_line(dkm_idx *first, const dkm_text *text)
{
    *first = text->number < *first ? text->number : *first;
}

dkm_local dkm_svm_scan_labels(const dkm_text *text, dkm_svm_row r, dkm_svm_facts *f)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx count = 0;
    char *at = r.labels;
    double label;
    int more;

    if (*dkm_scan_blanks(r.features))
        note_line(&f->feature_line, text);
    for (;; count++) {
        DKM_STEP(dkm_svm_label(text, &at, &label, &more));
        if (!more)
            break;
        if (label != floor(label) || fabs(label) >= MOST_LABEL) {
            note_line(&f->fraction_line, text);
            note_line(&f->unfit_line, text);
        } else if (label < 0) {
            note_line(&f->unfit_line, text);
        } else if (-(dkm_idx)label < f->minus_top) {
            f->minus_top = -(dkm_idx)label;
        }
    }
    if (count != 1)
        note_line(&f->set_line, text);
out:
    return local;
}

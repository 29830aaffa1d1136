#include <math.h>
#include <string.h>

#include <dkmap/kernel.h>

#include "kernels/evaluation/tile_maps.h"
#include "support/check.h"

static void canonical(dkm_ctx *ctx, const char *text, const char *want)
{
    dkm_kernel *k = NULL, *again = NULL;

    CHECK_OK(ctx, dkm_kernel_parse(ctx, text, &k));
    if (!k)
        return;
    if (strcmp(dkm_kernel_text(k), want) != 0)
        check_failed(__FILE__, __LINE__, "%s became %s, not %s", text, dkm_kernel_text(k), want);
    CHECK_OK(ctx, dkm_kernel_parse(ctx, dkm_kernel_text(k), &again));
    CHECK(again && strcmp(dkm_kernel_text(again), want) == 0);
    dkm_kernel_destroy(&again);
    dkm_kernel_destroy(&k);
}

static void every_parameter_is_written_out(dkm_ctx *ctx)
{
    canonical(ctx, "linear", "linear");
    canonical(ctx, " poly ( c = 2 ) ", "poly(degree=3, c=2)");
    canonical(ctx, "rbf", "rbf(sigma=1)");
    canonical(ctx, "rbf(sigma=0.1)", "rbf(sigma=0.1)");
    canonical(ctx, "rbf(sigma=1200)", "rbf(sigma=1200)");
    canonical(ctx, "rbf(sigma=1e-300)", "rbf(sigma=1e-300)");
    canonical(ctx, "rbf(sigma=0.30000000000000004)", "rbf(sigma=0.30000000000000004)");
    canonical(ctx, "rbf(\n\tlinear,sigma=+2.50)", "rbf(linear, sigma=2.5)");
    canonical(ctx, "rbf(normalize(ssk(lambda=0.010)), sigma=1)",
              "rbf(normalize(ssk(r=3, lambda=0.01)), sigma=1)");
    canonical(ctx, "sum(spectrum,mismatch( p=4 ),scale(class))",
              "sum(spectrum(p=3), mismatch(p=4, k=1), scale(class, by=2))");
    canonical(ctx, "rbf(sigma=1;2;0.50)", "rbf(sigma=1;2;0.5)");
    canonical(ctx, "rbf(sigma=0.1;0.30000000000000004)", "rbf(sigma=0.1;0.30000000000000004)");
    canonical(ctx, "rbf(sigma=median)", "rbf(sigma=median)");
    canonical(ctx, "rbf(normalize(spectrum), sigma=median)",
              "rbf(normalize(spectrum(p=3)), sigma=median)");
    canonical(ctx, "on( 0:3;7 ,rbf)", "on(0:3;7, rbf(sigma=1))");
    canonical(ctx, "sum(on(-1, linear), on(:5, poly))",
              "sum(on(-1, linear), on(:5, poly(degree=3, c=1)))");
    canonical(ctx, "rbf(rbf(rbf(sigma=3),sigma=2))", "rbf(rbf(rbf(sigma=3), sigma=2), sigma=1)");
}

/* The message begins with the words, and the caret stands under byte `at` of the text. */
static void refused(dkm_ctx *ctx, const char *text, const char *words, int at)
{
    dkm_kernel *k = NULL;
    const char *message = dkm_ctx_message(ctx), *last;

    CHECK(dkm_kernel_parse(ctx, text, &k) == DKM_ERR_ARG && k == NULL);
    if (!strstr(message, words))
        check_failed(__FILE__, __LINE__, "%s: told %s", text, message);
    last = strrchr(message, '\n');
    if (!last || (int)strlen(last) != at + 4 || last[at + 3] != '^')
        check_failed(__FILE__, __LINE__, "%s: caret wrong in %s", text, message);
}

static void mistakes_are_told_with_a_caret(dkm_ctx *ctx)
{
    refused(ctx, "rfb(sigma=2)", "kernel: unknown name 'rfb', did you mean 'rbf'?", 0);
    refused(ctx, "rbf(nonsense)", "unknown name 'nonsense'", 4);
    refused(ctx, "", "a name is wanted here", 0);
    refused(ctx, "rbf(sigma=2", "this parenthesis is not closed", 3);
    refused(ctx, "rbf(sigma=2))", "should end here", 12);
    refused(ctx, "rbf(sigma=2 linear)", "a comma or ')' is wanted here", 12);
    refused(ctx, "rbf()", "a name is wanted here", 4);
    refused(ctx, "rbf(sigma=)", "a value is wanted here", 10);
    refused(ctx, "rbf(sigma=abc)", "'abc' is not a number", 10);
    refused(ctx, "rbf(sigma=1e999)", "is not a number", 10);
    refused(ctx, "rbf(sigma=nan)", "is not a number", 10);
    refused(ctx, "rbf(sigma=0)", "sigma must be greater than 0", 10);
    refused(ctx, "rbf(sigma=1, sigma=2)", "sigma is given twice", 13);
    refused(ctx, "rbf(gamma=1)", "rbf has no parameter 'gamma', only sigma", 4);
    refused(ctx, "linear(c=1)", "linear has no parameter 'c', nor any other", 7);
    refused(ctx, "poly(degree=2.5)", "degree must be an integer", 12);
    refused(ctx, "poly(degree=0)", "degree must be an integer", 12);
    refused(ctx, "poly(c=-1)", "c must be 0 or more", 7);
    refused(ctx, "linear(rbf)", "linear takes no kernel inside it", 0);
    refused(ctx, "rbf(linear, poly)", "rbf takes 1 kernel inside it, not 2", 0);
    refused(ctx, "sum", "sum takes at least 1 kernel inside it, not 0", 0);
    refused(ctx, "product(sum(linear), rownorm)", "rownorm takes 1 kernel inside it, not 0", 21);
    refused(ctx, "sum(mismatch(p=3, k=3))", "k must be less than p", 4);
    refused(ctx, "ssk(lambda=1.5)", "lambda must be greater than 0 and at most 1", 11);
    refused(ctx, "rbf(sigma=1;0)", "sigma must be greater than 0", 12);
    refused(ctx, "rbf(sigma=1;)", "is not a number", 12);
    refused(ctx, "rbf(sigma=mean)", "'mean' is not a number", 10);
    refused(ctx, "rbf(linear, sigma=1;2)", "'1;2' is not a number", 18);
    refused(ctx, "poly(degree=1;2)", "'1;2' is not a number", 12);
    refused(ctx, "rbf(2)", "a name is wanted here", 4);
    refused(ctx, "rbf(q.h5)", "rbf takes no file", 4);
    refused(ctx, "on(linear)", "on takes columns: on(0:3;7, ...)", 0);
    refused(ctx, "on(0, 1, linear)", "on takes one list of columns", 6);
    refused(ctx, "mismatch(q=1)", "mismatch has no parameter 'q', only p and k", 9);
    refused(ctx, "rbf(sigma=2) # x", "should end here", 13);
}

static void a_long_text_is_shown_around_the_caret(dkm_ctx *ctx)
{
    char text[4096] = "";
    dkm_kernel *k = NULL;

    for (int i = 0; i < 60; i++)
        strncat(text, "rbf(", sizeof text - strlen(text) - 1);
    strncat(text, "wrong", sizeof text - strlen(text) - 1);
    CHECK(dkm_kernel_parse(ctx, text, &k) == DKM_ERR_ARG && k == NULL);
    CHECK(strlen(dkm_ctx_message(ctx)) < 300);
    text[0] = '\0';
    for (int i = 0; i < 1000; i++)
        strncat(text, "rbf(", sizeof text - strlen(text) - 1);
    CHECK(dkm_kernel_parse(ctx, text, &k) == DKM_ERR_ARG && k == NULL);
    CHECK(strstr(dkm_ctx_message(ctx), "nested deeper") != NULL);
}

static dkm_status parse_once(dkm_ctx *ctx)
{
    dkm_kernel *k = NULL;
    dkm_status status = dkm_kernel_parse(ctx, "rbf(on(0:2, rbf(sigma=1;2)), sigma=3)", &k);

    dkm_kernel_destroy(&k);
    return status;
}

static void parsing_survives_any_failed_allocation(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, parse_once);
}

/* Ours against libm's, over the whole range and its ends. */
static void the_exponential_is_right_to_an_ulp(dkm_ctx *ctx)
{
    enum { N = 20001 };
    static double x[N], y[N];
    static float xf[N], yf[N];

    (void)ctx;
    for (int i = 0; i < N; i++) {
        x[i] = -707.9 + 1417.6 * i / (N - 1);
        xf[i] = (float)(-86.4 + 175.1 * i / (N - 1));
    }
    dkm_exp_f64(N, x, y);
    dkm_exp_f32(N, xf, yf);
    for (int i = 0; i < N; i++) {
        CHECK_CLOSE(y[i], exp(x[i]), 2.3e-16 * exp(x[i]));
        CHECK_CLOSE((double)yf[i], exp((double)xf[i]), 1.2e-7 * exp((double)xf[i]));
    }
}

static void the_exponential_knows_its_ends(dkm_ctx *ctx)
{
    const double x[] = {0, -0.0, -1e5, 710, INFINITY, -INFINITY, NAN};
    const float xf[] = {0, -0.0f, -1e5f, 89, INFINITY, -INFINITY, NAN};
    double y[7];
    float yf[7];

    (void)ctx;
    dkm_exp_f64(7, x, y);
    dkm_exp_f32(7, xf, yf);
    CHECK(y[0] == 1 && y[1] == 1 && y[2] == 0 && isinf(y[3]) && isinf(y[4]) && y[5] == 0);
    CHECK(yf[0] == 1 && yf[1] == 1 && yf[2] == 0 && isinf(yf[3]) && isinf(yf[4]) && yf[5] == 0);
    CHECK(isnan(y[6]) && isnan(yf[6]));
}

static const check_case cases[] = {
    CASE(every_parameter_is_written_out),        CASE(mistakes_are_told_with_a_caret),
    CASE(a_long_text_is_shown_around_the_caret), CASE(parsing_survives_any_failed_allocation),
    CASE(the_exponential_is_right_to_an_ulp),    CASE(the_exponential_knows_its_ends),
};

CHECK_MAIN(cases)

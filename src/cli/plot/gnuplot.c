#include "cli/plot/gnuplot.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>

#include <dkmap/data.h>

extern char **environ;

typedef enum terminal { SVG_FILE, SVG_IN_PAGE, PNG_FILE } terminal;

/* The three unnamed files of a gnuplot. */
typedef struct pipes {
    FILE *script, *picture, *complaints;
} pipes;

/* Okabe and Ito, Color universal design (2008), the yellow last. */
const char *gnuplot_colour(int k)
{
    static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                          "#E69F00", "#56B4E9", "#555555", "#C7B800"};

    return colours[k % 8];
}

void gnuplot_text(FILE *script, const char *text, size_t length)
{
    putc('\'', script);
    for (size_t k = 0; text[k] && (k < length || ((unsigned char)text[k] & 0xC0) == 0x80); k++) {
        if (text[k] == '\'')
            putc('\'', script);
        putc((unsigned char)text[k] < ' ' || text[k] == 0x7f ? ' ' : text[k], script);
    }
    if (strlen(text) > length)
        fputs("…", script);
    putc('\'', script);
}

static int ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path);

    return length > strlen(ending) && strcasecmp(path + length - strlen(ending), ending) == 0;
}

/* The format, and what all pictures have in common. Marks that enhanced text would take for its own
 * stay as they are. */
static void put_style(FILE *script, terminal to, const drawing *picture, int id)
{
    if (to == PNG_FILE)
        fprintf(script,
                "set terminal pngcairo noenhanced size %d,%d font 'DejaVu Sans,13' fontscale 2 "
                "linewidth 2 pointscale 2 background 'white'\n",
                2 * picture->width, 2 * picture->height);
    else
        fprintf(script,
                "set terminal svg noenhanced size %d,%d %s font 'DejaVu Sans,Helvetica,"
                "sans-serif,14' linewidth 1.2 background 'white' name 'picture%d'\n",
                picture->width, picture->height, to == SVG_IN_PAGE ? "dynamic" : "fixed", id);
    fputs("set encoding utf8\n"
          "set border 3 lc rgb '#444444'\n"
          "set tics nomirror textcolor rgb '#222222'\n"
          "set grid back lc rgb '#dddddd' lt 1 lw 0.7\n"
          "set key noautotitle\n"
          "set format '%g'\n",
          script);
}

static int pipes_open(pipes *p)
{
    p->script = tmpfile();
    p->picture = tmpfile();
    p->complaints = tmpfile();
    return p->script && p->picture && p->complaints;
}

static void pipes_close(pipes *p)
{
    FILE *files[] = {p->script, p->picture, p->complaints};

    for (int k = 0; k < 3; k++)
        if (files[k])
            fclose(files[k]);
}

/* Start gnuplot on the script so far and wait for its end.
 * 0, or what went wrong: errno of the start, or -1 for a gnuplot that failed. */
static int run_gnuplot(const pipes *p)
{
    char name[] = "gnuplot", defaults[] = "-d"; /* -d: whatever ~/.gnuplot says */
    char *const arguments[] = {name, defaults, NULL};
    posix_spawn_file_actions_t files;
    int error = posix_spawn_file_actions_init(&files), outcome = 0;
    pid_t child;

    if (error)
        return error;
    posix_spawn_file_actions_adddup2(&files, fileno(p->script), 0);
    posix_spawn_file_actions_adddup2(&files, fileno(p->picture), 1);
    posix_spawn_file_actions_adddup2(&files, fileno(p->complaints), 2);
    error = fflush(p->script) == 0 ? 0 : errno;
    rewind(p->script);
    if (!error)
        error = posix_spawnp(&child, name, &files, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    if (error)
        return error;
    while (waitpid(child, &outcome, 0) < 0)
        if (errno != EINTR)
            return errno;
    return WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0 ? 0 : -1;
}

/* The last line of what gnuplot complained of. */
static void last_line(FILE *complaints, char *line, size_t size)
{
    char next[200];

    snprintf(line, size, "no reason given");
    rewind(complaints);
    while (fgets(next, sizeof next, complaints)) {
        next[strcspn(next, "\n")] = '\0';
        if (strspn(next, " \t^") < strlen(next))
            snprintf(line, size, "%s", next);
    }
}

static dkm_local explain(run *r, int error, FILE *complaints)
{
    char line[200];

    if (error == ENOENT)
        return dkm_fail(r->ctx, DKM_ERR_IO,
                        "pictures are drawn by gnuplot, which is not on the PATH of rank 0: "
                        "install it (Debian: gnuplot-nox)");
    if (error > 0)
        return dkm_fail(r->ctx, DKM_ERR_IO, "cannot start gnuplot: %s", strerror(error));
    last_line(complaints, line, sizeof line);
    return dkm_fail(r->ctx, DKM_ERR_IO, "gnuplot failed: %s", line);
}

/* The picture is what gnuplot leaves in @p p. */
static dkm_local render(run *r, terminal to, const drawing *picture, int id, pipes *p)
{
    int error;

    if (!pipes_open(p))
        return dkm_fail(r->ctx, DKM_ERR_IO, "cannot make a temporary file for a picture: %s",
                        strerror(errno));
    put_style(p->script, to, picture, id);
    if (picture->draw && picture->draw(p->script, picture->what) != 0)
        return dkm_fail(r->ctx, DKM_ERR_MEMORY, "no memory to draw a picture");
    error = run_gnuplot(p);
    return error == 0 ? DKM_LOCAL_OK : explain(r, error, p->complaints);
}

static dkm_local try_terminal(run *r, terminal to)
{
    const drawing nothing = {.width = 100, .height = 100};
    pipes p = {0};
    dkm_local local = render(r, to, &nothing, 0, &p);

    pipes_close(&p);
    return local;
}

dkm_status gnuplot_check_installed(run *r)
{
    return dkm_agree(r->ctx, dkm_ctx_rank(r->ctx) == 0 ? try_terminal(r, SVG_FILE) : DKM_LOCAL_OK);
}

dkm_status gnuplot_check(run *r)
{
    const char *path = args_text(r->args, "plot");
    dkm_status status = DKM_OK;
    int png = path && ends_in(path, ".png");

    if (!path)
        return DKM_OK;
    DKM_REQUIRE(r->ctx, png || ends_in(path, ".svg"), DKM_ERR_ARG,
                "--plot %s: pictures are SVG or PNG: give a name that ends in .svg or .png", path);
    DKM_AGREE(r->ctx, dkm_ctx_rank(r->ctx) == 0 ? try_terminal(r, png ? PNG_FILE : SVG_FILE)
                                                : DKM_LOCAL_OK);
    DKM_TRY(dkm_file_check_writable(r->ctx, path));
out:
    return status;
}

/* All of a file in memory. */
static dkm_local slurp(run *r, FILE *file, char **bytes, long *count)
{
    if (fseek(file, 0, SEEK_END) != 0 || (*count = ftell(file)) <= 0)
        return dkm_fail(r->ctx, DKM_ERR_IO, "gnuplot drew nothing");
    rewind(file);
    *bytes = malloc((size_t)*count);
    if (!*bytes)
        return dkm_fail(r->ctx, DKM_ERR_MEMORY, "no memory for a picture of %ld bytes", *count);
    if (fread(*bytes, 1, (size_t)*count, file) != (size_t)*count)
        return dkm_fail(r->ctx, DKM_ERR_IO, "cannot read what gnuplot drew");
    return DKM_LOCAL_OK;
}

static dkm_local draw(run *r, terminal to, const drawing *picture, int id, char **bytes,
                      long *count)
{
    pipes p = {0};
    dkm_local local = render(r, to, picture, id, &p);

    if (local.code == DKM_OK)
        local = slurp(r, p.picture, bytes, count);
    pipes_close(&p);
    return local;
}

dkm_status gnuplot_write(run *r, const drawing *picture)
{
    const char *path = args_text(r->args, "plot");
    terminal to = ends_in(path, ".png") ? PNG_FILE : SVG_FILE;
    dkm_status status = DKM_OK;
    char *bytes = NULL;
    long count = 0;

    DKM_AGREE(r->ctx,
              dkm_ctx_rank(r->ctx) == 0 ? draw(r, to, picture, 0, &bytes, &count) : DKM_LOCAL_OK);
    DKM_TRY(dkm_file_write(r->ctx, path, bytes, count));
out:
    free(bytes);
    return status;
}

/* From the tag of the picture on: what comes before it belongs to a file of its own. */
static const char *find_svg(const char *bytes, long count)
{
    for (long k = 0; k + 4 < count; k++)
        if (memcmp(bytes + k, "<svg", 4) == 0)
            return bytes + k;
    return bytes + count;
}

dkm_local gnuplot_embed(run *r, const drawing *picture, int id, FILE *page)
{
    char *bytes = NULL;
    long count = 0;
    dkm_local local = draw(r, SVG_IN_PAGE, picture, id, &bytes, &count);

    if (local.code == DKM_OK) {
        const char *from = find_svg(bytes, count);
        fwrite(from, 1, (size_t)(bytes + count - from), page);
    }
    free(bytes);
    return local;
}

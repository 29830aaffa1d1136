/* Text files, one object per line: a string of any bytes, a set of words (data/word_set.h), or a
 * labelled graph (data/graph_text.h). */
#include <stdio.h>

#include "core/alloc.h"
#include "data/graph_text.h"
#include "data/word_set.h"
#include "io/text/scan.h"
#include "io/text/textfile.h"

static dkm_local settle_type(dkm_file *file, dkm_type usual)
{
    if (file->type == DKM_TYPE_COUNT)
        file->type = usual;
    if (dkm_type_storage_form(file->type) == DKM_STORED_BYTES)
        return DKM_LOCAL_OK;
    return dkm_fail(file->ctx, DKM_ERR_ARG, "%s: lines of text are strings, sets or graphs, not %s",
                    file->path, dkm_type_name(file->type));
}

static dkm_status open_as(dkm_file *file, dkm_type usual)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(file->ctx, settle_type(file, usual));
    DKM_TRY(dkm_textfile_open(file, DKM_RECORDS_LINES));
    snprintf(file->about, sizeof file->about, "text, one %s a line",
             file->type == DKM_SETS     ? "set of words"
             : file->type == DKM_GRAPHS ? "labelled graph"
                                        : "string");
out:
    return status;
}

static dkm_status open_lines(dkm_file *file)
{
    return open_as(file, DKM_STRINGS);
}

static dkm_status open_sets(dkm_file *file)
{
    return open_as(file, DKM_SETS);
}

static dkm_status open_graphs(dkm_file *file)
{
    return open_as(file, DKM_GRAPHS);
}

static dkm_local add_graph(const dkm_text *text, dkm_builder *g, const char *line, dkm_idx length,
                           dkm_graph *graph)
{
    dkm_local local = dkm_graph_add(g, line, length, graph);

    if (local.code == DKM_OK && graph->wrong[0])
        local = dkm_fail_line(text, "%s", graph->wrong);
    return local;
}

static dkm_local read_lines(dkm_file *file, dkm_idx first, dkm_idx step, dkm_idx count, dkm_idx c0,
                            dkm_idx c1, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_textfile *t = file->state;
    dkm_idx length;
    dkm_words w = {0};
    dkm_graph graph = {0};
    dkm_builder g;
    char *line;

    (void)c0;
    (void)c1;
    DKM_STEP(dkm_builder_begin(&g, objs, file->ctx, file->type, count, 0));
    for (dkm_idx i = 0; i < count; i++) {
        DKM_STEP(dkm_textfile_seek(t, file, first + i * step));
        DKM_STEP(dkm_text_next(&t->text, &line, &length));
        if (file->type == DKM_SETS)
            DKM_STEP(dkm_word_set_add(&g, line, length, &w));
        else if (file->type == DKM_GRAPHS)
            DKM_STEP(add_graph(&t->text, &g, line, length, &graph));
        else
            DKM_STEP(dkm_builder_bytes(&g, line, length));
        dkm_builder_next(&g);
    }
    DKM_STEP(dkm_builder_end(&g));
out:
    dkm_graph_clear(&graph);
    DKM_FREE(w.list);
    if (local.code != DKM_OK)
        dkm_textfile_lose(t);
    return local;
}

const dkm_format dkm_format_lines = {
    .name = "text lines",
    .endings = ".txt .txt.gz",
    .is_text = 1,
    .open = open_lines,
    .read = read_lines,
    .close = dkm_textfile_close,
};

const dkm_format dkm_format_sets = {
    .name = "sets",
    .endings = ".sets .sets.gz",
    .is_text = 1,
    .open = open_sets,
    .read = read_lines,
    .close = dkm_textfile_close,
};

const dkm_format dkm_format_graphs = {
    .name = "graphs",
    .endings = ".graphs .graphs.gz",
    .is_text = 1,
    .open = open_graphs,
    .read = read_lines,
    .close = dkm_textfile_close,
};

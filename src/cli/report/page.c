#include "cli/report/page.h"

#include <stdlib.h>

#include <dkmap/data.h>
#include <dkmap/version.h>

static const char style[] =
    "body{font:16px/1.5 system-ui,'DejaVu Sans',Helvetica,sans-serif;color:#222;margin:0}"
    "main{max-width:1180px;margin:0 auto;padding:16px}"
    "h1{font-size:1.6em;margin:.4em 0}h2{font-size:1.3em;margin:1.6em 0 .4em;border-bottom:2px "
    "solid "
    "#0072b2;padding-bottom:.15em;overflow-wrap:anywhere}h3{font-size:1.05em;margin:1.2em 0 .3em}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.92em}"
    "th,td{text-align:left;padding:.22em .9em .22em 0;vertical-align:top;border-bottom:1px solid "
    "#e4e4e4}th{font-weight:600;white-space:nowrap}td{overflow-wrap:anywhere}"
    ".list td,.list th{white-space:nowrap;overflow-wrap:normal;font-variant-numeric:tabular-nums}"
    ".figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,430px),1fr));"
    "gap:12px;margin:1em 0}figure{margin:0}figcaption{font-weight:600;font-size:.95em}"
    ".row{grid-column:1/"
    "-1}svg{width:100%;height:auto;max-height:560px}summary{cursor:pointer;margin:.6em 0}"
    "footer{color:#666;font-size:.85em;margin-top:3em}";

dkm_status page_open(page *p, run *r, const char *title)
{
    dkm_status status = DKM_OK;
    int root = dkm_ctx_rank(r->ctx) == 0;

    *p = (page){.r = r};
    if (root)
        p->out = open_memstream(&p->bytes, &p->count);
    DKM_AGREE(r->ctx, !root || p->out ? DKM_LOCAL_OK
                                      : dkm_fail(r->ctx, DKM_ERR_MEMORY, "no memory for a page"));
    if (!root)
        return DKM_OK;
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>",
          p->out);
    page_text(p, title);
    fprintf(p->out, "</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n", style);
    page_heading(p, 1, title);
out:
    return status;
}

void page_close(page *p)
{
    if (p->out)
        fclose(p->out);
    free(p->bytes);
    *p = (page){0};
}

static dkm_local finish(page *p)
{
    int failed;

    fprintf(p->out, "<footer>Written by dkmap %s.</footer>\n</main>\n</body>\n</html>\n",
            DKMAP_VERSION);
    failed = ferror(p->out);
    failed |= fclose(p->out);
    p->out = NULL;
    return failed ? dkm_fail(p->r->ctx, DKM_ERR_MEMORY, "no memory for a page") : DKM_LOCAL_OK;
}

dkm_status page_write(page *p, const char *path)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(p->r->ctx, p->out ? finish(p) : DKM_LOCAL_OK);
    DKM_TRY(dkm_file_write(p->r->ctx, path, p->bytes, (dkm_idx)p->count));
out:
    return status;
}

void page_text(page *p, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '<')
            fputs("&lt;", p->out);
        else if (*c == '>')
            fputs("&gt;", p->out);
        else if (*c == '&')
            fputs("&amp;", p->out);
        else if (*c == '"')
            fputs("&quot;", p->out);
        else
            putc((unsigned char)*c < ' ' ? ' ' : *c, p->out);
    }
}

void page_heading(page *p, int level, const char *text)
{
    fprintf(p->out, "<h%d>", level);
    page_text(p, text);
    fprintf(p->out, "</h%d>\n", level);
}

void page_facts_begin(page *p)
{
    fputs("<table>\n", p->out);
}

void page_fact(page *p, const char *name, const char *text)
{
    fputs("<tr><th>", p->out);
    page_text(p, name);
    fputs("</th><td>", p->out);
    page_text(p, text);
    fputs("</td></tr>\n", p->out);
}

void page_facts_end(page *p)
{
    fputs("</table>\n", p->out);
}

static void put_row(page *p, const char *tag, int count, const char *const *cell)
{
    fputs("<tr>", p->out);
    for (int k = 0; k < count; k++) {
        fprintf(p->out, "<%s>", tag);
        page_text(p, cell[k]);
        fprintf(p->out, "</%s>", tag);
    }
    fputs("</tr>\n", p->out);
}

void page_table_begin(page *p, int count, const char *const *head)
{
    fputs("<div class=\"wide\"><table class=\"list\">\n", p->out);
    put_row(p, "th", count, head);
}

void page_cells(page *p, int count, const char *const *cell)
{
    put_row(p, "td", count, cell);
}

void page_table_end(page *p)
{
    fputs("</table></div>\n", p->out);
}

void page_figures_begin(page *p)
{
    fputs("<div class=\"figures\">\n", p->out);
}

dkm_local page_figure(page *p, const drawing *picture, const char *caption)
{
    dkm_local local;

    fprintf(p->out, "<figure%s><figcaption>", picture->width > 700 ? " class=\"row\"" : "");
    page_text(p, caption);
    fputs("</figcaption>\n", p->out);
    local = gnuplot_embed(p->r, picture, ++p->figures, p->out);
    fputs("</figure>\n", p->out);
    return local;
}

void page_figures_end(page *p)
{
    fputs("</div>\n", p->out);
}

void page_bytes(double bytes, char *out, size_t size)
{
    static const char *const unit[] = {"B", "KB", "MB", "GB", "TB"};
    int k = 0;

    for (; bytes >= 1000 && k < 4; k++)
        bytes /= 1000;
    snprintf(out, size, "%.3g %s", bytes, unit[k]);
}

void page_seconds(double seconds, char *out, size_t size)
{
    snprintf(out, size, seconds < 100 ? "%.3g s" : "%.0f s", seconds);
}

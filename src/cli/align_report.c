/* attune register --report with many scans: all of them before and after, and every edge with its residual. */
#include "cli/align.h"

#include "base/file.h"
#include "base/memory.h"
#include "plot/page.h"
#include "plot/view.h"

enum { COLOURS = 6 };

static atn_status draw_clouds(atn_text *page, const atn_cli_align *a) {
    const atn_ctx *ctx = a->r->call->ctx;
    atn_view_cloud *shown = atn_zalloc(ctx, a->count * sizeof *shown);
    const double **moved = shown ? atn_zalloc(ctx, a->count * sizeof *moved) : NULL;
    atn_status status = moved ? ATN_OK : ATN_ERR_MEMORY;
    size_t n = 0;
    for (size_t k = 0; k < a->count && !status; ++k) {
        if (a->result.placed && !a->result.scan[k]->placed) continue;
        shown[n] = (atn_view_cloud){.name = atn_cli_align_name(a->paths[k]),
                                    .color = (int32_t)(n % COLOURS),
                                    .n = atn_cloud_info_of(a->clouds[k]).points};
        for (int d = 0; d < 3; ++d) shown[n].axis[d] = atn_cloud_positions(a->clouds[k], d);
        moved[n++] = a->result.scan[k]->transform;
    }
    const atn_view_panel panels[] = {{.title = "before"}, {.title = "after", .moved = moved}};
    if (!status) atn_view_draw(page, shown, n, panels, 2, NULL);
    atn_free(ctx, moved);
    atn_free(ctx, shown);
    return status;
}

static void draw_table(atn_text *page, const atn_cli_align *a, void (*fill)(const atn_cli_align *, atn_text *),
                       const char *align) {
    atn_text rows = {.ctx = page->ctx};
    fill(a, &rows);
    atn_page_table(page, atn_text_str(&rows), align);
    if (rows.failed) page->failed = true;
    atn_text_free(&rows);
}

atn_status atn_cli_align_report(const atn_cli_align *a, const char *path) {
    const atn_ctx *ctx = a->r->call->ctx;
    const atn_align_result *x = &a->result;
    atn_text page = {.ctx = ctx}, subtitle = {.ctx = ctx};
    atn_text_printf(&subtitle, "%zu of %zu scans in the frame of %s, %.3g s", x->placed, a->count,
                    atn_cli_align_name(a->paths[x->anchor]), x->seconds);
    atn_page_begin(&page, "attune register", atn_text_str(&subtitle));
    atn_status status = draw_clouds(&page, a);
    atn_page_heading(&page, "Scans");
    draw_table(&page, a, atn_cli_align_scans, ATN_CLI_ALIGN_SCANS);
    atn_page_heading(&page, "Pairs that were registered");
    draw_table(&page, a, atn_cli_align_edges, ATN_CLI_ALIGN_EDGES);
    if (subtitle.failed) page.failed = true;
    if (!status) status = atn_cli_page_write(a->r->call, &page, path);
    atn_text_free(&subtitle);
    atn_text_free(&page);
    return status;
}

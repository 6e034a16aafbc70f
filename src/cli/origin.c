/* The origin of a report: the command line as typed, quoted for a shell, and the machine. */
#include "cli/cli.h"

#include "base/file.h"
#include "device/host_cpu.h"
#include "plot/page.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* A word that a shell would split is quoted. */
static void add_word(atn_text *to, const char *word) {
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";
    if (*word && !word[strspn(word, PLAIN)]) {
        atn_text_add(to, word);
        return;
    }
    atn_text_add(to, "'");
    for (; *word; ++word) {
        if (*word == '\'')
            atn_text_add(to, "'\\''");
        else
            atn_text_add_bytes(to, word, 1);
    }
    atn_text_add(to, "'");
}

static void add_machine(atn_text *to) {
    atn_device_info cpu = {0};
    struct utsname system;
    atn_cpu_describe(&cpu);
    if (uname(&system) == 0) atn_text_printf(to, "%s (%s %s): ", system.nodename, system.sysname, system.machine);
    atn_text_printf(to, "%s, %d cores, %.3g GB", cpu.name, (int)cpu.cores, (double)cpu.memory_bytes * 1e-9);
}

void atn_cli_origin_make(const atn_cli_call *call, atn_cli_origin *out) {
    *out = (atn_cli_origin){.command = {.ctx = call->ctx}, .machine = {.ctx = call->ctx}};
    atn_text_add(&out->command, "attune");
    for (int k = 1; k < call->argc; ++k) {
        atn_text_add(&out->command, " ");
        add_word(&out->command, call->argv[k]);
    }
    add_machine(&out->machine);
    out->page = (atn_page_origin){.command = atn_text_str(&out->command), .machine = atn_text_str(&out->machine)};
}

void atn_cli_origin_free(atn_cli_origin *origin) {
    atn_text_free(&origin->command);
    atn_text_free(&origin->machine);
}

atn_status atn_cli_page_write(const atn_cli_call *call, atn_text *page, const char *path) {
    atn_cli_origin origin;
    atn_cli_origin_make(call, &origin);
    atn_page_end(page, &origin.page);
    if (origin.command.failed || origin.machine.failed) page->failed = true;
    atn_cli_origin_free(&origin);
    atn_status status = atn_text_status(page);
    return status ? status : atn_file_write(call->ctx, path, atn_text_str(page), page->length);
}

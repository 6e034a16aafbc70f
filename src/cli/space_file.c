/* Reading spaces for the verbs. */
#include "cli/space_file.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "cli/kernel.h"
#include "space/device_given.h"
#include "space/shipped.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 64 << 20 };

typedef struct given_list {
    atn_cli_call *call;
    atn_arena arena;
    atn_device_info device;
    atn_given *items;
    size_t count;
} given_list;

static atn_setting read_setting(const char *text) {
    char *end;
    long long whole = strtoll(text, &end, 10);
    if (end != text && !*end) return (atn_setting){.kind = ATN_SETTING_WHOLE, .whole = whole, .number = (double)whole};
    double number = atn_number_read(text, &end);
    if (end != text && !*end) return (atn_setting){.kind = ATN_SETTING_REAL, .number = number};
    bool yes = strcmp(text, "True") == 0;
    if (yes || strcmp(text, "False") == 0) return (atn_setting){.kind = ATN_SETTING_BOOL, .whole = yes, .number = yes};
    return (atn_setting){.kind = ATN_SETTING_TEXT, .text = text};
}

static atn_status read_given(given_list *list, const char *text, atn_given *out) {
    const char *dot = strchr(text, '.'), *equals = strchr(text, '=');
    if (!dot || !equals || dot > equals || dot == text || equals == dot + 1 || !equals[1])
        return atn_cli_misuse(list->call, "--given cannot be '%s'; it takes MODULE.NAME=VALUE", text);
    out->module = atn_arena_strndup(&list->arena, text, (size_t)(dot - text));
    out->name = atn_arena_strndup(&list->arena, dot + 1, (size_t)(equals - dot - 1));
    out->value = read_setting(equals + 1);
    return out->module && out->name ? ATN_OK : ATN_ERR_MEMORY;
}

/* What --given says comes first, for the first of a name counts. Devices are looked for only when they are asked for.
 */
static atn_status gather(given_list *list, bool device) {
    atn_cli_call *call = list->call;
    size_t count = ATN_DEVICE_GIVEN;
    const char *text;
    atn_status status = ATN_OK;
    for (size_t at = 0; atn_cli_next(call, "given", &at);) ++count;
    list->items = atn_arena_alloc(&list->arena, count * sizeof *list->items);
    if (!list->items) return ATN_ERR_MEMORY;
    for (size_t at = 0; !status && (text = atn_cli_next(call, "given", &at));)
        status = read_given(list, text, &list->items[list->count++]);
    if (status || !device) return status;
    if (atn_cli_value(call, "device")) {
        atn_devices *devices;
        int32_t index;
        status = atn_cli_pick_device(call, &devices, &index);
        if (status) return status;
        list->device = *atn_devices_info(devices, index);
        atn_devices_free(devices);
    } else {
        atn_device_host_info(&list->device);
    }
    atn_device_given(&list->device, list->items + list->count);
    list->count += ATN_DEVICE_GIVEN;
    return ATN_OK;
}

static atn_status not_found(const atn_cli_call *call, const char *name) {
    atn_text names = {.ctx = call->ctx};
    for (const atn_embedded *s = ATN_SHIPPED_SPACES; s->name; ++s)
        atn_text_printf(&names, "%s%s", names.length ? ", " : "", s->name);
    atn_status status =
        atn_fail(call->ctx, ATN_ERR_IO, "%s: no such file or shipped space: %s", name, atn_text_str(&names));
    atn_text_free(&names);
    return status;
}

static bool is_json(const char *name, const char *text, size_t length) {
    size_t n = strlen(name);
    if (n > 6 && strcmp(name + n - 6, ".lanai") == 0) return false;
    size_t blanks = strspn(text, " \t\r\n");
    return (n > 5 && strcmp(name + n - 5, ".json") == 0) || (blanks < length && text[blanks] == '{');
}

atn_status atn_cli_space_open(atn_cli_call *call, const char *name, atn_space **out) {
    given_list list = {.call = call, .arena = {.ctx = call->ctx}};
    char *file = NULL;
    size_t length = 0;
    *out = NULL;
    bool is_file = access(name, F_OK) == 0;
    const char *text = is_file ? NULL : atn_space_shipped(name);
    if (!is_file && !text) return not_found(call, name);
    atn_status status = ATN_OK;
    if (is_file) {
        status = atn_file_read(call->ctx, name, MOST_BYTES, &file, &length);
        text = file;
    } else {
        length = strlen(text);
    }
    bool json = !status && is_json(name, text, length);
    if (!status && !json) status = gather(&list, memmem(text, length, "device", 6) != NULL);
    if (!status)
        status = json ? atn_space_parse_t1(call->ctx, name, text, length, out)
                      : atn_space_parse(call->ctx, name, text, length, list.items, list.count, out);
    atn_arena_free(&list.arena);
    atn_free(call->ctx, file);
    return status;
}

json_t *atn_cli_json_count(const atn_count *count) {
    if (count->fits && count->whole <= INT64_MAX) return json_integer((json_int_t)count->whole);
    return json_string(count->digits);
}

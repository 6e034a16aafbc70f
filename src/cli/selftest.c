/* attune selftest: builds and launches a small kernel on each device and checks what it computed. */
#include "cli/kernel.h"

#include "device/selftest.h"

static atn_status test_one(const atn_cli_call *call, const atn_devices *devices, int32_t index) {
    const atn_device_info *info = atn_devices_info(devices, index);
    atn_cli_progress(call, "testing %s %s ...", info->backend, info->name);
    atn_device *device;
    atn_status status = atn_check_cancel(call->ctx);
    if (!status) status = atn_device_open(devices, index, &device);
    if (!status) {
        status = atn_device_selftest(device);
        atn_device_close(device);
    }
    atn_cli_progress_end(call);
    return status;
}

static void add_row(atn_text *table, const atn_device_info *info, const char *error) {
    char number[16];
    snprintf(number, sizeof number, "%d", (int)info->index);
    atn_cli_add_cell(table, number);
    atn_cli_add_cell(table, info->backend);
    atn_cli_add_cell(table, info->name);
    atn_cli_add_cell(table, error ? "FAILED" : "ok");
    atn_cli_add_cell(table, error ? error : "");
    atn_text_add(table, "\n");
}

static bool add_json_row(const atn_ctx *ctx, json_t *list, const atn_device_info *info, const char *error) {
    json_t *object = json_object();
    if (json_object_set_new(object, "index", json_integer(info->index)) == 0 &&
        json_object_set_new(object, "backend", atn_cli_json_text(ctx, info->backend)) == 0 &&
        json_object_set_new(object, "name", atn_cli_json_text(ctx, info->name)) == 0 &&
        json_object_set_new(object, "ok", json_boolean(!error)) == 0 &&
        (!error || json_object_set_new(object, "error", atn_cli_json_text(ctx, error)) == 0))
        return json_array_append_new(list, object) == 0;
    json_decref(object);
    return false;
}

/* Takes over `list`. */
static atn_status print_json(atn_cli_call *call, json_t *list, bool whole, int failed) {
    json_t *root = json_object();
    whole = json_object_set_new(root, "devices", list) == 0 && whole;
    whole = json_object_set_new(root, "failed", json_integer(failed)) == 0 && whole;
    if (whole) return atn_cli_print_json(call, root);
    json_decref(root);
    return atn_cli_print_json(call, NULL);
}

static atn_status print_table(atn_cli_call *call, const atn_devices *devices, const atn_text *table) {
    atn_text page = {.ctx = call->ctx};
    atn_cli_add_table(&page, atn_text_str(table), "rllll");
    for (int32_t k = 0; k < atn_devices_note_count(devices); ++k)
        atn_text_printf(&page, "Not here: %s\n", atn_devices_note(devices, k));
    page.failed |= table->failed;
    atn_status status = atn_cli_print_text(call, "selftest", &page);
    atn_text_free(&page);
    return status;
}

static atn_status test_all(atn_cli_call *call, const atn_devices *devices, int32_t first, int32_t count) {
    atn_text table = {.ctx = call->ctx};
    json_t *list = call->json ? json_array() : NULL;
    bool whole = true;
    int failed = 0;
    atn_status status = ATN_OK;
    for (int32_t k = first; k < first + count && status != ATN_ERR_CANCELLED; ++k) {
        const atn_device_info *info = atn_devices_info(devices, k);
        char error[ATN_MESSAGE_BYTES];
        status = test_one(call, devices, k);
        failed += status != ATN_OK;
        const char *sentence = atn_ctx_message(call->ctx);
        snprintf(error, sizeof error, "%s", *sentence ? sentence : atn_status_name(status));
        if (call->json)
            whole = add_json_row(call->ctx, list, info, status ? error : NULL) && whole;
        else
            add_row(&table, info, status ? error : NULL);
    }
    if (status == ATN_ERR_CANCELLED)
        json_decref(list);
    else
        status = call->json ? print_json(call, list, whole, failed) : print_table(call, devices, &table);
    atn_text_free(&table);
    if (status || !failed) return status;
    return atn_fail(call->ctx, ATN_ERR_DEVICE, "%d of %d devices failed", failed, (int)count);
}

static atn_status run(atn_cli_call *call) {
    atn_devices *devices;
    int32_t first, count;
    atn_status status = atn_cli_find_devices(call, &devices, &first, &count);
    if (!status) status = test_all(call, devices, first, count);
    atn_devices_free(devices);
    return status;
}

const atn_cli_verb ATN_VERB_SELFTEST = {
    .name = "selftest",
    .summary = "compile and run a small kernel on each device and check its results",
    .synopsis = "",
    .paragraphs =
        (const char *const[]){
            "Opens each device (or that of --device), compiles a kernel in the language of its backend, runs it, and "
            "checks every result. Prints ok or FAILED for each; fails if any did.",
            "JSON: devices (index, backend, name, ok, error) and failed, their count.", NULL},
    .examples = (const atn_cli_pair[]){{"attune selftest", "does everything work here?"}, {0}},
    .run = run,
};

/* attune info for range files of atom probes: which masses belong to which ion, and errors in the assignment. */
#include "cli/info.h"

#include <attune/ranges.h>

static json_t *colour_json(uint32_t colour) {
    char text[16];
    snprintf(text, sizeof text, "%06X", (unsigned)colour);
    return json_string(text);
}

static bool add_range(json_t *list, const atn_ctx *ctx, const atn_mass_ranges *ranges, size_t k) {
    atn_mass_range range = *atn_mass_ranges_get(ranges, k);
    json_t *one = json_object();
    bool good = json_object_set_new(one, "low", json_real(range.low)) == 0 &&
                json_object_set_new(one, "high", json_real(range.high)) == 0 &&
                json_object_set_new(
                    one, "ion", atn_cli_json_text(ctx, atn_mass_ranges_ion(ranges, (size_t)range.ion)->name)) == 0 &&
                json_object_set_new(one, "volume_nm3", json_real(range.volume)) == 0;
    return json_array_append_new(list, one) == 0 && good;
}

static bool add_ion(json_t *list, const atn_ctx *ctx, atn_ion ion) {
    json_t *one = json_object();
    bool good = json_object_set_new(one, "name", atn_cli_json_text(ctx, ion.name)) == 0 &&
                json_object_set_new(one, "element", json_integer(ion.element)) == 0 &&
                json_object_set_new(one, "atoms", json_integer(ion.atoms)) == 0 &&
                json_object_set_new(one, "colour", colour_json(ion.colour)) == 0;
    return json_array_append_new(list, one) == 0 && good;
}

static atn_status print_json(atn_cli_call *call, const atn_mass_ranges *ranges, const atn_mass_ranges_info *info) {
    json_t *root = json_object(), *ions = json_array(), *list = json_array();
    bool good = json_object_set_new(root, "kind", json_string("ranges")) == 0 &&
                json_object_set_new(root, "format", json_string(info->format)) == 0 &&
                json_object_set_new(root, "min", json_real(info->low)) == 0 &&
                json_object_set_new(root, "max", json_real(info->high)) == 0 &&
                json_object_set_new(root, "overlaps", json_integer((json_int_t)info->overlaps)) == 0 &&
                json_object_set_new(root, "duplicates", json_integer((json_int_t)info->duplicates)) == 0;
    for (size_t k = 0; good && k < info->ions; ++k) good = add_ion(ions, call->ctx, *atn_mass_ranges_ion(ranges, k));
    for (size_t k = 0; good && k < info->ranges; ++k) good = add_range(list, call->ctx, ranges, k);
    good = json_object_set_new(root, "ions", ions) == 0 && good;
    good = json_object_set_new(root, "ranges", list) == 0 && good;
    return atn_cli_print_json(call, atn_cli_json_if(good, root));
}

static atn_status print_text(atn_cli_call *call, const atn_mass_ranges *ranges, const atn_mass_ranges_info *info) {
    atn_text page = {.ctx = call->ctx};
    atn_text_printf(&page, "kind        ranges of masses (%s)\nranges      %zu, from %g to %g Da\nions        %zu:",
                    info->format, info->ranges, info->low, info->high, info->ions);
    for (size_t k = 0; k < info->ions; ++k)
        atn_text_printf(&page, "%s %s", k ? "," : "", atn_mass_ranges_ion(ranges, k)->name);
    atn_text_printf(&page, "\noverlaps    %zu%s\nduplicates  %zu%s\n", info->overlaps,
                    info->overlaps ? " (the narrower range has the masses)" : "", info->duplicates,
                    info->duplicates ? " (left out)" : "");
    atn_status status = atn_cli_print_text(call, "info", &page);
    atn_text_free(&page);
    return status;
}

atn_status atn_cli_info_ranges(atn_cli_call *call, const char *path) {
    atn_mass_ranges *ranges;
    atn_status status = atn_mass_ranges_read(call->ctx, path, &ranges);
    if (status != ATN_OK) return status;
    atn_mass_ranges_info info = atn_mass_ranges_info_of(ranges);
    status = call->json ? print_json(call, ranges, &info) : print_text(call, ranges, &info);
    atn_mass_ranges_free(ranges);
    return status;
}

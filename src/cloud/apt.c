/* APT, little-endian: a header of 540 bytes, then sections, each with a header that says what it is, how large that
 * header is and how many bytes of data come. "Position" has three floats for an ion, "Mass" one. */
#include "cloud/binary.h"
#include "cloud/formats.h"
#include "cloud/ions.h"

#include "base/size.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 32, HEADER = 148, FILE_HEADER = 540 }; /* letters of a section's name; bytes, at least */

bool ion_apt_begins(const char *head, size_t length) { return length >= 4 && memcmp(head, "APT", 4) == 0; }

static uint64_t load_u64(const char *from) {
    return number_load_u32(from, false) | (uint64_t)number_load_u32(from + 4, false) << 32;
}

/* UTF-16 to ASCII; what is none becomes '?'. */
static void name_of(const char *from, char name[NAME + 1]) {
    size_t k = 0;
    for (; k < NAME && (from[2 * k] || from[2 * k + 1]); ++k)
        name[k] = from[2 * k] >= ' ' && !from[2 * k + 1] ? from[2 * k] : '?';
    name[k] = '\0';
}

/* What is at `at` with records of `bytes` must be there for each ion. */
static atn_status check_records(const source *s, const char *name, const char *head, uint64_t data, size_t bytes,
                                size_t ions) {
    uint32_t bits = number_load_u32(head + 92, false), record = number_load_u32(head + 96, false);
    size_t needed;
    if (bits != 32 || record != bytes)
        return source_wrong(s, "%s has records of %u bytes and %u bits a number; %zu and 32 are read", name, record,
                            bits, bytes);
    if (!atn_size_mul(ions, bytes, &needed) || data < needed)
        return source_wrong(s, "%s has %llu bytes; %zu ions need %zu each", name, (unsigned long long)data, ions,
                            bytes);
    return ATN_OK;
}

static atn_status read_section(source *s, atn_cloud *cloud, ion_layout *l) {
    const char *head;
    char name[NAME + 1];
    size_t start = s->size - source_left(s);
    atn_status status = source_take(s, HEADER, &head);
    if (status != ATN_OK) return status;
    if (memcmp(head, "SEC", 4) != 0)
        return source_wrong(s, "no section begins here, though %zu bytes are left", s->size - start);
    size_t header = number_load_u32(head + 4, false), left = source_left(s);
    uint64_t data = load_u64(head + 140);
    if (header < HEADER || header - HEADER > left)
        return source_wrong(s, "a section's header of %zu bytes; %zu are left", header, left);
    left -= header - HEADER;
    if (data > left) return source_wrong(s, "a section of %llu bytes; %zu are left", (unsigned long long)data, left);
    name_of(head + 12, name);
    bool position = strcmp(name, "Position") == 0, mass = strcmp(name, "Mass") == 0;
    if (position && !l->at) {
        l->at = start + header;
        status = check_records(s, name, head, data, l->bytes, l->ions);
    } else if (mass && !l->mass_at) {
        l->mass_at = start + header;
        l->masses = true;
        status = check_records(s, name, head, data, l->mass_bytes, l->ions);
    } else
        cloud_leave_out(cloud, *name ? name : "a section without name");
    if (status == ATN_OK) source_seek(s, start + header + (size_t)data);
    return status;
}

atn_status ion_apt_layout(source *s, atn_cloud *cloud, ion_layout *out) {
    const char *head;
    *out = (ion_layout){.bytes = 12, .mass_bytes = 4};
    if (s->size < FILE_HEADER)
        return atn_fail(s->ctx, ATN_ERR_INPUT, "%s: %zu bytes; the header alone has %d", s->name, s->size, FILE_HEADER);
    atn_status status = source_take(s, FILE_HEADER, &head);
    if (status != ATN_OK) return status;
    if (memcmp(head, "APT", 4) != 0) return source_wrong(s, "does not begin with APT");
    size_t header = number_load_u32(head + 4, false);
    uint64_t ions = load_u64(head + 532);
    if (header < FILE_HEADER || header > s->size) return source_wrong(s, "a header of %zu bytes", header);
    if (ions > s->size / 12)
        return source_wrong(s, "%llu ions in a file of %zu bytes", (unsigned long long)ions, s->size);
    out->ions = (size_t)ions;
    source_seek(s, header);
    while (status == ATN_OK && source_left(s)) status = read_section(s, cloud, out);
    if (status == ATN_OK && !out->at)
        status = atn_fail(s->ctx, ATN_ERR_INPUT, "%s: there is no section 'Position'", s->name);
    return status;
}

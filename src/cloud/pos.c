/* Atom probe: POS (16 bytes for an ion: x y z in nm, mass over charge) and ePOS (44: seven more), all big-endian. */
#include "cloud/binary.h"
#include "cloud/formats.h"
#include "cloud/ions.h"

static atn_status records(source *s, size_t bytes, ion_layout *out) {
    *out = (ion_layout){.ions = s->size / bytes, .bytes = bytes, .masses = true, .big = true};
    if (s->size % bytes == 0) return ATN_OK;
    return atn_fail(s->ctx, ATN_ERR_INPUT, "%s: byte %zu: %zu bytes after the last ion; an ion has %zu", s->name,
                    out->ions * bytes, s->size % bytes, bytes);
}

atn_status ion_pos_layout(source *s, atn_cloud *cloud, ion_layout *out) {
    (void)cloud;
    return records(s, 16, out);
}

atn_status ion_epos_layout(source *s, atn_cloud *cloud, ion_layout *out) {
    static const char *const rest[] = {"tof", "V_dc", "V_pulse", "det_x", "det_y", "pulses", "ions"};
    for (size_t k = 0; k < sizeof rest / sizeof *rest; ++k) cloud_leave_out(cloud, rest[k]);
    return records(s, 44, out);
}

static atn_status read_all(source *s, atn_cloud *cloud, ion_layout_find *find) {
    ion_layout layout;
    ion_stream all = {0};
    size_t first = 0, count = 0;
    atn_status status = find(s, cloud, &layout);
    if (status == ATN_OK) status = ions_open(s, &layout, &all);
    if (status == ATN_OK) status = cloud_begin(cloud, s, ions_roles(&all), layout.ions);
    if (status == ATN_OK) cloud_part_range(cloud, layout.ions, &first, &count);
    if (status == ATN_OK && first) ions_seek(&all, first);
    while (status == ATN_OK && all.next < first + count) status = ions_next(&all, cloud);
    ions_close(&all);
    return status;
}

static atn_status read_pos(source *s, atn_cloud *cloud) { return read_all(s, cloud, ion_pos_layout); }
static atn_status read_epos(source *s, atn_cloud *cloud) { return read_all(s, cloud, ion_epos_layout); }
static atn_status read_apt(source *s, atn_cloud *cloud) { return read_all(s, cloud, ion_apt_layout); }

static atn_status write(const atn_cloud *cloud, char separator, atn_text *out) {
    (void)separator;
    if (cloud_file_points(cloud) == 0)
        return atn_fail(cloud->ctx, ATN_ERR_INPUT,
                        "a cloud without points cannot be written as POS: the file would be empty");
    bool masses = cloud->roles & ROLE_BIT(ROLE_MASS);
    for (size_t k = 0; k < cloud->count; ++k) {
        for (cloud_role axis = ROLE_X; axis <= ROLE_Z; ++axis)
            number_add(out, NUMBER_F32, cloud_get(cloud, axis, k), true);
        number_add(out, NUMBER_F32, masses ? cloud_get(cloud, ROLE_MASS, k) : 0, true);
    }
    return ATN_OK;
}

const cloud_format CLOUD_POS = {
    .name = "POS", .endings = "pos", .read = read_pos, .write = write, .roles = ROLE_POSITION | ROLE_BIT(ROLE_MASS)};
const cloud_format CLOUD_EPOS = {.name = "ePOS", .endings = "epos", .read = read_epos};
const cloud_format CLOUD_APT = {.name = "APT", .endings = "apt", .begins = ion_apt_begins, .read = read_apt};

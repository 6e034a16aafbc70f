/* Atom probe: POS (16 bytes for an ion: x y z in nm, mass over charge) and ePOS (44: seven more), all big-endian. */
#include "cloud/binary.h"
#include "cloud/formats.h"

static atn_status read_records(source *s, atn_cloud *cloud, size_t bytes) {
    size_t ions = s->size / bytes;
    if (s->size % bytes)
        return atn_fail(s->ctx, ATN_ERR_INPUT, "%s: byte %zu: %zu bytes behind the last ion; an ion has %zu", s->name,
                        ions * bytes, s->size % bytes, bytes);
    atn_status status = cloud_begin(cloud, s, ROLE_POSITION | ROLE_BIT(ROLE_MASS), ions);
    for (size_t k = 0; status == ATN_OK && k < ions; ++k) {
        const char *record;
        status = source_take(s, bytes, &record);
        if (status != ATN_OK) break;
        double value[ROLE_COUNT] = {0};
        for (size_t d = 0; d < 3; ++d) value[d] = number_load(NUMBER_F32, record + 4 * d, true);
        value[ROLE_MASS] = number_load(NUMBER_F32, record + 12, true);
        status = cloud_add(cloud, s, value);
    }
    return status;
}

atn_status cloud_pos_read(source *s, atn_cloud *cloud) { return read_records(s, cloud, 16); }

atn_status cloud_epos_read(source *s, atn_cloud *cloud) {
    static const char *const rest[] = {"tof", "V_dc", "V_pulse", "det_x", "det_y", "pulses", "ions"};
    for (size_t k = 0; k < sizeof rest / sizeof *rest; ++k) cloud_leave_out(cloud, rest[k]);
    return read_records(s, cloud, 44);
}

atn_status cloud_pos_write(const atn_cloud *cloud, char separator, atn_text *out) {
    (void)separator;
    if (cloud->count == 0)
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

/* A volume as VTK XML image data (.vti), for ParaView and 3D Slicer: pixels as they are, behind the XML, scan by scan.
 */
#include "image/volume.h"

#include "base/number.h"
#include "base/text.h"
#include "base/writer.h"

#include <stdio.h>

static void add_head(atn_text *out, const atn_volume_info *info) {
    atn_text_add(out, "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" "
                      "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n");
    atn_text_printf(out, "<ImageData WholeExtent=\"0 %lld 0 %lld 0 %lld\" Origin=\"0 0 0\" Spacing=\"",
                    (long long)info->width - 1, (long long)info->height - 1, (long long)info->frames - 1);
    for (int d = 0; d < 3; ++d) {
        char number[ATN_NUMBER_TEXT];
        atn_number_print(info->spacing[d] > 0 ? info->spacing[d] : 1, number);
        atn_text_printf(out, "%s%s", d ? " " : "", number);
    }
    atn_text_printf(out,
                    "\">\n<Piece Extent=\"0 %lld 0 %lld 0 %lld\">\n<PointData Scalars=\"intensity\">\n"
                    "<DataArray type=\"UInt%d\" Name=\"intensity\" format=\"appended\" offset=\"0\"/>\n"
                    "</PointData>\n</Piece>\n</ImageData>\n<AppendedData encoding=\"raw\">\n_",
                    (long long)info->width - 1, (long long)info->height - 1, (long long)info->frames - 1,
                    (int)info->bits);
}

atn_status volume_vti_write(const atn_volume *volume, const char *path) {
    static const char END[] = "\n</AppendedData>\n</VTKFile>\n";
    const atn_ctx *ctx = volume_ctx(volume);
    atn_volume_info info = atn_volume_info_of(volume);
    atn_writer *writer = NULL;
    atn_text head = {.ctx = ctx};
    unsigned char length[8];
    for (int k = 0; k < 8; ++k)
        length[k] = (unsigned char)((uint64_t)info.frame_bytes * (uint64_t)info.frames >> 8 * k & 255);
    add_head(&head, &info);
    atn_status status = atn_text_status(&head);
    if (!status) status = atn_writer_open(ctx, path, &writer);
    if (!status) status = atn_writer_add(writer, head.data, head.length);
    if (!status) status = atn_writer_add(writer, length, sizeof length);
    for (int64_t k = 0; k < info.frames && !status; ++k) { /* little-endian, as all machines here are */
        status = atn_writer_add(writer, atn_volume_frame(volume, k), info.frame_bytes);
        if (!status) status = atn_tell_progress(ctx, "writing scans", k + 1, info.frames);
    }
    if (!status) status = atn_writer_add(writer, END, sizeof END - 1);
    if (!status) status = atn_writer_finish(writer);
    atn_writer_free(writer);
    atn_text_free(&head);
    return status;
}

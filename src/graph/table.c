/* Constant tables: the numbers of a DataObject's `values`, as elements in memory. */
#include "graph/sketch.h"
#include "graph/type.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool atn_number_parse(const char *text, size_t length, double number[2]) {
    while (length && is_blank(*text)) ++text, --length;
    while (length && is_blank(text[length - 1])) --length;
    char piece[128], *end;
    if (!length || length >= sizeof piece) return false;
    memcpy(piece, text, length);
    piece[length] = '\0';
    number[1] = 0;
    if (*piece != '(') {
        number[0] = atn_number_read(piece, &end);
        return end != piece && !*end;
    }
    number[0] = atn_number_read(piece + 1, &end);
    if (end == piece + 1) return false;
    while (is_blank(*end)) ++end;
    if (*end++ != ',') return false;
    char *second = end;
    number[1] = atn_number_read(second, &end);
    while (is_blank(*end)) ++end;
    return end != second && end[0] == ')' && !end[1];
}

static uint16_t half_bits(double number) {
    double rounded = atn_type_round(ATN_HP, number);
    uint16_t sign = signbit(number) ? 0x8000 : 0;
    if (isnan(rounded)) return 0x7e00;
    if (isinf(rounded)) return (uint16_t)(sign | 0x7c00);
    if (rounded == 0) return sign;
    int exponent = ilogb(rounded);
    if (exponent < -14) return (uint16_t)(sign | (uint16_t)ldexp(fabs(rounded), 24));
    uint16_t mantissa = (uint16_t)(ldexp(fabs(rounded), 10 - exponent) - 1024);
    return (uint16_t)(sign | (uint16_t)((exponent + 15) << 10) | mantissa);
}

/* False when the number does not fit an integer type. */
static bool store(atn_type type, const double number[2], unsigned char *to) {
    const atn_type_info *info = atn_type_get_info(type);
    if (atn_type_is_integer(type) && (number[1] != 0 || number[0] != trunc(number[0]) ||
                                      number[0] < (double)info->lowest || number[0] > (double)info->highest))
        return false;
    if (number[1] != 0 && !atn_type_is_complex(type)) return false;
    float single[2] = {(float)number[0], (float)number[1]};
    int32_t whole = atn_type_is_integer(type) ? (int32_t)number[0] : 0;
    uint16_t half = type == ATN_HP ? half_bits(number[0]) : (uint16_t)whole;
    uint8_t byte = (uint8_t)whole;
    const void *from = type == ATN_B || type == ATN_U8     ? (const void *)&byte
                       : type == ATN_U16 || type == ATN_HP ? (const void *)&half
                       : type == ATN_INT32                 ? (const void *)&whole
                       : type == ATN_SP || type == ATN_SP2 ? (const void *)single
                                                           : (const void *)number;
    memcpy(to, from, info->bytes);
    return true;
}

const char *atn_rank_name(int32_t rank) {
    static const char *const names[] = {"scalar", "vector", "matrix", "volume"};
    return names[rank >= 0 && rank <= ATN_MAX_RANK ? rank : 0];
}

const char *atn_rank_sizes(int32_t rank) {
    static const char *const sizes[] = {"", "LENGTH", "ROWSxCOLUMNS", "PLANESxROWSxCOLUMNS"};
    return sizes[rank >= 0 && rank <= ATN_MAX_RANK ? rank : 0];
}

static const char ENDS[] = ",;|"; /* of an element, of a row, of a plane */

int64_t atn_table_elements(const atn_object *object) {
    int64_t all = 1;
    for (int32_t axis = 0; axis < object->rank; ++axis) all *= object->table_size[axis];
    return all;
}

bool atn_describe_table(atn_sketch *sketch, const atn_item *item, const atn_attribute *values, atn_object *object) {
    const char *text = values->value;
    size_t length = strlen(text), room = 1, bytes = atn_type_bytes(item->type), count = 0, begin = 0;
    for (size_t k = 0; k < length; ++k) room += strchr(ENDS, text[k]) != NULL;
    unsigned char *table = atn_arena_alloc(&sketch->graph->arena, room * bytes);
    if (!table) return sketch->reader->failed = true, false;
    int64_t planes = 1, rows = 0, columns = 0, row_start = 0, in_plane = 0; /* rows: of all planes */
    bool even = true;                                                       /* all planes have as many */
    int32_t inside = 0;                                                     /* parentheses of a complex number */
    for (size_t k = 0; k <= length; ++k) {
        inside += text[k] == '(' ? 1 : text[k] == ')' ? -1 : 0;
        if (text[k] && (inside > 0 || !strchr(ENDS, text[k]))) continue;
        double number[2];
        if (rows && !text[k] && begin == k && text[k - 1] != '|') break; /* a semicolon ended the last row */
        if (!atn_number_parse(text + begin, k - begin, number) || !store(item->type, number, table + count * bytes)) {
            atn_reader_complain(sketch->reader, atn_attribute_place(sketch->reader, values, begin), item->name,
                                "element %zu of the table is not of type %s", count, atn_type_name(item->type));
            return false;
        }
        ++count;
        begin = k + 1;
        if (text[k] == ',') continue;
        if (item->rank < (text[k] == '|' ? 3 : text[k] ? 2 : 1)) {
            atn_reader_complain(sketch->reader, atn_attribute_place(sketch->reader, values, 0), item->name,
                                text[k] == '|' ? "'|' separates the planes of a volume; this is a %s"
                                               : "the table of a %s is one row; ';' separates the rows of a matrix",
                                atn_rank_name(item->rank));
            return false;
        }
        int64_t width = (int64_t)count - row_start;
        if (rows && width != columns) {
            atn_reader_complain(sketch->reader, atn_attribute_place(sketch->reader, values, 0), item->name,
                                "the rows of the table have %lld and %lld elements", (long long)columns,
                                (long long)width);
            return false;
        }
        columns = width;
        row_start = (int64_t)count;
        ++rows;
        if (text[k] != '|') continue;
        if (planes == 1) in_plane = rows;
        even = even && rows == planes++ * in_plane;
    }
    if (planes == 1) in_plane = rows;
    if (!even || rows != planes * in_plane) {
        atn_reader_complain(sketch->reader, atn_attribute_place(sketch->reader, values, 0), item->name,
                            "the planes of the table have different numbers of rows");
        return false;
    }
    object->table = table;
    object->table_size[0] = columns;
    object->table_size[1] = in_plane;
    object->table_size[2] = planes;
    return true;
}

bool atn_describe_size(atn_sketch *sketch, const atn_item *item, const atn_attribute *size, atn_object *object) {
    enum { LARGEST = 1 << 30 };
    const char *text = size->value;
    int64_t numbers[2] = {1, 1};
    int32_t count = 0;
    bool right = !item->values;
    for (size_t at = 0; right && count < 2;) { /* rows first */
        double number[2];
        size_t length = strcspn(text + at, ",");
        right = atn_number_parse(text + at, length, number) && number[1] == 0 && number[0] >= 1 &&
                number[0] <= LARGEST && number[0] == (double)(int64_t)number[0];
        if (right) numbers[count++] = (int64_t)number[0];
        at += length;
        if (!text[at++]) break;
        right = right && count < 2;
    }
    if (!right || count != item->rank) {
        atn_reader_complain(sketch->reader, atn_attribute_place(sketch->reader, size, 0), item->name,
                            item->values      ? "a table has the size of its elements"
                            : item->rank == 1 ? "the size of a vector is a whole number above 0"
                                              : "the size of a matrix is two whole numbers above 0: rows, columns");
        return false;
    }
    object->sized = true;
    object->table_size[0] = numbers[count - 1];
    object->table_size[1] = count == 2 ? numbers[0] : 1;
    return true;
}

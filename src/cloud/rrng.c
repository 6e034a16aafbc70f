/* RRNG, which is like an INI file: [Ions] with Ion1=Al, [Ranges] with Range1=26.9 27.1 Vol:0.016 Al:1 Color:33FFFF. A
 * range may name several elements, or have a name of its own; commas may replace decimal points. */
#include "cloud/fields.h"
#include "cloud/ranges.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool ranges_rrng_begins(const char *head, size_t length) {
    for (size_t k = 0; k < length; ++k) {
        if (k && head[k - 1] != '\n') continue;
        while (k < length && (head[k] == ' ' || head[k] == '\t')) ++k;
        if (k < length && head[k] == '[') return true;
    }
    return false;
}

static bool read_colour(const char *text, uint32_t *out) {
    char *end;
    if (strlen(text) != 6 || strspn(text, "0123456789abcdefABCDEF") != 6) return false;
    *out = (uint32_t)strtoul(text, &end, 16);
    return true;
}

/* "Al:1", "Vol:0.016", "Color:33FFFF", "Name:TiO". */
static atn_status read_word(const source *s, char *word, range_line *line) {
    char *value = strchr(word, ':');
    size_t count;
    if (!value) return source_wrong(s, "'%.40s' is not KEY:VALUE, as Al:1 is", word);
    *value++ = '\0';
    if (strcasecmp(word, "vol") == 0)
        return ranges_number(value, &line->volume) && line->volume >= 0
                   ? ATN_OK
                   : source_wrong(s, "the volume '%.40s' is not a number from 0", value);
    if (strcasecmp(word, "color") == 0) {
        line->coloured = read_colour(value, &line->colour);
        return line->coloured ? ATN_OK : source_wrong(s, "the colour '%.40s' is not RRGGBB", value);
    }
    bool name = strcasecmp(word, "name") == 0;
    if (name && !*value) return ATN_OK;
    if (!name && (!*word || !field_count(value, &count) || count == 0))
        return source_wrong(s, "'%.40s:%.40s': how many atoms of which element? Al:1 is one", word, value);
    return range_line_add(line, name ? value : word, name ? 1 : count)
               ? ATN_OK
               : source_wrong(s, "an ion with a name of more than %d letters", RANGES_NAME - 1);
}

static atn_status read_range(const source *s, char *text, atn_mass_ranges *r) {
    range_line line = {0};
    char *low = fields_next(&text), *high = fields_next(&text), *word;
    if (!low || !high || !ranges_number(low, &line.low) || !ranges_number(high, &line.high))
        return source_wrong(s, "a range begins with two numbers, as 26.9 27.1");
    atn_status status = ATN_OK;
    while (status == ATN_OK && (word = fields_next(&text))) status = read_word(s, word, &line);
    return status == ATN_OK ? ranges_add(r, s, &line) : status;
}

atn_status ranges_rrng_read(source *s, atn_mass_ranges *r) {
    char *line;
    bool inside = false;
    atn_status status;
    while ((status = source_line(s, &line)) == ATN_OK && line) {
        line += strspn(line, " \t");
        if (!*line || *line == ';' || *line == '#') continue;
        if (*line == '[') {
            inside = strncasecmp(line, "[ranges]", 8) == 0;
            continue;
        }
        char *value = strchr(line, '=');
        if (!value) return source_wrong(s, "'%.40s' is not NAME=VALUE", line);
        /* how many there are said to be is not asked: files that were edited by hand have it wrong */
        if (!inside || strncasecmp(line, "range", 5) != 0) continue;
        status = read_range(s, value + 1, r);
        if (status != ATN_OK) return status;
    }
    return status;
}

/* NPY files from numbers and back, for the examples: no Python needed.
 *   npy write FILE ROWSxCOLUMNS < numbers      a matrix of floats;  npy write FILE LENGTH < numbers     a vector
 *   npy read FILE                              its numbers, a row a line */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what) {
    fprintf(stderr, "npy: %s\n", what);
    return 1;
}

static int write_file(const char *path, const char *shape) {
    long rows = 1, columns = 0;
    char header[118], dict[118];
    int matrix = sscanf(shape, "%ldx%ld", &rows, &columns) == 2;
    if (!matrix) columns = rows, rows = 1;
    if (rows < 1 || columns < 1) return fail("a shape is LENGTH or ROWSxCOLUMNS");
    snprintf(dict, sizeof dict,
             matrix ? "{'descr': '<f4', 'fortran_order': False, 'shape': (%ld, %ld), }"
                    : "{'descr': '<f4', 'fortran_order': False, 'shape': (%ld,), }",
             matrix ? rows : columns, columns);
    for (size_t k = 0, length = strlen(dict); k < sizeof header; ++k) header[k] = k < length ? dict[k] : ' ';
    header[sizeof header - 1] = '\n'; /* 10 bytes in front of it: 128 in all */
    FILE *file = fopen(path, "wb");
    if (!file) return fail("cannot write the file");
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file);
    fwrite(header, 1, sizeof header, file);
    for (long k = 0; k < rows * columns; ++k) {
        float number;
        if (scanf("%f", &number) != 1) {
            fclose(file);
            return fail("too few numbers");
        }
        fwrite(&number, sizeof number, 1, file);
    }
    return fclose(file) == 0 ? 0 : fail("cannot write the file");
}

static int read_file(const char *path) {
    unsigned char start[10];
    char header[4096] = "";
    long rows = 1, columns = 1;
    FILE *file = fopen(path, "rb");
    if (!file || fread(start, 1, sizeof start, file) != sizeof start) return fail("cannot read the file");
    size_t length = start[8] + 256u * start[9];
    if (length >= sizeof header || fread(header, 1, length, file) != length) return fail("no header");
    const char *shape = strstr(header, "'shape': (");
    const char *kind = strstr(header, "'descr': '<");
    if (!shape || !kind) return fail("no shape or type");
    if (sscanf(shape, "'shape': (%ld, %ld", &rows, &columns) < 2) columns = rows, rows = 1;
    kind += strlen("'descr': '<");
    for (long row = 0; row < rows; ++row)
        for (long column = 0; column < columns; ++column) {
            double number = 0;
            float single;
            int32_t whole;
            size_t got = 0;
            if (strncmp(kind, "f4", 2) == 0) got = fread(&single, 4, 1, file), number = (double)single;
            if (strncmp(kind, "f8", 2) == 0) got = fread(&number, 8, 1, file);
            if (strncmp(kind, "i4", 2) == 0) got = fread(&whole, 4, 1, file), number = whole;
            if (got != 1) return fail("not enough elements, or a type other than f4, f8 and i4");
            printf("%g%c", number, column + 1 < columns ? ' ' : '\n');
        }
    return fclose(file);
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "write") == 0) return write_file(argv[2], argv[3]);
    if (argc == 3 && strcmp(argv[1], "read") == 0) return read_file(argv[2]);
    return fail("usage: npy write FILE SHAPE < numbers, or npy read FILE");
}

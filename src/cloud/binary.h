/* Numbers as bytes: every type that files of clouds have, in either byte order, whatever the order of this machine. */
#ifndef ATN_CLOUD_BINARY_H
#define ATN_CLOUD_BINARY_H

#include "base/text.h"

typedef enum number_type {
    NUMBER_I8,
    NUMBER_U8,
    NUMBER_I16,
    NUMBER_U16,
    NUMBER_I32,
    NUMBER_U32,
    NUMBER_I64,
    NUMBER_U64,
    NUMBER_F32,
    NUMBER_F64,
    NUMBER_NONE
} number_type;

size_t number_bytes(number_type type);
bool number_is_whole(number_type type);
double number_load(number_type type, const void *from, bool big); /* big: the first byte counts most */
uint32_t number_load_u32(const void *from, bool big);
/* Little-endian; what a type of whole numbers does not hold becomes its nearest, NaN 0. */
void number_store(number_type type, double value, char *to);
void number_copy(number_type type, const void *from, bool big, char *to); /* little-endian, bit for bit */
void number_add(atn_text *to, number_type type, double value, bool big);

#endif

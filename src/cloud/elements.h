/* The chemical elements by symbol. */
#ifndef ATN_CLOUD_ELEMENTS_H
#define ATN_CLOUD_ELEMENTS_H

int element_number(const char *symbol); /* "Al" is 13; 0: none */
const char *element_symbol(int number); /* NULL: none */

/* Standard atomic weight, in dalton; of elements without stable isotopes that of one with a long life. 0 beyond
 * uranium, and where there is no such element. */
double element_weight(int number);

#endif

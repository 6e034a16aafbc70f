/* The table of compiled-in variants while there are none: for the program that makes them, and where it cannot run. */
#include "device/builtin.h"

const atn_builtin ATN_BUILTINS[] = {{0}};

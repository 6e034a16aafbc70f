/* The chemical elements by symbol, in the order of their atomic numbers. */
#include "cloud/elements.h"

#include <stddef.h>
#include <string.h>

static const char SYMBOLS[][3] = {
    "H",  "He", "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Ne", "Na", "Mg", "Al", "Si", "P",  "S",  "Cl",
    "Ar", "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga", "Ge", "As", "Se",
    "Br", "Kr", "Rb", "Sr", "Y",  "Zr", "Nb", "Mo", "Tc", "Ru", "Rh", "Pd", "Ag", "Cd", "In", "Sn", "Sb",
    "Te", "I",  "Xe", "Cs", "Ba", "La", "Ce", "Pr", "Nd", "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er",
    "Tm", "Yb", "Lu", "Hf", "Ta", "W",  "Re", "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po", "At",
    "Rn", "Fr", "Ra", "Ac", "Th", "Pa", "U",  "Np", "Pu", "Am", "Cm", "Bk", "Cf", "Es", "Fm", "Md", "No",
    "Lr", "Rf", "Db", "Sg", "Bh", "Hs", "Mt", "Ds", "Rg", "Cn", "Nh", "Fl", "Mc", "Lv", "Ts", "Og",
};
enum { N_SYMBOLS = sizeof SYMBOLS / sizeof *SYMBOLS };

int element_number(const char *symbol) {
    for (int k = 0; k < N_SYMBOLS; ++k)
        if (strcmp(symbol, SYMBOLS[k]) == 0) return k + 1;
    return 0;
}

const char *element_symbol(int number) { return number >= 1 && number <= N_SYMBOLS ? SYMBOLS[number - 1] : NULL; }

/* What a thread does between two looks at something that another one changes. */
#ifndef ATN_BASE_RELAX_H
#define ATN_BASE_RELAX_H

/* Leaves the core to its other thread, or saves power, for a moment; nothing where that is not known. */
static inline void atn_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

#endif

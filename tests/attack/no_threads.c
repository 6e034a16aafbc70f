/* Loaded before the C library (LD_PRELOAD): a process that may not have threads, or ATTACK_THREADS of them. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <dlfcn.h>
#include <string.h>

typedef int creating(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *user) {
    static atomic_int made;
    const char *most = getenv("ATTACK_THREADS");
    if (atomic_fetch_add(&made, 1) >= (most ? atoi(most) : 0)) return EAGAIN;
    creating *create;
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&create, &symbol, sizeof symbol);
    return create(thread, attributes, start, user);
}

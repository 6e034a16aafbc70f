/* Loaded before the C library (LD_PRELOAD): a process that may have ATTACK_THREADS threads at once, none unless set. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef int creating(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef struct task {
    void *(*start)(void *);
    void *user;
} task;

static atomic_int alive;

static void *run(void *argument) {
    task t = *(task *)argument;
    free(argument);
    void *result = t.start(t.user);
    atomic_fetch_sub(&alive, 1);
    return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *user) {
    const char *most = getenv("ATTACK_THREADS");
    creating *create;
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&create, &symbol, sizeof symbol);
    task *t = malloc(sizeof *t);
    int error = EAGAIN;
    if (t && atomic_fetch_add(&alive, 1) < (most ? atoi(most) : 0)) {
        *t = (task){start, user};
        error = create(thread, attributes, run, t);
    }
    if (error) {
        atomic_fetch_sub(&alive, 1);
        free(t);
    }
    return error;
}

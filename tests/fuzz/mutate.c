/* Mutations of good files, for any compiler: each sample of a fuzz target's corpus with bytes flipped, overwritten,
 * inserted, repeated or cut, or spliced with another sample, given to the target. Number k is always the same input, so
 * that one that crashes can be had again. usage: mutate_SUBJECT CORPUS [COUNT [FIRST]] */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_SAMPLES = 256, MOST_BYTES = 1 << 20, MOST_EDITS = 8, USUAL = 2000 };

typedef struct sample {
    uint8_t *data;
    size_t size;
} sample;
static sample samples[MOST_SAMPLES];
static size_t n_samples;

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* In the order of their names: directories have none of their own. */
static void read_samples(const char *corpus) {
    char *names[MOST_SAMPLES], path[4096];
    size_t n = 0;
    DIR *dir = opendir(corpus);
    for (struct dirent *entry; dir && n < MOST_SAMPLES && (entry = readdir(dir));)
        if (entry->d_name[0] != '.') names[n++] = strdup(entry->d_name);
    if (dir) closedir(dir);
    qsort(names, n, sizeof *names, by_name);
    for (size_t k = 0; k < n; ++k) {
        snprintf(path, sizeof path, "%s/%s", corpus, names[k]);
        FILE *file = fopen(path, "rbe");
        sample *s = &samples[n_samples];
        s->data = malloc(MOST_BYTES);
        s->size = file && s->data ? fread(s->data, 1, MOST_BYTES, file) : 0;
        if (s->size) ++n_samples;
        if (file) fclose(file);
        free(names[k]);
    }
}

static uint64_t draw(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static size_t below(uint64_t *state, size_t most) { return most ? (size_t)(draw(state) % most) : 0; }

/* One edit of `data`, which has room for MOST_BYTES. */
static void edit(uint64_t *state, uint8_t *data, size_t *size) {
    static const uint8_t EDGES[] = {0x00, 0x01, 0x7f, 0x80, 0xff, '0', '9', '-', '<', '"', '\n'};
    size_t at = below(state, *size), run = 1 + below(state, 16), from = below(state, *size);
    if (run > *size - at) run = *size - at;
    switch (draw(state) % 7) {
    case 0: /* a bit */
        if (*size) data[at] ^= (uint8_t)(1u << draw(state) % 8);
        break;
    case 1: /* a byte */
        if (*size) data[at] = (uint8_t)draw(state);
        break;
    case 2: /* a run of what is often an edge */
        memset(data + at, EDGES[below(state, sizeof EDGES)], run);
        break;
    case 3: /* cut */
        *size = at;
        break;
    case 4: /* taken out */
        memmove(data + at, data + at + run, *size - at - run);
        *size -= run;
        break;
    case 5: /* put in */
        if (*size + run > MOST_BYTES) break;
        memmove(data + at + run, data + at, *size - at);
        for (size_t k = 0; k < run; ++k) data[at + k] = (uint8_t)draw(state);
        *size += run;
        break;
    default: /* copied from elsewhere in the file */
        if (run > *size - from) run = *size - from;
        memmove(data + at, data + from, run);
    }
}

static size_t mutate(uint64_t number, uint8_t *data) {
    uint64_t state = number;
    const sample *a = &samples[below(&state, n_samples)], *b = &samples[below(&state, n_samples)];
    size_t size = a->size;
    memcpy(data, a->data, size);
    if (draw(&state) % 8 == 0) { /* the beginning of one, the end of another */
        size_t keep = below(&state, a->size), skip = below(&state, b->size), rest = b->size - skip;
        if (rest > MOST_BYTES - keep) rest = MOST_BYTES - keep;
        memcpy(data + keep, b->data + skip, rest);
        size = keep + rest;
    }
    for (size_t n = 1 + below(&state, MOST_EDITS); n > 0; --n) edit(&state, data, &size);
    return size;
}

/* In a process of its own; `at` is where it is. */
static void run(uint64_t first, uint64_t count, volatile uint64_t *at) {
    uint8_t *data = malloc(MOST_BYTES);
    if (!data) _exit(1);
    for (*at = first; *at < first + count; ++*at) {
        size_t size = mutate(*at, data);
        uint8_t *exact = malloc(size + !size); /* so that a sanitizer sees its end */
        if (!exact) _exit(1);
        memcpy(exact, data, size);
        (void)LLVMFuzzerTestOneInput(exact, size);
        free(exact);
    }
    free(data);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    const char *wanted = argc > 2 ? argv[2] : getenv("ATTUNE_MUTATIONS");
    uint64_t count = wanted && *wanted ? strtoull(wanted, NULL, 10) : USUAL;
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    volatile uint64_t *at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    read_samples(argv[1]);
    if (!n_samples || at == MAP_FAILED) {
        fprintf(stderr, "%s: no samples there\n", argv[1]);
        return 1;
    }
    pid_t child = fork();
    if (child == 0) {
        run(first, count, at);
        exit(0); /* leaks are reported */
    }
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "input %llu: signal %d, exit %d; again: %s %s 1 %llu\n", (unsigned long long)*at,
                WIFSIGNALED(status) ? WTERMSIG(status) : 0, WIFEXITED(status) ? WEXITSTATUS(status) : 0, argv[0],
                argv[1], (unsigned long long)*at);
        return 1;
    }
    printf("mutated: %llu inputs of %zu samples\n", (unsigned long long)count, n_samples);
    fflush(stdout);
    _exit(0); /* the child has looked for leaks */
}

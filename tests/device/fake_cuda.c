/* The fake CUDA driver: devices, contexts, memory and modules; see fake_cuda.h. Streams and graphs are in
 * fake_stream.c. */
#include "fake_driver.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEVICES = 4, SHARED_OPTIN = 232448, NOT_SUPPORTED = 801 };

typedef struct block {
    struct block *next;
    char *bytes;
    size_t length;
} block;

struct atn_cu_context {
    int retained;
};
struct atn_cu_module {
    const char *text; /* source of a fake cubin, or NULL */
    char *copy;       /* the image */
    atn_cu_function *functions;
};

fake_cuda fake_state_; /* shared with fake_nvrtc.c */
static struct atn_cu_context contexts[MAX_DEVICES];
static _Thread_local atn_cu_context *current;
static block *blocks, *pinned;

fake_cuda *fake_reset(void);
fake_cuda *fake_reset(void) {
    fake_streams_reset();
    fake_state_ = (fake_cuda){.driver_version = 13000,
                              .device_count = 1,
                              .capability = 90,
                              .memory = 1 << 20,
                              .nvrtc_major = 13,
                              .function_items = 512,
                              .function_shared = 1024};
    return &fake_state_;
}

/* The failure that a test has ordered for this function, if its time has come. */
static int ordered(const char *symbol) {
    if (!fake_state_.fail_symbol || strcmp(fake_state_.fail_symbol, symbol) != 0) return 0;
    if (fake_state_.fail_skip-- > 0) return 0;
    fake_state_.fail_symbol = NULL;
    if (fake_state_.fail_lasts) fake_state_.broken = fake_state_.fail_result;
    return fake_state_.fail_result;
}

int fake_misuse(int result) {
    ++fake_state_.misuse;
    return result;
}

/* Every call that needs a context begins with this. */
int fake_enter(const char *symbol) {
    int result = ordered(symbol);
    if (result) return result;
    if (!current || current->retained == 0) return fake_misuse(201);
    return fake_state_.broken;
}
static int known(atn_cu_device device) {
    return device >= 0 && device < fake_state_.device_count && device < MAX_DEVICES;
}

int cuInit(unsigned flags) { return flags ? 1 : fake_state_.init_result; }
int cuDriverGetVersion(int *version) { return *version = fake_state_.driver_version, 0; }
int cuDeviceGetCount(int *count) { return *count = fake_state_.device_count, ordered(__func__); }
int cuDeviceGet(atn_cu_device *device, int ordinal) {
    *device = ordinal;
    int result = ordered(__func__);
    return result ? result : known(ordinal) ? 0 : 101;
}
int cuDeviceGetName(char *name, int bytes, atn_cu_device device) {
    snprintf(name, (size_t)bytes, "Fake GPU %d", device);
    return known(device) ? 0 : fake_misuse(101);
}
int cuDeviceTotalMem_v2(size_t *bytes, atn_cu_device device) {
    *bytes = fake_state_.memory;
    return known(device) ? 0 : fake_misuse(101);
}
int cuDeviceGetAttribute(int *value, int attribute, atn_cu_device device) {
    static const struct {
        int attribute, value;
    } FACTS[] = {
        {1, 1024},         {2, 1024}, {3, 1024},     {4, 64},   {5, 2147483647}, {6, 65535},     {7, 65535},
        {8, SHARED_PLAIN}, {10, 32},  {13, 1980000}, {16, 132}, {18, 0},         {38, 52428800}, {97, SHARED_OPTIN},
    };
    if (!known(device)) return fake_misuse(101);
    int result = ordered(__func__);
    if (result) return result;
    if (attribute == 75 || attribute == 76) {
        *value = attribute == 75 ? fake_state_.capability / 10 : fake_state_.capability % 10;
        return 0;
    }
    for (size_t k = 0; k < sizeof FACTS / sizeof *FACTS; ++k)
        if (FACTS[k].attribute == attribute) return *value = FACTS[k].value, 0;
    return fake_misuse(1);
}

int cuDevicePrimaryCtxRetain(atn_cu_context **context, atn_cu_device device) {
    int result = ordered(__func__);
    if (result) return result;
    if (!known(device)) return fake_misuse(101);
    *context = &contexts[device];
    ++contexts[device].retained;
    return ++fake_state_.contexts, 0;
}
int cuDevicePrimaryCtxRelease_v2(atn_cu_device device) {
    if (!known(device) || contexts[device].retained == 0) return fake_misuse(201);
    --fake_state_.contexts;
    if (--contexts[device].retained == 0) fake_state_.broken = 0;
    return 0;
}
int cuCtxSetCurrent(atn_cu_context *context) {
    int result = ordered(__func__);
    if (result) return result;
    current = context;
    return 0; /* also when broken, as the real one */
}

/* ---- memory ---- */
int fake_inside(atn_cu_address address, size_t bytes) {
    for (const block *b = blocks; b; b = b->next) {
        atn_cu_address start = (atn_cu_address)(uintptr_t)b->bytes;
        if (address >= start && address - start <= b->length && bytes <= b->length - (address - start)) return 1;
    }
    return 0;
}
static inline void *bytes_at(atn_cu_address address) { return (void *)(uintptr_t)address; }

int cuMemAlloc_v2(atn_cu_address *address, size_t bytes) {
    ENTER();
    size_t used = 0;
    for (const block *b = blocks; b; b = b->next) used += b->length;
    if (bytes == 0) return fake_misuse(1);
    if (bytes > fake_state_.memory - used) return 2;
    block *b = calloc(1, sizeof *b);
    *b = (block){blocks, calloc(1, bytes), bytes};
    blocks = b;
    ++fake_state_.buffers;
    *address = (atn_cu_address)(uintptr_t)b->bytes;
    return 0;
}
/* A broken context's memory is gone with it; the fake gives it back here so that leaks show. */
int cuMemFree_v2(atn_cu_address address) {
    fake_run_all(); /* as the real one, which waits */
    for (block **at = &blocks; *at; at = &(*at)->next) {
        if ((*at)->bytes != bytes_at(address)) continue;
        block *b = *at;
        *at = b->next;
        free(b->bytes);
        free(b);
        --fake_state_.buffers;
        return fake_enter(__func__);
    }
    return fake_misuse(1);
}
int cuMemAllocHost_v2(void **memory, size_t bytes) {
    ENTER();
    *memory = malloc(bytes);
    block *b = calloc(1, sizeof *b);
    *b = (block){pinned, *memory, bytes};
    pinned = b;
    return ++fake_state_.blocks, 0;
}
int cuMemFreeHost(void *memory) {
    for (block **at = &pinned; *at; at = &(*at)->next) {
        if ((*at)->bytes != memory) continue;
        block *b = *at;
        *at = b->next;
        if (fake_in_use(b->bytes, b->length)) (void)fake_misuse(1);
        free(b->bytes);
        free(b);
        --fake_state_.blocks;
        return fake_enter(__func__);
    }
    return fake_misuse(1);
}
bool fake_pinned(const void *memory, size_t bytes) {
    for (const block *b = pinned; b; b = b->next)
        if ((const char *)memory >= b->bytes && (const char *)memory + bytes <= b->bytes + b->length) return true;
    return false;
}
int cuPointerGetAttributes(unsigned count, int *attributes, void **values, atn_cu_address at) {
    ENTER();
    if (count != 1 || *attributes != ATN_CU_POINTER_MEMORY_TYPE) return 1;
    *(unsigned *)*values = fake_pinned((const void *)(uintptr_t)at, 1) ? ATN_CU_MEMORY_HOST : 0;
    return 0;
}

/* ---- modules ---- */
static const char MAGIC[] = "FAKECUBIN\n";

/* The bytes of a real cubin: it ends with its section or program headers. */
static size_t elf_bytes(const Elf64_Ehdr *elf) {
    size_t sections = elf->e_shoff + (size_t)elf->e_shnum * elf->e_shentsize;
    size_t programs = elf->e_phoff + (size_t)elf->e_phnum * elf->e_phentsize;
    return sections > programs ? sections : programs;
}

int cuModuleLoadData(atn_cu_module **module, const void *image) {
    ENTER();
    ++fake_state_.loads;
    bool fake = memcmp(image, MAGIC, sizeof MAGIC - 1) == 0;
    if (!fake && memcmp(image, ELFMAG, SELFMAG) != 0) return 200;
    size_t bytes = fake ? strlen(image) + 1 : elf_bytes(image);
    *module = calloc(1, sizeof **module);
    (*module)->copy = malloc(bytes);
    memcpy((*module)->copy, image, bytes);
    (*module)->text = fake ? (*module)->copy : NULL;
    return ++fake_state_.modules, 0;
}
int cuModuleUnload(atn_cu_module *module) {
    while (module->functions) {
        atn_cu_function *function = module->functions;
        module->functions = function->next;
        free(function);
    }
    free(module->copy);
    free(module);
    --fake_state_.modules;
    return fake_enter(__func__);
}

/* Does a real cubin have the section of this kernel's code? */
static bool elf_has(const char *image, const char *name) {
    const Elf64_Ehdr *elf = (const void *)image;
    const Elf64_Shdr *sections = (const void *)(image + elf->e_shoff);
    const char *names = image + sections[elf->e_shstrndx].sh_offset;
    char wanted[80];
    snprintf(wanted, sizeof wanted, ".text.%s", name);
    for (int k = 0; k < elf->e_shnum; ++k)
        if (strcmp(names + sections[k].sh_name, wanted) == 0) return true;
    return false;
}

/* The parameters of "NAME(...)" in the source: pointers and what is long or double take 8 bytes, all else 4. */
static bool read_source(const char *text, atn_cu_function *function) {
    char wanted[80], list[1024];
    snprintf(wanted, sizeof wanted, " %s(", function->name);
    const char *start = strstr(text, wanted);
    if (!start) return false;
    start += strlen(wanted);
    snprintf(list, sizeof list, "%.*s", (int)strcspn(start, ")"), start);
    char *rest = NULL;
    for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        bool wide = strchr(word, '*') || strstr(word, "double") || strstr(word, "long");
        function->param_bytes[function->n_params++] = wide ? 8 : 4;
    }
    return true;
}

int cuModuleGetFunction(atn_cu_function **out, atn_cu_module *module, const char *name) {
    ENTER();
    atn_cu_function *function = calloc(1, sizeof *function);
    snprintf(function->name, sizeof function->name, "%s", name);
    bool found = module->text ? read_source(module->text, function) : elf_has(module->copy, name);
    if (!found) {
        free(function);
        return 500;
    }
    if (!module->text) function->n_params = -1;
    function->next = module->functions;
    module->functions = function;
    *out = function;
    return 0;
}
int cuFuncGetParamInfo(atn_cu_function *function, size_t index, size_t *offset, size_t *bytes) {
    ENTER();
    if (fake_state_.silent_params || function->n_params < 0) return NOT_SUPPORTED;
    fake_state_.beyond += index >= (size_t)function->n_params;
    if (index >= (size_t)function->n_params) return 1;
    *offset = 0;
    *bytes = function->param_bytes[index];
    return 0;
}
int cuFuncGetAttribute(int *value, int attribute, atn_cu_function *function) {
    ENTER();
    (void)function;
    switch (attribute) {
    case 0:
        return *value = fake_state_.function_items, 0;
    case 1:
        return *value = fake_state_.function_shared, 0;
    case 3:
        return *value = 16, 0;
    case 4:
        return *value = 40, 0;
    default:
        return fake_misuse(1);
    }
}
int cuFuncSetAttribute(atn_cu_function *function, int attribute, int value) {
    ENTER();
    if (attribute == 9 && value >= 0 && value <= 100) return 0; /* how local memory and cache share */
    if (attribute != 8 || value + fake_state_.function_shared > SHARED_OPTIN) return fake_misuse(1);
    ++fake_state_.sets;
    fake_state_.set_bytes = function->dynamic = value;
    return 0;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, atn_cu_function *function, int items, size_t dynamic_bytes) {
    ENTER();
    (void)function;
    if (dynamic_bytes != 0) return fake_misuse(1);
    *out = 2048 / items;
    return 0;
}

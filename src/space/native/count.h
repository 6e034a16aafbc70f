// The entry point: the combinations below each of `groups` keys, LIVE values each; UINT64_MAX: not to be had.
void count(const struct atn_call *call) {
    const int32_t *keys = *(const int32_t *const *)call->args[0];
    uint64_t *counts = *(uint64_t *const *)call->args[1];
    const int32_t *tables = *(const int32_t *const *)call->args[2];
    const int64_t first = *(const int64_t *)call->args[3], n = call->groups[0];
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)call->threads)
    for (int64_t k = 0; k < n; ++k) {
        int bad = 0;
        uint64_t total = one(keys + (first + k) * LIVE, tables, &bad);
        counts[first + k] = bad ? UINT64_MAX : total;
    }
}

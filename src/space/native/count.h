// The entry point: the combinations below each of `groups` keys, LIVE values each; UINT64_MAX: not to be had.
void count(const struct atn_call *call) {
    const int32_t *keys = *(const int32_t *const *)call->args[0];
    uint64_t *counts = *(uint64_t *const *)call->args[1];
    const int32_t *tables = *(const int32_t *const *)call->args[2];
    const int64_t first = *(const int64_t *)call->args[3], n = call->groups[0];
    for (int64_t range[2]; call->next(call, n, 1, 1, range);) // one by one: they differ much
        for (int64_t k = range[0]; k < range[1]; ++k) {
            int bad = 0;
            uint64_t total = one(keys + (first + k) * LIVE, tables, &bad);
            counts[first + k] = bad ? UINT64_MAX : total;
        }
}

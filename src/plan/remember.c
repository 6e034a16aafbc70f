/* Measured seams: their key, their text, and looking them up in wisdom. */
#include "plan/remember.h"

#include "device/facts.h"
#include "kernel/known.h"

#include <stdio.h>
#include <string.h>

static const double FARTHEST = 2; /* log2 of sizes: beyond, the estimate knows better */
static const char PREFIX[] = "seams=";

/* ---- the key ---- */

/* The steps, and which arrays they have in common; not what they are called, nor how often a loop may go round. */
static atn_hash hash_steps(const atn_plan *plan) {
    atn_hash hash = atn_hash_add_text((atn_hash){0}, "plan");
    for (int32_t k = 0; k < plan->n_nodes; ++k) {
        const atn_plan_node *node = &plan->nodes[k];
        const int32_t numbers[] = {(int32_t)node->kind, node->from, node->to, node->match};
        if (node->kind == ATN_NODE_GONE) continue;
        hash = atn_hash_add(hash, numbers, sizeof numbers);
        if (node->kind != ATN_NODE_STEP) continue;
        hash = atn_hash_add(hash, &node->graph->hash, sizeof node->graph->hash);
        for (int32_t o = 0; o < node->graph->n_objects; ++o) {
            int32_t array = atn_plan_array_find(plan, node->graph->objects[o].name);
            hash = atn_hash_add(hash, &array, sizeof array);
        }
    }
    return hash;
}

void atn_plan_key(const atn_plan *plan, const atn_device_info *info, atn_tune_key *out) {
    *out = (atn_tune_key){.key = atn_tune_key_device(info)};
    atn_wisdom_key *key = &out->key;
    atn_hash sizes = {0};
    char text[ATN_HASH_TEXT];
    for (int32_t k = 0; k < plan->n_arrays; ++k) {
        const atn_plan_array *a = &plan->arrays[k];
        if (a->head < 0) continue;
        sizes = atn_hash_add(sizes, a->size, sizeof a->size);
        for (int32_t axis = 0; axis < a->rank && key->n_shape < ATN_WISDOM_DIMS; ++axis)
            key->shape[key->n_shape++] = a->size[axis] > 1 ? a->size[axis] : 1;
    }
    atn_hash_print(sizes, text); /* there may be more of them than a key holds */
    if (atn_backend_facts_of(info)->threads) snprintf(out->threads, sizeof out->threads, "%d threads", info->cores);
    snprintf(out->layout, sizeof out->layout, "plan %.16s", text);
    snprintf(out->tolerance, sizeof out->tolerance, "derived");
    key->kernel = plan->main.routine->name;
    key->graph = hash_steps(plan);
    key->generator = ATN_GENERATOR_VERSION;
    key->threads = out->threads;
    key->layout = out->layout;
    key->tolerance = out->tolerance;
}

/* ---- the text ---- */

void atn_plan_seams_print(const atn_plan *plan, atn_text *out) {
    atn_text_add(out, PREFIX);
    for (int32_t k = 0; k < plan->n_seams; ++k)
        atn_text_add(out, !plan->seams[k].possible ? "-" : plan->seams[k].fused ? "1" : "0");
}

bool atn_plan_seams_read(const char *text, int8_t *wanted, int32_t count) {
    size_t n = sizeof PREFIX - 1;
    if (strncmp(text, PREFIX, n) != 0 || strlen(text + n) != (size_t)count) return false;
    for (int32_t k = 0; k < count; ++k) {
        char c = text[n + (size_t)k];
        if (c != '0' && c != '1' && c != '-') return false;
        wanted[k] = (int8_t)(c == '1' ? 1 : c == '0' ? 0 : -1);
    }
    return true;
}

/* ---- asking ---- */

static int32_t count_seams(const atn_plan *plan) {
    int32_t n = 0;
    for (int32_t k = 0; k < plan->n_arrays; ++k) n += plan->arrays[k].head < 0;
    return n;
}

atn_status atn_plan_recall(atn_plan *plan, const atn_device_info *info, int8_t **wanted, int32_t *count) {
    atn_tune_key key;
    atn_hit hit;
    *wanted = NULL;
    *count = count_seams(plan);
    atn_plan_key(plan, info, &key);
    atn_status status = atn_known_find(plan->ctx, &key.key, &hit);
    if (status != ATN_OK || hit.kind == ATN_HIT_NONE || hit.distance > FARTHEST) {
        atn_hit_free(&hit);
        return status;
    }
    int8_t *seams = atn_arena_alloc(&plan->arena, (size_t)*count + 1);
    const char *origin =
        atn_arena_printf(&plan->arena, "%s, measured on %s at %s", atn_hit_name(hit.kind), hit.device, hit.when);
    if (!seams || !origin) {
        status = atn_plan_no_memory(plan);
    } else if (atn_plan_seams_read(hit.variant, seams, *count)) {
        *wanted = seams;
        plan->origin = origin;
    }
    atn_hit_free(&hit);
    return status;
}

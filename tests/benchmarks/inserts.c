// How many keys a second this memory takes in: inserts SLOTS KEYS OPERATIONS THREADS, SLOTS a power
// of two. Each of KEYS random keys comes OPERATIONS / KEYS times, far apart, and each thread has a
// part of the table to itself: what a visited set would do that had nothing else to do. It prints
// the keys that were new, and the seconds.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { AHEAD = 32 }; // so many keys are on their way from memory

static uint64_t *table;
static uint64_t slots, keys, operations, threads;

static uint64_t key_of(uint64_t number) { // splitmix64
    uint64_t x = (number + 1) * 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return (x ^ (x >> 31)) | 1;
}

static void *insert(void *found) {
    uint64_t part = *(uint64_t *)found, mine = slots / threads, many = keys / threads, added = 0;
    uint64_t *place = table + part * mine, waiting[AHEAD];
    uint64_t rounds = operations / threads;
    for (uint64_t i = 0; i < rounds + AHEAD; i++) {
        uint64_t key = key_of(part * many + i % many);
        if (i >= AHEAD) {
            uint64_t due = waiting[i % AHEAD], slot = (due >> 8) & (mine - 1);
            while (place[slot] && place[slot] != due) slot = (slot + 1) & (mine - 1);
            added += !place[slot];
            place[slot] = due;
        }
        if (i < rounds) __builtin_prefetch(place + ((key >> 8) & (mine - 1)), 1);
        waiting[i % AHEAD] = key;
    }
    *(uint64_t *)found = added;
    return NULL;
}

int main(int count, char **given) {
    if (count != 5) return fputs("inserts SLOTS KEYS OPERATIONS THREADS\n", stderr), 2;
    slots = strtoull(given[1], NULL, 10), keys = strtoull(given[2], NULL, 10);
    operations = strtoull(given[3], NULL, 10), threads = strtoull(given[4], NULL, 10);
    size_t bytes = slots * sizeof *table;
    table = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED) return perror("inserts"), 1;
    madvise(table, bytes, MADV_HUGEPAGE);
    for (uint64_t i = 0; i < slots; i += 512) table[i] = 0;
    pthread_t running[64];
    uint64_t found[64], added = 0;
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (uint64_t k = 0; k < threads; k++) {
        found[k] = k;
        pthread_create(running + k, NULL, insert, found + k);
    }
    for (uint64_t k = 0; k < threads; k++) pthread_join(running[k], NULL), added += found[k];
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%llu %.3f\n", (unsigned long long)added,
           (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9);
}

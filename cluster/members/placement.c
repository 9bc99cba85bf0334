/* See placement.h. SPDX-License-Identifier: MIT */
#include "cluster/placement.h"
#include "cluster/definition.h"

#include <assert.h>
#include <xxhash.h>

/* Whether a member comes before another one: by weight, and then by name. */
static bool
is_before(const char *name, uint64_t weight, const char *other,
          uint64_t other_weight)
{
    return weight != other_weight ? weight > other_weight
                                  : strcmp(name, other) < 0;
}

size_t
placement_owners(const char *family, uint32_t partition,
                 const char *const *names, size_t count, size_t replicas,
                 size_t *owners)
{
    const uint64_t seed =
        XXH3_64bits_withSeed(family, strlen(family), partition);
    uint64_t weights[CLUSTER_REPLICAS_MAX]; /* of the owners */
    size_t owner_count = 0;

    assert(replicas <= CLUSTER_REPLICAS_MAX);
    for (size_t i = 0; i < count; i++) {
        const uint64_t weight =
            XXH3_64bits_withSeed(names[i], strlen(names[i]), seed);
        size_t at = owner_count;

        while (at > 0 && is_before(names[i], weight, names[owners[at - 1]],
                                   weights[at - 1]))
            at--;
        if (at == replicas)
            continue;
        owner_count += owner_count < replicas;
        for (size_t j = owner_count - 1; j > at; j--) {
            owners[j] = owners[j - 1];
            weights[j] = weights[j - 1];
        }
        owners[at] = i;
        weights[at] = weight;
    }
    return owner_count;
}

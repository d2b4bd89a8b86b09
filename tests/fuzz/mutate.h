/* Small damage to files, the same for the same seed. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"

/* Changes bytes[0..size) in place a few times; the result has at most `capacity` bytes. */
size_t mutate(struct rng *rng, uint8_t *bytes, size_t size, size_t capacity);

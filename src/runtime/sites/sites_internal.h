/* Parts of the registration of modules (sites.c). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/instrument_abi.h"

/* vectors.c: finds out which vector registers the processor has (sites_vectors, ...). */
void sites_find_vectors(void);
/* native_versions.c: makes the native versions of a module's functions jump to the versions with sites. `records`: the
 * module's `count` sites. Returns false if the system refuses a change of the code. */
bool native_versions_leave(const struct site_record *records, uint32_t count);

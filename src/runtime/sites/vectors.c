/* Finds out which vector registers this processor has. site_thunk.S saves them before it calls C functions that may
 * change them. */
#include <sys/platform/x86.h>

#include "runtime/sites.h"
#include "runtime/sites/sites_internal.h"

/* Components of the processor state, as bits of XCR0. */
#define VECTORS_ALL 0xe4u
#define VECTORS_512 0xe0u
#define VECTORS_BY_HAND 0xa0u /* %zmm16 to 31 and the mask registers */

uint32_t sites_vectors;
uint8_t sites_has_xsave;
uint8_t sites_vectors_in_use;
uint32_t sites_saves_vectors;

/* Asks glibc, because each cpuid instruction costs 20 microseconds and more in a virtual machine. */
void sites_find_vectors(void)
{
	unsigned low, high;

	if (!CPU_FEATURE_PRESENT(OSXSAVE))
		return;
	sites_has_xsave = 1;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	sites_vectors = low & VECTORS_ALL;
	if (CPU_FEATURE_PRESENT(AVX512BW) && (sites_vectors & VECTORS_512) == VECTORS_512)
		sites_saves_vectors = VECTORS_BY_HAND;
	sites_vectors_in_use = CPU_FEATURE_PRESENT(XGETBV_ECX_1);
}

/* The vector registers of this processor, which site_thunk.S saves before it calls functions that may use them. */
#include <cpuid.h>

#include "runtime/sites.h"
#include "runtime/sites/sites_internal.h"

uint32_t sites_vectors;
uint8_t sites_has_xsave;
uint8_t sites_vectors_in_use;
uint32_t sites_saves_vectors;

/* Components of the processor state, as bits of XCR0. */
#define VECTORS_ALL 0xe4u
#define VECTORS_512 0xe0u
#define VECTORS_BY_HAND 0xa0u /* %zmm16 to 31 and the mask registers */

void sites_find_vectors(void)
{
	unsigned a, b, c, d, high;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return;
	sites_has_xsave = 1;
	__asm__ volatile("xgetbv" : "=a"(a), "=d"(high) : "c"(0));
	sites_vectors = a & VECTORS_ALL;
	if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_AVX512BW &&
		(sites_vectors & VECTORS_512) == VECTORS_512)
		sites_saves_vectors = VECTORS_BY_HAND;
	if (__get_cpuid_count(13, 1, &a, &b, &c, &d) && a & 4)
		sites_vectors_in_use = 1;
}

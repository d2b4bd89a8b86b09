/* The entry of libFuzzer; FUZZ_TARGET is the reader, set by the build. */
#include "fuzz/fuzz_targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	(void)FUZZ_TARGET(bytes, size); /* good or bad, it kept its promise */
	return 0;
}

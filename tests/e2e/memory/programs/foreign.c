/* Says that its sites are laid out as another raddle lays them out. */
#include <stddef.h>
#include <stdint.h>

#include "abi/instrument_abi.h"

extern __typeof__(raddle_module_loaded) raddle_module_loaded __attribute__((weak));

static const struct instrumented_module foreign = {
	.magic = INSTRUMENT_MAGIC, .version = INSTRUMENT_ABI_VERSION + 1};

__attribute__((constructor)) static void tell(void)
{
	if (raddle_module_loaded)
		raddle_module_loaded(&foreign);
}

int main(void)
{
	return 0;
}

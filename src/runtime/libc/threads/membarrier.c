/* membarrier(): a full fence in all threads of the process, whose fast paths then need none. */
#include <linux/membarrier.h>

#include "engine/engine.h"
#include "runtime/interpose.h"
#include "runtime/memory.h"
#include "runtime/libc/system_calls.h"
#include "runtime/sites.h"

#define COMMANDS_OF_FENCES                                                                         \
	(MEMBARRIER_CMD_GLOBAL | MEMBARRIER_CMD_GLOBAL_EXPEDITED |                                 \
		MEMBARRIER_CMD_PRIVATE_EXPEDITED | MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE |    \
		MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ)

/* The caller's own fence is the scheduling point; the fences of the others belong to its step. */
long call_membarrier(const long arguments[6], uint64_t site)
{
	const struct memory_access fence = {
		.site = site, .kind = SITE_FENCE, .order = SITE_SEQUENTIAL};
	const long result =
		platform_call(SYS_membarrier, arguments[0], arguments[1], arguments[2], 0, 0, 0);

	if (result || !(arguments[0] & COMMANDS_OF_FENCES))
		return result;
	if (sites_are_live)
		memory_access(&fence);
	engine_fence_all();
	return 0;
}

#include "runtime/libc/thread_ids.h"

#include <sys/syscall.h>

#include "runtime/runtime.h"

struct engine_thread *thread_of_id(pid_t id)
{
	for (uint32_t i = 0; i < engine_thread_count(); i++)
		if (engine_thread(i)->state == THREAD_ALIVE && engine_thread(i)->kernel_id == id)
			return engine_thread(i);
	/* libc may have asked the kernel for the id of the carrying kernel thread. */
	return id == platform_call(SYS_gettid) ? engine_current() : NULL;
}

struct engine_thread *thread_of_id_or_self(pid_t id)
{
	return id ? thread_of_id(id) : engine_current();
}

pid_t thread_id_for_kernel(pid_t id)
{
	if (runtime.executor != &executor_fiber || !thread_of_id(id))
		return id;
	return (pid_t)platform_call(SYS_gettid);
}

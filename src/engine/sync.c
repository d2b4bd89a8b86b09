#include "engine/sync.h"

#include "engine/cond.h"
#include "engine/mutex.h"
#include "engine/once.h"

void sync_register(void)
{
	engine_set_holder(OBJECT_MUTEX, mutex_holder);
	engine_set_holder(OBJECT_ONCE, once_holder);
	engine_set_lost_signals(cond_lost_signals);
}

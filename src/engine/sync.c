#include "engine/sync.h"

#include "engine/cond.h"
#include "engine/mutex.h"
#include "engine/once.h"
#include "engine/rwlock.h"
#include "engine/spin.h"
#include "engine/stream_lock.h"

void sync_register(void)
{
	engine_set_holder(OBJECT_MUTEX, mutex_holder);
	engine_set_holder(OBJECT_RWLOCK, rwlock_holder);
	engine_set_holder(OBJECT_SPIN, spin_holder);
	engine_set_holder(OBJECT_ONCE, once_holder);
	engine_set_holder(OBJECT_FILE, stream_lock_holder);
	engine_set_signal_history(cond_signal_history);
}

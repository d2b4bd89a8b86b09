#include "engine/stream_lock.h"

#include "engine/futex.h"
#include "engine/sync.h"

enum stream_lock_word { STREAM_FREE, STREAM_HELD, STREAM_CONTENDED };

static bool stream_is_mine(const struct stream_lock *stream)
{
	return stream->owner == engine_current()->handle;
}

/*
 * glibc's lock of three states. glibc takes the lock without telling anybody, so readiness cannot be
 * read off the word at any moment: like glibc's own waiters, ours mark the lock as contended, sleep,
 * and look again when they are woken.
 */
void stream_lock_lock(struct stream_lock *stream, uint64_t site)
{
	uint32_t before;

	engine_point(OP_FILE_LOCK, stream, site);
	if (stream_is_mine(stream)) {
		stream->depth++;
		return;
	}
	before = stream->lock;
	stream->lock = before == STREAM_FREE ? STREAM_HELD : STREAM_CONTENDED;
	while (before != STREAM_FREE) {
		futex_sleep(&stream->lock, OP_FILE_LOCK, site);
		before = stream->lock;
		stream->lock = STREAM_CONTENDED;
	}
	stream->owner = engine_current()->handle;
}

int stream_lock_trylock(struct stream_lock *stream, uint64_t site)
{
	engine_point(OP_FILE_TRYLOCK, stream, site);
	if (stream_is_mine(stream)) {
		stream->depth++;
		return 0;
	}
	if (stream->lock != STREAM_FREE) {
		engine_unproductive();
		return EBUSY;
	}
	stream->lock = STREAM_HELD;
	stream->owner = engine_current()->handle;
	return 0;
}

void stream_lock_unlock(struct stream_lock *stream, uint64_t site)
{
	uint32_t before;

	engine_point(OP_FILE_UNLOCK, stream, site);
	if (stream->depth) {
		stream->depth--;
		return;
	}
	before = stream->lock;
	stream->owner = 0;
	stream->lock = STREAM_FREE;
	if (before == STREAM_CONTENDED)
		(void)futex_wake_now(&stream->lock, 1, FUTEX_ANY);
}

struct thread_id stream_lock_holder(const void *address, uint64_t *site)
{
	const struct stream_lock *stream = address;
	const struct engine_thread *holder =
		stream->owner ? engine_thread_by_handle(stream->owner) : NULL;

	*site = 0;
	return holder ? holder->id : THREAD_NONE;
}

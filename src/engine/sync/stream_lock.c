#include "engine/sync.h"

#include "engine/futex.h"

enum stream_lock_word { STREAM_FREE, STREAM_HELD, STREAM_CONTENDED };

void stream_lock_sleep(struct stream_lock *stream, uint64_t site)
{
	stream->word = STREAM_CONTENDED;
	futex_sleep(&stream->word, OP_FILE_LOCK, site);
}

void stream_lock_got_after_sleep(struct stream_lock *stream)
{
	stream->word = STREAM_CONTENDED;
}

/* Wakes waiters, because glibc's own wake-up reaches the engine only where system calls are
 * trapped. */
void stream_lock_unlocked(struct stream_lock *stream)
{
	if (stream->word == STREAM_FREE)
		(void)futex_wake_now(&stream->word, 1, FUTEX_ANY);
}

struct thread_id stream_lock_holder(const struct stream_lock *stream)
{
	const struct engine_thread *holder =
		stream->owner ? engine_thread_by_handle(stream->owner) : NULL;

	return holder ? holder->id : THREAD_NONE;
}

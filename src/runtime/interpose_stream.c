/*
 * flockfile and its family. The lock inside the stream stays glibc's own, see stream_lock.h. Runs in
 * the target's threads.
 */
#include <stdio.h>

#include "engine/stream_lock.h"
#include "runtime/interpose_sync.h"

/* glibc's _IO_FLAGS2_NEED_LOCK: from now on its functions lock this stream also in one thread. */
#define STREAM_NEEDS_LOCK 128

static struct stream_lock *stream_lock_of(FILE *stream)
{
	stream->_flags2 |= STREAM_NEEDS_LOCK;
	return (struct stream_lock *)stream->_lock;
}

EXPORT void flockfile(FILE *stream)
{
	ENTER();
	stream_lock_lock(stream_lock_of(stream), CALL_SITE);
}

EXPORT int ftrylockfile(FILE *stream)
{
	ENTER();
	return stream_lock_trylock(stream_lock_of(stream), CALL_SITE);
}

EXPORT void funlockfile(FILE *stream)
{
	ENTER();
	stream_lock_unlock(stream_lock_of(stream), CALL_SITE);
}

EXPORT_ALIAS(_IO_flockfile, flockfile);
EXPORT_ALIAS(_IO_ftrylockfile, ftrylockfile);
EXPORT_ALIAS(_IO_funlockfile, funlockfile);

/* flockfile and its family. The lock inside the stream stays glibc's (engine/sync.h). */
#include <stdio.h>

#include "engine/sync.h"
#include "runtime/libc/threads/sync.h"

static struct stream_lock *stream_lock_of(FILE *stream)
{
	return (struct stream_lock *)stream->_lock;
}

EXPORT void flockfile(FILE *stream)
{
	uint64_t site = CALL_SITE;

	ENTER();
	engine_point(OP_FILE_LOCK, stream_lock_of(stream), site);
	if (!REAL(ftrylockfile)(stream))
		return;
	do {
		stream_lock_sleep(stream_lock_of(stream), site);
	} while (REAL(ftrylockfile)(stream));
	stream_lock_got_after_sleep(stream_lock_of(stream));
}

EXPORT int ftrylockfile(FILE *stream)
{
	int result;

	ENTER();
	engine_point(OP_FILE_TRYLOCK, stream_lock_of(stream), CALL_SITE);
	result = REAL(ftrylockfile)(stream);
	if (result)
		engine_unproductive();
	return result;
}

EXPORT void funlockfile(FILE *stream)
{
	ENTER();
	engine_point(OP_FILE_UNLOCK, stream_lock_of(stream), CALL_SITE);
	REAL(funlockfile)(stream);
	stream_lock_unlocked(stream_lock_of(stream));
}

EXPORT_ALIAS(_IO_flockfile, flockfile);
EXPORT_ALIAS(_IO_ftrylockfile, ftrylockfile);
EXPORT_ALIAS(_IO_funlockfile, funlockfile);

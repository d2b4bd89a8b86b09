#include "model/op.h"

const struct op_description op_descriptions[OP_KIND_COUNT] = {
#define OP(name, verb, object, flags) {#name, verb, OBJECT_##object, flags},
#include "model/ops.def"
#undef OP
};

const char *object_class_text(enum object_class class)
{
	static const char *const texts[OBJECT_CLASS_COUNT] = {
		[OBJECT_NOTHING] = "nothing",
		[OBJECT_THREAD] = "thread",
		[OBJECT_MUTEX] = "mutex",
		[OBJECT_COND] = "condition variable",
		[OBJECT_RWLOCK] = "rwlock",
		[OBJECT_SPIN] = "spin lock",
		[OBJECT_BARRIER] = "barrier",
		[OBJECT_SEM] = "semaphore",
		[OBJECT_ONCE] = "once control",
		[OBJECT_FUTEX] = "futex",
		[OBJECT_FILE] = "stream",
		[OBJECT_FD] = "file descriptor",
		[OBJECT_CHILD] = "child process",
		[OBJECT_SIGNAL] = "signal",
		[OBJECT_MEMORY] = "memory",
	};

	return class < OBJECT_CLASS_COUNT ? texts[class] : "unknown object";
}

const char *const call_verbs[CALL_KIND_COUNT] = {
#define CALL(name, verb) verb,
#include "model/calls.def"
#undef CALL
};

const char *descriptor_noun_text(uint16_t number)
{
	static const char *const texts[DESCRIPTOR_NOUN_COUNT] = {
		[DESCRIPTOR_PIPE] = "pipe",
		[DESCRIPTOR_SOCKET] = "socket",
		[DESCRIPTOR_CHARACTER] = "character device",
		[DESCRIPTOR_QUEUE] = "message queue",
		[DESCRIPTOR_EVENTFD] = "eventfd",
		[DESCRIPTOR_EPOLL] = "epoll instance",
		[DESCRIPTOR_TIMERFD] = "timerfd",
	};
	const unsigned noun = number >> DESCRIPTOR_BITS;

	return noun < DESCRIPTOR_NOUN_COUNT && texts[noun] ? texts[noun] : "file descriptor";
}

int descriptor_of(uint16_t number)
{
	const unsigned most = (1u << DESCRIPTOR_BITS) - 1;

	return number && (number & most) != most ? (int)(number & most) : -1;
}

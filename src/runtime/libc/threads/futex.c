/* The futex system call of the target: from syscall(), or trapped in glibc's own locks, libgomp or
 * inline assembly. The functions also run inside the handler of a trapped call. */
#include <linux/futex.h>
#include <sys/syscall.h>

#include "engine/futex.h"
#include "runtime/libc/threads/sync.h"
#include "runtime/libc/threads/library_lock.h"
#include "runtime/runtime.h"
#include "runtime/libc/system_calls.h"
#include "runtime/libc/world.h"

/* The call's arguments, by their names in futex(2). */
struct futex_call {
	uint32_t *word;
	uint32_t command;
	bool is_private;
	bool is_realtime;
	uint32_t value;
	const struct timespec *timeout;
	uint32_t value2; /* shares its register with timeout */
	uint32_t *second;
	uint32_t value3;
	uint64_t site;
};

static bool futex_is_valid_word(const uint32_t *word)
{
	return !interpose_is_bad_pointer(word) && !((uintptr_t)word & 3);
}

/* Returns the deadline of the wait. FUTEX_WAIT has a relative time-out, all other commands an
 * absolute one. */
static uint64_t futex_deadline(const struct futex_call *call, clockid_t clock)
{
	if (!call->timeout)
		return ENGINE_FOREVER;
	if (call->command == FUTEX_WAIT)
		return runtime_deadline_after(call->timeout);
	return runtime_deadline(clock, call->timeout);
}

static long futex_call_wait(const struct futex_call *call, uint32_t bitset)
{
	clockid_t clock = call->is_realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC;
	struct futex_waiting wait;
	long result;

	if (!bitset || (call->timeout &&
			       (!sync_is_valid_time(call->timeout) || call->timeout->tv_sec < 0)))
		return -EINVAL;
	wait = (struct futex_waiting){.word = call->word,
		.expected = call->value,
		.bitset = bitset,
		.deadline_ns = futex_deadline(call, clock),
		.site = call->site,
		.is_shared = !call->is_private && runtime.has_forked};
	do {
		result = futex_wait(&wait);
	} while (result == -EINTR && signals_want_restart());
	return result;
}

static long futex_call_lock(const struct futex_call *call, clockid_t clock)
{
	if (call->timeout && !sync_is_valid_time(call->timeout))
		return -EINVAL;
	return futex_lock_pi(call->word, futex_deadline(call, clock), call->site);
}

static long futex_call_pair(const struct futex_call *call)
{
	const struct futex_pair pair = {.word = call->word,
		.second = call->second,
		.count = call->value,
		.second_count = call->value2,
		.operation = call->value3,
		.site = call->site};

	if (!futex_is_valid_word(call->second))
		return (uintptr_t)call->second & 3 ? -EINVAL : -EFAULT;
	if (call->command == FUTEX_WAKE_OP)
		return futex_wake_op(&pair);
	return futex_requeue(&pair, call->command == FUTEX_CMP_REQUEUE ? &call->value3 : NULL);
}

static long futex_perform(const struct futex_call *call)
{
	switch (call->command) {
	case FUTEX_WAIT:
		return futex_call_wait(call, FUTEX_ANY);
	case FUTEX_WAIT_BITSET:
		return futex_call_wait(call, call->value3);
	case FUTEX_WAKE:
		return futex_wake(call->word, call->value, FUTEX_ANY, call->site);
	case FUTEX_WAKE_BITSET:
		return call->value3 ? futex_wake(call->word, call->value, call->value3, call->site)
				    : -EINVAL;
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_WAKE_OP:
		return futex_call_pair(call);
	case FUTEX_LOCK_PI:
		return futex_call_lock(call, CLOCK_REALTIME);
	case FUTEX_LOCK_PI2:
		return futex_call_lock(call, call->is_realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC);
	case FUTEX_TRYLOCK_PI:
		return futex_trylock_pi(call->word, call->site);
	case FUTEX_UNLOCK_PI:
		return futex_unlock_pi(call->word, call->site);
	default:
		return -ENOSYS;
	}
}

/* Makes the real call, for other processes that may share the word. */
static void futex_wake_others(const struct futex_call *call)
{
	if (call->command == FUTEX_WAKE || call->command == FUTEX_WAKE_BITSET)
		(void)platform_call(SYS_futex, call->word, FUTEX_WAKE, call->value);
}

/* A process that has not forked is assumed not to share its futexes: libstdc++ does not set
 * FUTEX_PRIVATE_FLAG on private ones. */
long call_futex(const long arguments[6], uint64_t site)
{
	const uint32_t operation = (uint32_t)arguments[1];
	const bool is_private = operation & FUTEX_PRIVATE_FLAG;
	const struct futex_call call = {.word = (uint32_t *)arguments[0],
		.command = operation & (uint32_t)FUTEX_CMD_MASK,
		.is_realtime = operation & FUTEX_CLOCK_REALTIME,
		.is_private = is_private,
		.value = (uint32_t)arguments[2],
		.timeout = (const struct timespec *)arguments[3],
		.value2 = (uint32_t)arguments[3],
		.second = (uint32_t *)arguments[4],
		.value3 = (uint32_t)arguments[5],
		.site = site};
	long result;

	if (!futex_is_valid_word(call.word))
		return (uintptr_t)call.word & 3 ? -EINVAL : -EFAULT;
	library_lock_note_futex(site);
	result = futex_perform(&call);
	if (!is_private)
		futex_wake_others(&call);
	return result;
}

#define WORDS_MAX 128 /* the kernel's limit */
#define WORD_BYTES_MASK 3
#define WORD_OF_32_BITS 2

/* struct futex_waitv, which older headers do not have. */
struct vector_entry {
	uint64_t value;
	uint64_t word;
	uint32_t flags;
	uint32_t reserved;
};

static long futex_vector_copy(
	const struct vector_entry *entries, uint32_t count, struct futex_vector_word *words)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t *word = (const uint32_t *)(uintptr_t)entries[i].word;

		if (entries[i].reserved || (uintptr_t)word & 3 ||
			(entries[i].flags & WORD_BYTES_MASK) != WORD_OF_32_BITS ||
			entries[i].flags & ~(uint32_t)(WORD_BYTES_MASK | FUTEX_PRIVATE_FLAG))
			return -EINVAL;
		if (interpose_is_bad_pointer(word))
			return -EFAULT;
		words[i] = (struct futex_vector_word){
			.word = word, .expected = (uint32_t)entries[i].value};
	}
	return 0;
}

long call_futex_waitv(const long arguments[6], uint64_t site)
{
	const struct timespec *timeout = (const struct timespec *)arguments[3];
	const clockid_t clock = (clockid_t)arguments[4];
	struct futex_vector_word words[WORDS_MAX];
	struct futex_vector vector = {.words = words,
		.count = (uint32_t)arguments[1],
		.deadline_ns = ENGINE_FOREVER,
		.site = site};
	long result;

	if (arguments[2] || !vector.count || vector.count > WORDS_MAX || !arguments[0])
		return -EINVAL;
	if (timeout && ((clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME) ||
			       !sync_is_valid_time(timeout) || timeout->tv_sec < 0))
		return -EINVAL;
	result = futex_vector_copy((const struct vector_entry *)arguments[0], vector.count, words);
	if (result)
		return result;
	library_lock_note_futex(site);
	if (timeout)
		vector.deadline_ns = runtime_deadline(clock, timeout);
	do {
		result = futex_wait_vector(&vector);
	} while (result == -EINTR && signals_want_restart());
	return result;
}

/* The table is guarded by shared_enter(). */
#include "runtime/libc/family.h"

#include <sys/syscall.h>

#include "base/hot_state.h"
#include "engine/engine.h"
#include "engine/sync.h"
#include "runtime/runtime.h"
#include "runtime/libc/world.h"

enum family_state {
	MEMBER_FREE,
	MEMBER_RESERVED, /* process id not known yet: counts as running */
	MEMBER_RUNNING,
	MEMBER_IDLE,
	MEMBER_STOPPED
};

struct family_member {
	uint32_t pid;
	uint8_t state;
	bool is_outside, is_signal; /* see struct family_wait */
	bool is_ending;
	uint64_t deadline_ns;
	uint64_t epoch;
};

struct family {
	uint64_t generation; /* grows with each new family; older members no longer count */
	uint64_t epoch;
	uint64_t clock_ns;
	bool has_stranger;
	struct family_member members[FAMILY_MOST];
};

/* State of this process, set at forks; a rewind restores it. */
static HOT_STATE struct {
	struct family *family; /* shared; NULL if nothing was forked yet, or memory is short */
	uint64_t generation;
	uint32_t own;	   /* own index in members[], or FAMILY_NONE */
	uint32_t reserved; /* index of the child being forked, or FAMILY_NONE */
	uint64_t idle_period;
} self = {.own = FAMILY_NONE, .reserved = FAMILY_NONE};

static bool family_is_ours(void)
{
	return self.family && self.own != FAMILY_NONE && self.family->generation == self.generation;
}

static struct family_member *family_self(void)
{
	return &self.family->members[self.own];
}

static uint32_t family_reserve(void)
{
	for (uint32_t i = 0; i < FAMILY_MOST; i++)
		if (self.family->members[i].state == MEMBER_FREE) {
			self.family->members[i] = (struct family_member){.state = MEMBER_RESERVED};
			return i;
		}
	self.family->has_stranger = true;
	return FAMILY_NONE;
}

static void family_begin(void)
{
	struct family *family = self.family;

	family->epoch = 0;
	family->clock_ns = 0;
	family->has_stranger = false;
	for (uint32_t i = 0; i < FAMILY_MOST; i++)
		family->members[i] = (struct family_member){.state = MEMBER_FREE};
	self.generation = ++family->generation;
	self.own = 0;
	family->members[0] = (struct family_member){
		.pid = (uint32_t)platform_call(SYS_getpid), .state = MEMBER_RUNNING};
}

void family_prepare_fork(void)
{
	self.reserved = FAMILY_NONE;
	if (!self.family && runtime.contract)
		self.family = platform_map(sizeof *self.family, true);
	if (!self.family) /* each process has its own clock if shared memory is not available */
		return;
	shared_enter(true);
	if (!family_is_ours() && !runtime.is_forked_child)
		family_begin();
	if (family_is_ours()) {
		self.reserved = family_reserve();
		family_publish_clock();
	}
	shared_leave(true);
}

void family_forked(long pid)
{
	struct family_member *child;

	if (pid == 0)
		self.own = self.reserved;
	if (!self.family || self.reserved == FAMILY_NONE)
		return;
	child = &self.family->members[self.reserved];
	self.reserved = FAMILY_NONE;
	shared_enter(true);
	if (pid < 0) {
		child->state = MEMBER_FREE;
	} else {
		child->pid = pid ? (uint32_t)pid : (uint32_t)platform_call(SYS_getpid);
		if (child->state == MEMBER_RESERVED)
			child->state = MEMBER_RUNNING;
	}
	shared_leave(true);
}

void family_leave(void)
{
	self.own = FAMILY_NONE;
}

void family_note_stranger(void)
{
	if (family_is_ours())
		self.family->has_stranger = true;
}

bool family_has_stranger(void)
{
	return family_is_ours() && self.family->has_stranger;
}

/* Removes ended members. Each removal begins an epoch: the others examine its effects. */
static void family_bury(void)
{
	struct family *family = self.family;

	for (uint32_t i = 0; i < FAMILY_MOST; i++) {
		struct family_member *member = &family->members[i];

		if (i == self.own || member->state == MEMBER_FREE || !member->pid ||
			!shared_process_is_gone((int32_t)member->pid))
			continue;
		member->state = MEMBER_FREE;
		family->has_stranger |= !member->is_ending;
		family->epoch++;
	}
}

uint32_t family_number(void)
{
	return family_is_ours() ? self.own : FAMILY_NONE;
}

uint32_t family_child_number(void)
{
	return self.reserved;
}

uint64_t family_living(void)
{
	uint64_t living = UINT64_C(1) << FAMILY_NONE;

	if (!family_is_ours())
		return UINT64_MAX;
	shared_enter(true);
	family_bury();
	for (uint32_t i = 0; i < FAMILY_MOST; i++)
		if (self.family->members[i].state != MEMBER_FREE)
			living |= UINT64_C(1) << i;
	shared_leave(true);
	return living;
}

bool family_has_others(void)
{
	const uint64_t outside = UINT64_C(1) << FAMILY_NONE;

	return family_is_ours() && family_living() & ~(outside | UINT64_C(1) << self.own);
}

bool family_has_member(int pid)
{
	for (uint32_t i = 0; pid && family_is_ours() && i < FAMILY_MOST; i++)
		if (self.family->members[i].state != MEMBER_FREE &&
			self.family->members[i].pid == (uint32_t)pid)
			return true;
	return false;
}

bool family_had_member(int pid)
{
	for (uint32_t i = 0; pid && family_is_ours() && i < FAMILY_MOST; i++)
		if (self.family->members[i].pid == (uint32_t)pid)
			return true;
	return false;
}

uint64_t family_look(void)
{
	uint64_t epoch, clock_ns;

	if (!family_is_ours())
		return 0;
	shared_enter(true);
	family_self()->state = MEMBER_RUNNING;
	epoch = self.family->epoch;
	clock_ns = self.family->clock_ns;
	shared_leave(true);
	if (clock_ns > engine_clock_ns() && time_is_virtual())
		engine_clock_advance_to(clock_ns);
	return epoch;
}

/* Called when all others are idle for this epoch. `deadline_ns`: their earliest deadline. */
static enum family_verdict family_settle(const struct family_member *own, uint64_t deadline_ns)
{
	if (own->deadline_ns == ENGINE_FOREVER && deadline_ns == ENGINE_FOREVER)
		return FAMILY_DEADLOCKED;
	return own->deadline_ns <= deadline_ns ? FAMILY_TIME : FAMILY_WAITS;
}

static enum family_verdict family_judge(const struct family_member *own)
{
	bool is_outside = own->is_outside, is_signal = own->is_signal;
	bool has_others = false, has_living = false;
	uint64_t deadline_ns = ENGINE_FOREVER;
	enum family_verdict verdict;

	for (uint32_t i = 0; i < FAMILY_MOST; i++) {
		const struct family_member *member = &self.family->members[i];

		if (member == own || member->state == MEMBER_FREE)
			continue;
		has_others = true;
		if (member->state == MEMBER_STOPPED)
			continue;
		has_living = true;
		if (member->state != MEMBER_IDLE || member->epoch != self.family->epoch)
			return FAMILY_WAITS;
		is_outside |= member->is_outside;
		is_signal |= member->is_signal;
		if (member->deadline_ns < deadline_ns)
			deadline_ns = member->deadline_ns;
	}
	if (!has_others)
		return FAMILY_ALONE;
	if (own->epoch != self.family->epoch)
		return FAMILY_WAITS;
	verdict = is_outside ? FAMILY_OUTSIDE : family_settle(own, deadline_ns);
	if (verdict != FAMILY_DEADLOCKED)
		return verdict;
	if (is_signal)
		return FAMILY_OUTSIDE;
	/* The process of the run reports its children's deadlocks, and waits for them. */
	return has_living && !runtime.is_forked_child ? FAMILY_WAITS : FAMILY_DEADLOCKED;
}

enum family_verdict family_wait(const struct family_wait *wait)
{
	enum family_verdict verdict = FAMILY_ALONE;
	struct family_member *own;

	if (!family_is_ours())
		return FAMILY_ALONE;
	shared_enter(true);
	family_bury();
	own = family_self();
	own->state = MEMBER_IDLE;
	own->deadline_ns = wait->deadline_ns;
	own->is_outside = wait->is_outside;
	own->is_signal = wait->is_signal;
	own->epoch = wait->epoch;
	if (self.idle_period != engine_idle_period()) {
		/* Begins an epoch for the others; the member itself needs no second check. */
		own->epoch += self.family->epoch++ == own->epoch;
		self.idle_period = engine_idle_period();
	}
	verdict = family_judge(own);
	if (verdict == FAMILY_TIME && wait->deadline_ns > self.family->clock_ns)
		self.family->clock_ns = wait->deadline_ns;
	if (verdict != FAMILY_WAITS && verdict != FAMILY_OUTSIDE)
		own->state = MEMBER_RUNNING;
	shared_leave(true);
	return verdict;
}

void family_stop(void)
{
	if (!family_is_ours())
		return;
	shared_enter(true);
	family_self()->state = MEMBER_STOPPED;
	self.family->epoch++;
	shared_leave(true);
}

void family_end(void)
{
	family_publish_clock();
	if (family_is_ours())
		family_self()->is_ending = true;
}

void family_publish_clock(void)
{
	if (!family_is_ours())
		return;
	shared_enter(true);
	if (engine_clock_ns() > self.family->clock_ns)
		self.family->clock_ns = engine_clock_ns();
	shared_leave(true);
}

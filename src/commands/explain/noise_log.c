#include "commands/explain/noise_log.h"

#include "base/hash.h"
#include "detectors/detector.h"
#include "platform/platform.h"

/* Events this recent may be preceded by others that are not visible yet: some 50 microseconds. */
#define SETTLING_TICKS 150000u
#define WORD_BYTES 8u
/* Of longer ranges only the beginning is read. */
#define WORDS_MOST 512u
/* The detector reserves class 0. */
#define CLASS_FIRST 1u

void noise_log_begin(struct noise_log *log, struct contract *contract, void *patterns)
{
	struct contract_noise *noise = contract_area(contract, contract->noise_offset);

	*log = (struct noise_log){.noise = noise, .patterns = patterns};
	noise->thread_count = 0;
	noise->lost = 0;
	for (uint32_t i = 0; i < NOISE_RINGS; i++) {
		noise->rings[i].is_taken = 0;
		log->read[i] = noise->rings[i].written;
	}
	detectors[DETECTOR_patterns]->begin_run(patterns);
}

static object_name noise_log_name_of(uint64_t address, uint32_t block)
{
	return (object_name)hash_pair(address / WORD_BYTES, block) | 1;
}

/* Passes an access to the detector in pieces, one per named range of memory. */
static void noise_log_pass_access(struct noise_log *log, const struct noise_event *event)
{
	const uint64_t end = event->address + event->bytes;
	const uint16_t thread = event->thread % THREAD_CAPACITY;
	struct detector_event piece = {
		.step = ++log->step,
		.site = event->site,
		.address = event->address,
		.name = (thread_name)thread + 1,
		.role = log->noise->roles[thread],
		.class = CLASS_FIRST + event->class,
		.thread = {thread},
		.other = THREAD_NONE,
		.kind = event->is_write ? OP_STORE : OP_LOAD,
	};
	struct outcome unused;

	for (unsigned i = 0; piece.address < end && i < WORDS_MOST; i++) {
		const uint64_t next = (piece.address | (WORD_BYTES - 1)) + 1;

		piece.object = noise_log_name_of(piece.address, event->block);
		piece.bytes = (uint32_t)((end < next ? end : next) - piece.address);
		/* The patterns detector never reports a failure. */
		(void)detectors[DETECTOR_patterns]->observe(log->patterns, &piece, &unused);
		piece.address = next;
	}
}

static uint64_t written(const struct noise_ring *ring)
{
	return __atomic_load_n(&ring->written, __ATOMIC_ACQUIRE); /* pairs with noise_tell() */
}

/* The thread has overwritten unread events: continues with the newer half of the ring. */
static void skip(struct noise_log *log, uint32_t ring, uint64_t end)
{
	const uint64_t to = end - NOISE_EVENTS / 2;

	log->lost += to - log->read[ring];
	log->read[ring] = to;
}

static bool noise_log_take(struct noise_log *log, uint32_t at, struct noise_event *event)
{
	const struct noise_ring *ring = &log->noise->rings[at];

	*event = ring->events[log->read[at] % NOISE_EVENTS];
	/* The next write may already be in progress. */
	if (written(ring) - log->read[at] < NOISE_EVENTS)
		return true;
	skip(log, at, written(ring));
	return false;
}

/* The ring with the oldest event; NOISE_RINGS: all are empty. */
static uint32_t oldest(const struct noise_log *log, const uint32_t *rings, uint32_t count)
{
	uint32_t found = NOISE_RINGS;
	uint64_t time = UINT64_MAX;

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t at = rings[i];
		const struct noise_event *event =
			&log->noise->rings[at].events[log->read[at] % NOISE_EVENTS];

		if (log->read[at] < log->ends[at] && event->time < time) {
			time = event->time;
			found = at;
		}
	}
	return found;
}

void noise_log_read(struct noise_log *log, bool is_over)
{
	const uint64_t horizon = is_over ? UINT64_MAX : platform_time_stamp() - SETTLING_TICKS;
	uint32_t rings[NOISE_RINGS];
	uint32_t count = 0;
	uint32_t at;

	for (uint32_t i = 0; i < NOISE_RINGS; i++) {
		log->ends[i] = written(&log->noise->rings[i]);
		if (log->ends[i] - log->read[i] > NOISE_EVENTS)
			skip(log, i, log->ends[i]);
		if (log->ends[i] != log->read[i])
			rings[count++] = i;
	}
	while ((at = oldest(log, rings, count)) < NOISE_RINGS) {
		struct noise_event event;

		if (!noise_log_take(log, at, &event))
			continue;
		if (event.time > horizon)
			return;
		log->read[at]++;
		noise_log_pass_access(log, &event);
	}
}

uint64_t noise_log_lost(const struct noise_log *log)
{
	return log->lost + log->noise->lost;
}

uint64_t noise_class_site(const struct contract_noise *noise, uint32_t class)
{
	if (class < CLASS_FIRST + NOISE_CLASS_BLOCKS || class >= CLASS_FIRST + NOISE_CLASSES)
		return 0;
	return noise->classes[class - CLASS_FIRST];
}

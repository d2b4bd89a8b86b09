/* Memory in a walk: initial values of shared memory, and terms in memory of one thread. */
#include <string.h>

#include "base/bitset.h"
#include "base/array.h"
#include "base/slots.h"
#include "branches/interpret/walk_internal.h"

void walk_want(struct walk *walk, uint64_t word)
{
	for (uint32_t i = 0; i < walk->wanted_count; i++)
		if (walk->wanted[i] == word)
			return;
	ARRAY_APPEND(walk->wanted, walk->wanted_count, word);
}

/* Chooses the site if the access may be to shared memory. If the site is chosen already, its first
 * word alone decides whether the access counts. */
static void walk_memory_choose(
	struct walker *walker, uint32_t site, uint64_t address, uint32_t bytes)
{
	struct walk *walk = walker->walk;
	const bool is_chosen = bitset_has(walk->chosen, site);

	if (!(is_chosen ? walk_may_be_shared(walk, address, 1)
			: walk_is_shared(walk, address, bytes)))
		return;
	if (!is_chosen)
		bitset_add(walk->chosen, site);
	walk_weigh(walker);
}

void walk_note_access(
	struct walker *walker, uint32_t site, uint64_t address, uint32_t bytes, bool is_write)
{
	if (walker->mode & WALK_SHARING) {
		walk_note_sharing(walker, address, bytes, is_write);
		return;
	}
	if (walker->mode & WALK_CHOOSING &&
		(bytes > 8 || walk_may_be_shared(walker->walk, address, bytes)))
		walk_memory_choose(walker, site, address, bytes);
	if (walker->mode & WALK_PATHS) {
		struct walk_event *event =
			walk_add_event(walker, is_write ? EVENT_WRITE : EVENT_READ);

		event->site = site;
		event->address = address;
	}
}

void walk_count_step(struct walker *walker, uint32_t site)
{
	if (bitset_has(walker->walk->chosen, site))
		walker->steps++;
}

/* The initial value of a word. Kept byte by byte: later reads may have another size than the
 * writes. */
struct initial_value {
	uint64_t word; /* address / 8 + 1; 0: free slot */
	uint8_t bytes[8];
	uint8_t known; /* bit set of the bytes that were written */
};

void walk_note_initial(struct walker *walker, uint64_t address, uint32_t bytes, uint64_t value)
{
	struct walk *walk = walker->walk;

	if (!(walker->mode & WALK_EVENTS) || !walk_is_shared(walker->walk, address, bytes))
		return;
	for (uint32_t i = 0; i < bytes; i++) {
		const uint64_t at = address + i;
		struct initial_value *found =
			slots_add(&walk->initials, sizeof *found, (at >> 3) + 1);

		found->bytes[at & 7] = (uint8_t)(value >> 8 * i);
		found->known |= (uint8_t)(1u << (at & 7));
	}
}

/* Finds the value at the creation of the second thread. */
static bool walk_memory_find_first(
	const struct walk *walk, uint64_t address, uint32_t bytes, uint64_t *value)
{
	const struct run_record *record = walk->record;

	*value = 0;
	/* Static data precedes: its image was copied at exactly this time. */
	for (uint32_t i = 0; i < record->image_count; i++) {
		const struct record_image *image = &record->images[i];

		/* Unsigned: also rejects addresses below the image and wild ones. */
		if (bytes > image->bytes || address - image->address > image->bytes - bytes)
			continue;
		memcpy(value, record->image_bytes + image->offset + (address - image->address),
			bytes);
		return true;
	}
	for (uint32_t i = 0; i < bytes; i++) {
		const uint64_t at = address + i;
		const struct initial_value *found =
			slots_get(&walk->initials, sizeof *found, (at >> 3) + 1);

		if (!found || !(found->known >> (at & 7) & 1))
			return false;
		*value |= (uint64_t)found->bytes[at & 7] << 8 * i;
	}
	return true;
}

bool walk_is_known(const struct walk *walk, uint64_t word)
{
	const struct shared_word *found = walk_shared_word(walk, word);
	uint64_t value;

	return (found && (found->access_count || found->is_shared)) ||
	       walk_memory_find_first(walk, word << 3, 8, &value);
}

bool walk_initial(const struct walk *walk, uint64_t address, uint32_t bytes, uint64_t *value)
{
	const bool is_known = walk_memory_find_first(walk, address, bytes, value);

	return walk_before(walk, address, bytes, value) == bytes || is_known;
}

/* Returns a shadow that overlaps the range, or NULL. Both have at most eight bytes. */
static struct shadow *walk_memory_overlapping(
	const struct walker *walker, uint64_t address, uint32_t bytes)
{
	if (!walk_may_have_term(walker, address, bytes))
		return NULL;
	for (uint64_t at = address - 7; at != address + bytes; at++) {
		struct shadow *shadow = slots_get(&walker->shadows, sizeof *shadow, at);

		if (shadow && shadow->term && shadow->address + shadow->bytes > address)
			return shadow;
	}
	return NULL;
}

static void walk_memory_write_shadow(
	struct walker *walker, uint64_t address, uint32_t bytes, uint64_t value, struct term *term)
{
	struct shadow *shadow;

	while ((shadow = walk_memory_overlapping(walker, address, bytes)))
		shadow->term = NULL;
	if (!term && walker->when)
		term = term_constant(&walker->walk->terms, 8 * bytes, value);
	if (!term)
		return;
	shadow = slots_add(&walker->shadows, sizeof *shadow, address);
	*shadow = (struct shadow){
		.address = address, .bytes = bytes, .term = term, .when = walker->when};
	for (uint64_t word = address >> 3; word <= (address + bytes - 1) >> 3; word++)
		bitset_add(walker->shadow_lines, (uint32_t)(word & (WALK_LINES - 1)));
}

static struct term *walk_memory_read_shadow(struct walker *walker, const struct code *code,
	uint64_t address, uint32_t bytes, uint64_t value)
{
	struct shadow *shadow = walk_memory_overlapping(walker, address, bytes);

	if (!shadow)
		return NULL;
	(void)walk_pin(
		walker, EVENT_VALUE, shadow->when, code); /* NULL if always, or pinned already */
	if (shadow->address <= address && address + bytes <= shadow->address + shadow->bytes) {
		struct term *part = term_bytes(&walker->walk->terms, shadow->term,
			(uint32_t)(address - shadow->address), bytes);

		if (compute_mask(part->value ^ value, part->width) == 0)
			return term_is_fixed(part) || part->op == TERM_CONSTANT ? NULL : part;
	}
	/* The shadows do not cover the read, or are obsolete: this run's value is kept. */
	for (; shadow; shadow = walk_memory_overlapping(walker, address, bytes)) {
		walk_pin(walker, EVENT_VALUE, shadow->term, code);
		walk_pin(walker, EVENT_VALUE, shadow->when, code);
		shadow->term = NULL;
	}
	return NULL;
}

static uint64_t walk_memory_key_of(const struct code *code, uint64_t address)
{
	return code->location == LOCATION_LOCAL ? address | WALK_LOCAL_KEY : address;
}

static bool walk_memory_is_event(
	struct walker *walker, const struct code *code, uint64_t address, uint32_t bytes)
{
	return code->location == LOCATION_SITE && walker->is_live &&
	       walk_is_shared(walker->walk, address, bytes);
}

/* Returns the term, or NULL in an excluded function, whose reads give constants. */
static struct term *walk_memory_unless_excluded(
	struct walker *walker, const struct code *code, struct term *term)
{
	/* forget_old() does the same after the write of an update. */
	if (!term || code->op == CODE_UPDATE || code->op == CODE_EXCHANGE ||
		!walker->frames[walker->frame_count - 1].function->is_excluded)
		return term;
	(void)walk_pin(walker, EVENT_VALUE, term, code); /* NULL if pinned already */
	return NULL;
}

struct term *walk_read_term(struct walker *walker, const struct code *code, uint64_t address,
	uint32_t bytes, uint64_t value)
{
	struct walk_event *event;
	struct term *term;

	if (!walk_memory_is_event(walker, code, address, bytes))
		return walk_memory_unless_excluded(walker, code,
			walk_memory_read_shadow(
				walker, code, walk_memory_key_of(code, address), bytes, value));
	if (walker->is_before) {
		walk_note_steps(walker);
		return NULL;
	}
	term = term_variable(&walker->walk->terms, 8 * bytes, value);
	event = walk_add_event(walker, EVENT_READ);
	event->bytes = bytes & 15;
	event->site = code->site;
	event->address = address;
	event->value = value;
	event->term = term_index(&walker->walk->terms, term);
	event->access.at = term_index(&walker->walk->terms, walker->where);
	event_set_instruction(event, code->value);
	event->step = (uint32_t)(walker->steps - 1);
	return walk_memory_unless_excluded(walker, code, term);
}

void walk_write_term(struct walker *walker, const struct code *code, uint64_t address,
	uint32_t bytes, uint64_t value, struct term *term)
{
	struct walk_event *event;

	if (term && term_is_fixed(term))
		term = NULL;
	if (term)
		term = term_resized(&walker->walk->terms, term, 8 * bytes);
	if (!walk_memory_is_event(walker, code, address, bytes)) {
		walk_memory_write_shadow(
			walker, walk_memory_key_of(code, address), bytes, value, term);
		return;
	}
	if (walker->is_before) {
		walk_note_steps(walker);
		walk_note_before(walker, address, bytes, value);
		return;
	}
	event = walk_add_event(walker, EVENT_WRITE);
	event->bytes = bytes & 15;
	event->site = code->site;
	event->address = address;
	event->value = value;
	event->term = term_index(&walker->walk->terms, term);
	event->access.at = term_index(&walker->walk->terms, walker->where);
	event->access.when = term_index(&walker->walk->terms, walker->when);
	event_set_instruction(event, code->value);
	event->step = (uint32_t)(walker->steps - 1);
}

/* Describes races that ended no run: their code places, and the variable where it is static. */
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "plan/races.h"
#include "detectors/detector.h"
#include "symbols/symbols.h"

#define TOLD_MOST 3

static void races_seen_add_access(
	struct strbuf *out, struct symbols *symbols, uint8_t op, uint64_t site)
{
	const bool is_read = op == OP_LOAD || op == OP_ATOMIC_LOAD;

	strbuf_addf(out, "%s in ", is_read ? "read" : "written");
	symbols_describe_code(symbols, site, !symbols_is_point(symbols, site), out);
}

static void races_seen_add_race(
	struct strbuf *out, struct symbols *symbols, const struct race_seen *seen)
{
	strbuf_adds(out, "  ");
	if (!symbols_describe_static_data(symbols, seen->address, out))
		strbuf_adds(out, "memory");
	strbuf_adds(out, " is ");
	races_seen_add_access(out, symbols, seen->op, seen->pair.site);
	strbuf_adds(out, " and ");
	races_seen_add_access(out, symbols, seen->other_op, seen->pair.other);
	strbuf_adds(out, "\n");
}

uint32_t races_seen_list(struct contract *contract, const struct race_seen **seen)
{
	if (!(contract->plan.detectors >> DETECTOR_race & 1))
		return 0;
	return race_seen_list(
		detectors_state(contract_area(contract, contract->detectors_offset), DETECTOR_race),
		seen);
}

bool races_have(const struct race_seen *seen, uint32_t count, struct race_pair pair)
{
	for (uint32_t i = 0; i < count; i++)
		if ((seen[i].pair.site == pair.site && seen[i].pair.other == pair.other) ||
			(seen[i].pair.site == pair.other && seen[i].pair.other == pair.site))
			return true;
	return false;
}

void races_describe_seen(const struct contract *contract, struct symbols *known,
	const struct race_seen *seen, uint32_t count, char *text, size_t size)
{
	struct symbols *symbols = known;
	struct strbuf line;
	size_t used = 0;

	text[0] = '\0';
	if (!count ||
		(!known && symbols_from_process(&symbols, (pid_t)contract->guest_pid, NULL) < 0))
		return;
	for (uint32_t i = 0; i < count && i < TOLD_MOST; i++) {
		strbuf_init(&line);
		races_seen_add_race(&line, symbols, &seen[i]);
		if (used + line.length < size) {
			memcpy(text + used, line.text, line.length + 1);
			used += line.length;
		}
		strbuf_release(&line);
	}
	if (!known)
		symbols_free(symbols);
}

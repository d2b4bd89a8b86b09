/* Describes races that ended no run: their code locations, and the static variable or the field. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "plan/races.h"
#include "detectors/detector.h"
#include "symbols/symbols.h"

#define LINES_MOST 3

/* A call that writes may be free(), which the detector records as a write of the whole block. */
static void races_seen_add_access(
	struct strbuf *out, struct symbols *symbols, uint8_t op, uint64_t site)
{
	const bool is_read = op == OP_LOAD || op == OP_ATOMIC_LOAD;
	const bool is_call = !symbols_is_point(symbols, site);

	strbuf_adds(out, is_read   ? "read in "
			 : is_call ? "changed or freed by a call in "
				   : "written in ");
	symbols_describe_code(symbols, site, is_call, out);
}

static void races_seen_add_race(
	struct strbuf *out, struct symbols *symbols, const struct race_seen *seen)
{
	strbuf_adds(out, "  ");
	if (!symbols_describe_static_data(symbols, seen->address, out) &&
		!symbols_describe_field(symbols, seen->pair.site, out) &&
		!symbols_describe_field(symbols, seen->pair.other, out))
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

/* Optimised code may have several instructions for one line, and so several races of one text. */
static bool races_seen_have_line(const struct strbuf *lines, uint32_t count, const char *line)
{
	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(lines[i].text, line))
			return true;
	return false;
}

static void races_seen_print(
	const struct strbuf *lines, uint32_t count, const char *text_end, char *text)
{
	uint32_t shown = 0;

	while (shown < count && shown < LINES_MOST &&
		lines[shown].length + sizeof "  and 4294967295 more\n" <=
			(size_t)(text_end - text)) {
		memcpy(text, lines[shown].text, lines[shown].length + 1);
		text += lines[shown++].length;
	}
	if (shown && shown < count)
		(void)snprintf(
			text, (size_t)(text_end - text), "  and %" PRIu32 " more\n", count - shown);
}

uint32_t races_describe_seen(const struct contract *contract, struct symbols *known,
	const struct race_seen *seen, uint32_t count, char *text, size_t size)
{
	struct symbols *symbols = known;
	FREE_SCOPED struct strbuf *lines = NULL;
	uint32_t distinct = 0;

	text[0] = '\0';
	if (!count ||
		(!known && symbols_from_process(&symbols, (pid_t)contract->guest_pid, NULL) < 0))
		return count;
	lines = array_new(count, sizeof *lines);
	for (uint32_t i = 0; i < count; i++) {
		struct strbuf *line = &lines[distinct];

		strbuf_init(line);
		races_seen_add_race(line, symbols, &seen[i]);
		if (races_seen_have_line(lines, distinct, line->text))
			strbuf_release(line);
		else
			distinct++;
	}
	races_seen_print(lines, distinct, text + size, text);
	for (uint32_t i = 0; i < distinct; i++)
		strbuf_release(&lines[i]);
	if (!known)
		symbols_free(symbols);
	return distinct;
}

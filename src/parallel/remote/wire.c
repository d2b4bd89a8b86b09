#include "parallel/remote/wire.h"

#include <string.h>

#include "base/array.h"
#include "trace/trace_reader.h"

/* Limits on steps and nanoseconds of a unit, above those of any remote worker. */
#define WIRE_STEPS_MAX (UINT64_C(1) << 56)
#define WIRE_TIME_MAX_NS (UINT64_C(1) << 56)

static bool wire_is_flag(uint64_t value)
{
	return value <= 1;
}

static bool wire_copy(void *out, size_t size, const struct link_message *message)
{
	if (message->size != size)
		return false;
	memcpy(out, message->bytes, size);
	return true;
}

bool wire_read_started(struct wire_started *out, const struct link_message *message)
{
	struct wire_started started;

	if (!wire_copy(&started, sizeof started, message) || started.restart >= RESTART_COUNT ||
		!wire_is_flag(started.has_memory_sites) || !wire_is_flag(started.has_dispatch))
		return false;
	*out = started;
	return true;
}

bool wire_read_done(struct wire_done *out, const struct link_message *message)
{
	struct wire_done done;

	if (!wire_copy(&done, sizeof done, message) || done.runs > WIRE_RUNS_MAX ||
		done.failures > WIRE_RUNS_MAX || done.steps > WIRE_STEPS_MAX ||
		done.steps_most > WIRE_STEPS_MAX || done.took_ns > WIRE_TIME_MAX_NS ||
		done.threads_most > THREAD_CAPACITY)
		return false;
	for (int kind = 0; kind < OUTCOME_KIND_COUNT; kind++)
		if (done.outcomes[kind] > WIRE_RUNS_MAX)
			return false;
	*out = done;
	return true;
}

bool wire_read_unit(struct lease_table_unit *out, const struct link_message *message)
{
	struct lease_table_unit unit;

	if (!wire_copy(&unit, sizeof unit, message) || unit.first >= unit.end ||
		unit.end > WIRE_RUNS_MAX)
		return false;
	*out = unit;
	return true;
}

bool wire_read_end(struct wire_end *out, const struct link_message *message)
{
	struct wire_end end;

	if (!wire_copy(&end, sizeof end, message) || !wire_is_flag(end.keeps_folder) ||
		!wire_is_flag(end.all_are_here))
		return false;
	*out = end;
	return true;
}

static bool wire_is_confirmation(const struct confirmation *confirmation)
{
	return confirmation->failed_again <= confirmation->replays &&
	       confirmation->diverged <= confirmation->replays;
}

static int wire_read_trace(
	struct finding *finding, const char *bytes, size_t size, struct error *err)
{
	int status = trace_check(bytes, size, "trace", err);

	if (status < 0)
		return status;
	finding->trace = array_new(size, 1);
	memcpy(finding->trace, bytes, size);
	finding->trace_size = size;
	return 0;
}

int wire_read_finding(struct wire_finding *out, struct finding *finding,
	const struct link_message *message, struct error *err)
{
	struct wire_finding head;
	const char *json = message->bytes + sizeof head;
	int status;

	if (message->size >= sizeof head)
		memcpy(&head, message->bytes, sizeof head);
	if (message->size < sizeof head || !wire_is_confirmation(&head.confirmation) ||
		head.json_bytes > message->size - sizeof head ||
		head.trace_bytes != message->size - sizeof head - head.json_bytes)
		return error_set(err, ERROR_FORMAT,
			"its parts do not fit together; install the same raddle everywhere");
	status = finding_from_json(json, head.json_bytes, finding, err);
	if (status == 0 && head.trace_bytes) {
		status = wire_read_trace(finding, json + head.json_bytes, head.trace_bytes, err);
		if (status < 0)
			finding_release(finding);
	}
	if (status == 0)
		*out = head;
	return status;
}

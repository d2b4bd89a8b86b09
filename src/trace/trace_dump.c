#include "trace/trace_dump.h"

#include <inttypes.h>

static void trace_dump_add_address(const struct trace_words *words,
	bool (*describe)(void *, uint64_t, struct strbuf *), uint64_t address, struct strbuf *out)
{
	if (!describe || !describe(words->context, address, out))
		strbuf_addf(out, "0x%" PRIx64, address);
}

static void add_event(const struct trace_run *run, const struct trace_words *words,
	const struct trace_event *event, struct strbuf *out)
{
	static const struct trace_words none = {0};
	const struct op_description *op = &op_descriptions[event->kind];
	const struct trace_words *use = words ? words : &none;

	strbuf_addf(out, "%8" PRIu64 "  %s  %s", event->step, run->threads[event->thread].path,
		event->kind == OP_NONE ? call_verbs[event->call] : op->verb);
	if (event->address) {
		strbuf_addf(out, " %s ", object_class_text((enum object_class)op->object));
		trace_dump_add_address(use, use->describe_object, event->address, out);
	}
	if (event->site) {
		strbuf_adds(out, " at ");
		trace_dump_add_address(use, use->describe_code, event->site, out);
	}
	strbuf_addf(out, ", %u enabled\n", event->enabled);
}

/* Prints text from an untrusted file; control characters that could steer a terminal become "?". */
static int trace_dump_print(const char *text, FILE *out, struct error *err)
{
	for (; *text; text++) {
		const unsigned char byte = (unsigned char)*text;
		const bool is_shown = byte == '\n' || (byte >= ' ' && byte != 0x7f);

		if (fputc(is_shown ? byte : '?', out) == EOF)
			return error_set(
				err, ERROR_IO, "cannot print the trace; check where it goes to");
	}
	return 0;
}

static int dump_head(const struct trace_run *run, FILE *out, struct error *err)
{
	struct strbuf text;
	int status;

	strbuf_init(&text);
	strbuf_addf(&text, "trace %u\n", TRACE_VERSION);
	if (run->program && *run->program)
		strbuf_addf(&text, "program %s\n", run->program);
	for (uint32_t i = 0; i < run->thread_count; i++)
		strbuf_addf(&text, "thread %s%s%s\n", run->threads[i].path,
			*run->threads[i].label ? " " : "", run->threads[i].label);
	status = trace_dump_print(text.text, out, err);
	strbuf_release(&text);
	return status;
}

static int dump_end(const struct trace_run *run, FILE *out, struct error *err)
{
	const struct outcome *outcome = &run->outcome;
	struct strbuf text;
	int status;

	strbuf_init(&text);
	if (run->events_dropped)
		strbuf_addf(&text, "not recorded: %" PRIu64 " more steps\n", run->events_dropped);
	strbuf_addf(&text, "outcome %s %" PRId32 " after %" PRIu64 " steps\n",
		outcome_descriptions[outcome->kind].word, outcome->code, outcome->step);
	status = trace_dump_print(text.text, out, err);
	strbuf_release(&text);
	return status;
}

int trace_dump(
	struct trace_reader *reader, const struct trace_words *words, FILE *out, struct error *err)
{
	const struct trace_run *run = trace_reader_run(reader);
	const struct trace_event *events = NULL;
	uint32_t count = 1;
	struct strbuf text;
	int status = dump_head(run, out, err);

	strbuf_init(&text);
	while (!status && count) {
		status = trace_reader_next(reader, &events, &count, err);
		strbuf_clear(&text);
		for (uint32_t i = 0; i < count && !status; i++)
			add_event(run, words, &events[i], &text);
		if (!status)
			status = trace_dump_print(text.text, out, err);
	}
	strbuf_release(&text);
	return status ? status : dump_end(run, out, err);
}

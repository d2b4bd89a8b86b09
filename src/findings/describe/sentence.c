#include <stdarg.h>
#include <string.h>

#include "base/bug.h"
#include "base/strbuf.h"
#include "findings/describe/builder.h"

enum sentence_word {
	WORD_TEXT,
	WORD_OBJECT,
	WORD_THREAD,
	WORD_TITLED,
	WORD_FRAME,
	WORD_STACK,
	WORD_ACTOR,
	WORD_LOCATION,
	WORD_STEP,
	WORD_COUNT
};

/* What builder_add_sentence() needs while it adds one sentence. */
struct sentence {
	const struct builder *builder;
	struct strbuf *out;
	const struct trace_event *actor; /* event of the last {actor} */
	va_list values;
};

static enum sentence_word sentence_word_of(const char *text, size_t length)
{
	static const char *const words[WORD_COUNT] = {"text", "object", "thread", "titled", "frame",
		"stack", "actor", "location", "step"};

	for (unsigned i = 0; i < WORD_COUNT; i++)
		if (strlen(words[i]) == length && !memcmp(words[i], text, length))
			return (enum sentence_word)i;
	return WORD_COUNT;
}

static void sentence_add_object(const char *object, struct strbuf *out)
{
	if (object)
		strbuf_add(out, object, (size_t)finding_short_name(object));
	else
		strbuf_adds(out, "it");
}

static void sentence_add_step(const struct sentence *sentence)
{
	builder_mark_cause(sentence->builder,
		(uint64_t)(sentence->actor - sentence->builder->source->events), sentence->out);
	builder_add_event_location(sentence->builder, sentence->actor, sentence->out);
}

static void sentence_add_value(struct sentence *sentence, enum sentence_word word)
{
	const struct builder *builder = sentence->builder;
	struct strbuf *out = sentence->out;

	switch (word) {
	case WORD_TEXT:
		strbuf_adds(out, va_arg(sentence->values, const char *));
		break;
	case WORD_OBJECT:
		sentence_add_object(va_arg(sentence->values, const char *), out);
		break;
	case WORD_THREAD:
		strbuf_adds(
			out, builder_thread(builder, va_arg(sentence->values, struct thread_id)));
		break;
	case WORD_TITLED:
		finding_add_thread(builder->finding, va_arg(sentence->values, const char *), out);
		break;
	case WORD_FRAME:
		frame_location(va_arg(sentence->values, const struct finding_frame *), out);
		break;
	case WORD_STACK:
		frame_location(
			finding_user_frame(va_arg(sentence->values, const struct finding_stack *)),
			out);
		break;
	case WORD_ACTOR:
		sentence->actor = va_arg(sentence->values, const struct trace_event *);
		strbuf_adds(
			out, builder_thread(builder, (struct thread_id){sentence->actor->thread}));
		break;
	case WORD_LOCATION:
		builder_add_event_location(
			builder, va_arg(sentence->values, const struct trace_event *), out);
		break;
	case WORD_STEP:
		sentence_add_step(sentence);
		break;
	case WORD_COUNT:
		BUG_ON(true); /* the format has an unknown word */
	}
}

void builder_add_sentence(
	const struct builder *builder, struct strbuf *out, const char *format, ...)
{
	struct sentence sentence = {.builder = builder, .out = out};

	va_start(sentence.values, format);
	while (*format) {
		const size_t plain = strcspn(format, "{"), length = strcspn(format + plain, "}");

		strbuf_add(out, format, plain);
		format += plain;
		if (!*format)
			break;
		sentence_add_value(&sentence, sentence_word_of(format + 1, length - 1));
		format += length + 1;
	}
	va_end(sentence.values);
}

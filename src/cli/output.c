#include "cli/output.h"

#include <stdbool.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/strbuf.h"
#include "base/visible.h"
#include "base/files/write_all.h"

enum output_pass { PASS_TEXT, PASS_COLOURS, PASS_ALL };

/* The state of an output stream, guarded by the stream's lock. */
struct output {
	FILE *stream;
	int descriptor;
	enum output_pass pass;
	char pending[4]; /* incomplete character at the end of the written bytes */
	size_t pending_bytes;
};

/* The streams are file-scope, and so is this. Members change under the locks of the streams. */
static struct output outputs[] = {{.descriptor = STDOUT_FILENO}, {.descriptor = STDERR_FILENO}};

static struct output *output_of(FILE *stream)
{
	for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
		if (outputs[i].stream && outputs[i].stream == stream)
			return &outputs[i];
	return NULL;
}

/* Returns the length of a colour sequence ("\033[1;31m") at `at`; 0: there is none. */
static size_t output_colour_length(const char *at, size_t left)
{
	size_t length = 2;

	if (left < 3 || at[0] != '\033' || at[1] != '[')
		return 0;
	while (length < left && ((at[length] >= '0' && at[length] <= '9') || at[length] == ';'))
		length++;
	return length < left && at[length] == 'm' ? length + 1 : 0;
}

/* Appends the filtered bytes; an incomplete character at the end becomes pending. */
static void output_filter(struct output *output, const char *bytes, size_t size, struct strbuf *out)
{
	char character[VISIBLE_BYTES];

	while (size) {
		size_t used = output->pass == PASS_COLOURS ? output_colour_length(bytes, size) : 0;

		if (used) {
			strbuf_add(out, bytes, used);
		} else {
			used = visible_character(bytes, size, true, character);
			strbuf_adds(out, character);
		}
		if (!used) {
			memcpy(output->pending, bytes, size);
			output->pending_bytes = size;
			return;
		}
		bytes += used;
		size -= used;
	}
}

static ssize_t output_write(void *cookie, const char *bytes, size_t size)
{
	struct output *output = cookie;
	STRBUF_SCOPED whole = STRBUF_EMPTY, out = STRBUF_EMPTY;
	bool is_written;

	if (output->pass == PASS_ALL)
		return write_all(output->descriptor, bytes, size) ? (ssize_t)size : 0;
	strbuf_add(&whole, output->pending, output->pending_bytes);
	strbuf_add(&whole, bytes, size);
	output->pending_bytes = 0;
	output_filter(output, whole.text, whole.length, &out);
	is_written = write_all(output->descriptor, out.text, out.length);
	return is_written ? (ssize_t)size : 0;
}

static FILE *output_open(struct output *output, int buffering)
{
	output->stream = fopencookie(output, "w", (cookie_io_functions_t){.write = output_write});
	BUG_ON(!output->stream || setvbuf(output->stream, NULL, buffering, BUFSIZ));
	return output->stream;
}

void output_install(void)
{
	stdout = output_open(&outputs[0], isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
	stderr = output_open(&outputs[1], _IONBF);
}

int output_descriptor(FILE *stream)
{
	const struct output *output = output_of(stream);

	return output ? output->descriptor : fileno(stream);
}

static void output_write_as(FILE *stream, enum output_pass pass, const char *text, size_t length)
{
	struct output *output = output_of(stream);

	flockfile(stream);
	(void)fflush(stream); /* main checks the stream, here and below */
	if (output)
		output->pass = pass;
	(void)fwrite(text, 1, length, stream);
	(void)fflush(stream);
	if (output)
		output->pass = PASS_TEXT;
	funlockfile(stream);
}

void output_write_coloured(FILE *stream, const char *text, size_t length)
{
	output_write_as(stream, PASS_COLOURS, text, length);
}

void output_write_control(FILE *stream, const char *sequence)
{
	output_write_as(stream, PASS_ALL, sequence, strlen(sequence));
}

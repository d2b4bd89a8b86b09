/*
 * Strings that printf() and similar functions read for a %s, if the format is constant. A precision
 * in the format limits the range. Strings with a precision argument (*), and wide strings, get no
 * site. A format with positions (%1$s) is ignored.
 */
#include "compiler/pass/instrument.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct printing_call {
	const char *name;
	unsigned format; /* index of the format argument; the printed arguments follow */
};

static const struct printing_call printing_calls[] = {
	{"printf", 0},
	{"fprintf", 1},
	{"dprintf", 1},
	{"sprintf", 1},
	{"snprintf", 2},
	{"asprintf", 1},
	{"syslog", 1},
	{"__printf_chk", 1},
	{"__fprintf_chk", 2},
	{"__dprintf_chk", 2},
	{"__sprintf_chk", 3},
	{"__snprintf_chk", 4},
	{"__asprintf_chk", 2},
	{"__syslog_chk", 2},
};

struct conversion {
	char kind;	     /* 's', ...; 0: unsupported; the rest of the format is ignored */
	bool is_wide;	     /* has a length modifier, as in %ls */
	bool has_precision;  /* written in the format */
	unsigned long most;  /* value of that precision */
	unsigned stars;	     /* number of preceding arguments for width and precision */
	bool is_cut_by_star; /* the precision is one of these arguments */
};

static const char *printf_calls_read_number(const char *at, unsigned long *number, unsigned *stars)
{
	if (*at == '*') {
		(*stars)++;
		return at + 1;
	}
	*number = 0;
	while (isdigit((unsigned char)*at))
		*number = *number * 10 + (unsigned long)(*at++ - '0');
	return at;
}

/* Reads a conversion; `at` points after the '%'. */
static const char *printf_calls_read_conversion(const char *at, struct conversion *out)
{
	unsigned long width;

	*out = (struct conversion){0};
	at += strspn(at, "-+ #0'I");
	at = printf_calls_read_number(at, &width, &out->stars);
	if (*at == '$')
		return at;
	if (*at == '.') {
		const unsigned before = out->stars;

		at = printf_calls_read_number(at + 1, &out->most, &out->stars);
		out->is_cut_by_star = out->stars > before;
		out->has_precision = !out->is_cut_by_star;
	}
	while (*at && strchr("hlqjzLt", *at))
		out->is_wide |= *at++ == 'l';
	out->kind = *at;
	return *at ? at + 1 : at;
}

static void printf_calls_add_string(struct instrument *instrument, struct site site,
	LLVMValueRef string, const struct conversion *conversion)
{
	if (LLVMGetTypeKind(LLVMTypeOf(string)) != LLVMPointerTypeKind ||
		LLVMIsAConstantPointerNull(string) || filter_skips(string, false))
		return;
	site.kind = SITE_STRING_READ;
	site.pointer = string;
	site.length = conversion->has_precision ? LLVMConstInt(instrument->i64, conversion->most, 0)
						: LLVMConstAllOnes(instrument->i64);
	add_site(instrument, &site);
}

static void printf_calls_read_format(struct instrument *instrument, const struct site *site,
	const char *format, unsigned argument)
{
	const unsigned count = LLVMGetNumArgOperands(site->instruction);
	struct conversion conversion;

	for (const char *at = strchr(format, '%'); at; at = strchr(at, '%')) {
		at = printf_calls_read_conversion(at + 1, &conversion);
		if (!conversion.kind)
			return;
		if (conversion.kind == '%' || conversion.kind == 'm')
			continue;
		argument += conversion.stars;
		if (argument >= count)
			return; /* fewer arguments than the format needs */
		if (conversion.kind == 's' && !conversion.is_wide && !conversion.is_cut_by_star)
			printf_calls_add_string(instrument, *site,
				LLVMGetArgOperand(site->instruction, argument), &conversion);
		argument++;
	}
}

/* Returns the text of a constant string; NULL if not constant. */
static const char *printf_calls_constant_text(LLVMValueRef value)
{
	LLVMValueRef content;
	const char *text;
	size_t bytes;

	if (!LLVMIsAGlobalVariable(value) || !LLVMIsGlobalConstant(value))
		return NULL;
	content = LLVMGetInitializer(value);
	if (!content || !LLVMIsConstantString(content))
		return NULL;
	text = LLVMGetAsString(content, &bytes);
	return bytes && !text[bytes - 1] ? text : NULL;
}

void collect_printf_call(struct instrument *instrument, const struct site *site)
{
	const char *name = called_name(site->instruction);
	const unsigned count = LLVMGetNumArgOperands(site->instruction);

	for (size_t i = 0; name && i < sizeof printing_calls / sizeof *printing_calls; i++) {
		const unsigned format = printing_calls[i].format;
		const char *text;

		if (strcmp(name, printing_calls[i].name) != 0 || format >= count)
			continue;
		text = printf_calls_constant_text(LLVMGetArgOperand(site->instruction, format));
		if (text)
			printf_calls_read_format(instrument, site, text, format + 1);
	}
}

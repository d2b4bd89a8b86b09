#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "bitcode/points_to_internal.h"

/* Libstdc++'s demangler; <cxxabi.h> is C++ only. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

void add_demangled(struct strbuf *out, const char *name)
{
	int status;
	char *plain =
		strncmp(name, "_Z", 2) == 0 ? __cxa_demangle(name, NULL, NULL, &status) : NULL;
	const char *text = plain ? plain : name;

	strbuf_add(out, text, strcspn(text, "(")); /* the name without parameters */
	free(plain);
}

/* Appends " at bank.c:41". Absolute paths are shortened to the file name. */
static void object_name_add_location(struct strbuf *out, LLVMValueRef instruction)
{
	unsigned length;
	const char *file = LLVMGetDebugLocFilename(instruction, &length);
	const char *slash;

	if (!file || !length)
		return;
	slash = memrchr(file, '/', length);
	if (*file == '/' && slash) {
		length -= (unsigned)(slash + 1 - file);
		file = slash + 1;
	}
	strbuf_addf(out, " at %.*s:%u", (int)length, file, LLVMGetDebugLocLine(instruction));
}

static void object_name_add_function_of(struct strbuf *out, LLVMValueRef instruction)
{
	size_t length;

	strbuf_adds(out, " of ");
	add_demangled(out,
		LLVMGetValueName2(
			LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction)), &length));
}

static void object_name_add_local(struct strbuf *out, LLVMValueRef value)
{
	size_t length;
	const char *name = LLVMGetValueName2(value, &length);

	if (!LLVMIsAAllocaInst(value)) {
		strbuf_adds(out, "arguments");
	} else if (length) {
		/* The compiler adds suffixes such as in "x.addr" and "x.i". */
		const char *dot = strchr(name, '.');

		strbuf_addf(out, "local '%.*s'",
			dot && dot > name ? (int)(dot - name) : (int)length, name);
	} else {
		strbuf_adds(out, "a local");
	}
	object_name_add_function_of(out, value);
}

static void object_name_add_allocation(struct strbuf *out, LLVMValueRef call)
{
	LLVMValueRef called = LLVMGetCalledValue(call);
	size_t length = 0;
	const char *name = LLVMIsAFunction(called) ? LLVMGetValueName2(called, &length) : NULL;

	if (!length)
		strbuf_adds(out, "memory");
	else if (strncmp(name, "_Znw", 4) == 0 || strncmp(name, "_Zna", 4) == 0)
		strbuf_adds(out, name[3] == 'w' ? "new" : "new[]");
	else
		add_demangled(out, name);
	object_name_add_location(out, call);
}

/* Drops a number as in "counts.1": part of a split struct, or a second variable of that name. */
static void object_name_drop_number(struct strbuf *out)
{
	size_t end = out->length;

	while (end && out->text[end - 1] >= '0' && out->text[end - 1] <= '9')
		end--;
	if (end > 1 && end < out->length && out->text[end - 1] == '.') {
		out->length = end - 1;
		out->text[out->length] = '\0';
	}
}

char *object_name(const struct analysis *analysis, uint32_t number)
{
	const struct flow_object *object = &analysis->flow.objects[number];
	struct strbuf out = STRBUF_EMPTY;
	size_t length;

	switch (object->kind) {
	case FLOW_GLOBAL:
	case FLOW_FUNCTION:
		add_demangled(&out, LLVMGetValueName2(object->value, &length));
		object_name_drop_number(&out);
		break;
	case FLOW_STACK:
		object_name_add_local(&out, object->value);
		break;
	case FLOW_HEAP:
		object_name_add_allocation(&out, object->value);
		break;
	case FLOW_FOREIGN:
		strbuf_adds(&out, "memory of code without bitcode");
		break;
	}
	return strbuf_detach(&out);
}

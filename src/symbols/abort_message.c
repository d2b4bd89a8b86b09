/*
 * What an aborted program said: glibc's private __abort_msg (since 2010), a pointer to a length and
 * the characters, or GLib's __glib_assert_msg, a pointer to a string.
 */
#include <string.h>

#include "symbols/symbols_internal.h"

#define MESSAGE_MAX 512
#define PAGE_BYTES 4096

struct abort_message_variable {
	const char *library; /* the start of its file's name */
	const char *name;
	uint64_t address; /* 0: not found */
};

/* dwfl_getmodules() callback: finds the variable in its library. */
static int abort_message_find_variable(
	Dwfl_Module *module, void **user_data, const char *name, Dwarf_Addr start, void *argument)
{
	struct abort_message_variable *variable = argument;
	const size_t length = strlen(variable->name);
	int count;

	(void)user_data;
	(void)name;
	(void)start;
	if (strncmp(symbols_module_name(module), variable->library, strlen(variable->library)))
		return DWARF_CB_OK;
	count = dwfl_module_getsymtab(module);
	for (int i = 0; i < count && !variable->address; i++) {
		GElf_Sym symbol;
		GElf_Addr value;
		const char *found =
			dwfl_module_getsym_info(module, i, &symbol, &value, NULL, NULL, NULL);

		/* the name may carry its version, "__abort_msg@@GLIBC_PRIVATE" */
		if (found && symbol.st_value && !strncmp(found, variable->name, length) &&
			(!found[length] || found[length] == '@'))
			variable->address = value;
	}
	return DWARF_CB_ABORT;
}

/* Reads the pointer in the variable of a library. Returns 0 if there is none. */
static uint64_t abort_message_read_pointer(
	struct symbols *symbols, pid_t pid, const char *library, const char *name)
{
	struct abort_message_variable variable = {library, name, 0};
	uint64_t pointer;

	(void)dwfl_getmodules(
		symbols->dwfl, abort_message_find_variable, &variable, 0); /* shows in variable */
	if (!variable.address ||
		!unwind_read_memory(pid, variable.address, &pointer, sizeof pointer))
		return 0;
	return pointer;
}

/* Reads glibc's message into text[MESSAGE_MAX + 1]. */
static bool abort_message_read_glibc(struct symbols *symbols, pid_t pid, char *text)
{
	uint64_t message = abort_message_read_pointer(symbols, pid, "libc.so", "__abort_msg");
	unsigned mapped;

	if (!message) /* before glibc 2.34 */
		message = abort_message_read_pointer(symbols, pid, "libc-", "__abort_msg");
	if (!message || !unwind_read_memory(pid, message, &mapped, sizeof mapped) ||
		mapped <= sizeof mapped)
		return false;
	mapped -= sizeof mapped;
	return unwind_read_memory(
		pid, message + sizeof mapped, text, mapped < MESSAGE_MAX ? mapped : MESSAGE_MAX);
}

/* Reads GLib's message, whose length is not known, up to the end of its page. */
static bool abort_message_read_glib(struct symbols *symbols, pid_t pid, char *text)
{
	const uint64_t message =
		abort_message_read_pointer(symbols, pid, "libglib-2.0", "__glib_assert_msg");
	const uint64_t in_page = PAGE_BYTES - message % PAGE_BYTES;

	return message && unwind_read_memory(pid, message, text,
				  in_page < MESSAGE_MAX ? in_page : MESSAGE_MAX);
}

bool symbols_abort_message(struct symbols *symbols, pid_t pid, struct strbuf *out)
{
	char text[MESSAGE_MAX + 1] = {0};

	if (!abort_message_read_glibc(symbols, pid, text) &&
		!abort_message_read_glib(symbols, pid, text))
		return false;
	text[strcspn(text, "\n")] = '\0';
	if (!*text)
		return false;
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = '?';
	strbuf_adds(out, text);
	return true;
}

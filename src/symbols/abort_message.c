/* glibc's private __abort_msg (since 2010): a pointer to a length and the characters. */
#include <string.h>

#include "symbols/symbols_internal.h"

#define MESSAGE_MAX 512

/* dwfl_getmodules() callback: finds the variable in the C library. */
static int abort_message_find_variable(
	Dwfl_Module *module, void **user_data, const char *name, Dwarf_Addr start, void *argument)
{
	uint64_t *address = argument;
	int count;

	(void)user_data;
	(void)name;
	(void)start;
	if (strncmp(symbols_module_name(module), "libc.so", 7) &&
		strncmp(symbols_module_name(module), "libc-", 5))
		return DWARF_CB_OK;
	count = dwfl_module_getsymtab(module);
	for (int i = 0; i < count && !*address; i++) {
		GElf_Sym symbol;
		GElf_Addr value;
		const char *found =
			dwfl_module_getsym_info(module, i, &symbol, &value, NULL, NULL, NULL);

		/* the name may carry its version, "__abort_msg@@GLIBC_PRIVATE" */
		if (found && symbol.st_value && !strncmp(found, "__abort_msg", 11) &&
			(!found[11] || found[11] == '@'))
			*address = value;
	}
	return DWARF_CB_ABORT;
}

bool symbols_abort_message(struct symbols *symbols, pid_t pid, struct strbuf *out)
{
	uint64_t variable = 0, message;
	unsigned mapped;
	char text[MESSAGE_MAX + 1] = {0};

	(void)dwfl_getmodules(
		symbols->dwfl, abort_message_find_variable, &variable, 0); /* shows in variable */
	if (!variable || !unwind_read_memory(pid, variable, &message, sizeof message) || !message ||
		!unwind_read_memory(pid, message, &mapped, sizeof mapped) ||
		mapped <= sizeof mapped)
		return false;
	mapped -= sizeof mapped;
	if (!unwind_read_memory(pid, message + sizeof mapped, text,
		    mapped < MESSAGE_MAX ? mapped : MESSAGE_MAX))
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

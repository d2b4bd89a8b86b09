#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "base/visible.h"
#include "symbols/symbols.h"

/* Longer names lose their template arguments. */
#define NAME_MOST 80

/* libstdc++'s demangler; <cxxabi.h> requires C++. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

/* Finds the start of the last list of parameters: "a::f(int) const" -> at "(int) const"; returns
 * NULL if there is none. */
static char *readable_parameters_of(char *name)
{
	char *close = strrchr(name, ')');
	unsigned depth = 0;

	/* "f(int)::count" is a variable in a function, "box<void ()>" a type. */
	if (close && (strstr(close, "::") || strchr(close, '>')))
		return NULL;
	for (char *at = close; at && at >= name; at--) {
		depth += *at == ')';
		depth -= *at == '(';
		if (!depth)
			return at > name ? at : NULL;
	}
	return NULL;
}

/* Removes ABI tags: "push[abi:cxx11]" becomes "push". */
static void readable_drop_tags(char *name)
{
	char *tag;

	while ((tag = strstr(name, "[abi:"))) {
		const char *end = strchr(tag, ']');

		if (!end)
			return;
		memmove(tag, end + 1, strlen(end + 1) + 1);
	}
}

/* Returns whether the name denotes a lambda: gcc's "{lambda(int)#1}", clang's "$_0" and
 * "'lambda'(int)". */
bool symbols_is_lambda(const char *name, size_t length)
{
	const char *const end = name + length;

	if (length && end[-1] == '}')
		return memmem(name, length, "{lambda(", 8);
	for (const char *at = end; at > name + 1 && (isdigit((unsigned char)at[-1]) || at < end);
		at--)
		if (at[-1] == '_' && at[-2] == '$')
			return true;
	return memmem(name, length, "'lambda", 7) && !memmem(name, length, "::operator()", 12);
}

/* Returns where the qualified name that contains `at` begins: the name itself, or a template argument. */
static char *readable_scope_of(char *name, char *at)
{
	unsigned depth = 0;

	for (; at > name; at--) {
		depth += at[-1] == ')' || at[-1] == '>';
		if (!depth && strchr("<(, ", at[-1]))
			break;
		depth -= depth && (at[-1] == '(' || at[-1] == '<');
	}
	return at;
}

/* Replaces lambdas inside of a name: "submit<main::{lambda()#1}>" becomes "submit<lambda>". */
static void readable_shorten_lambdas(char *name)
{
	char *lambda;

	while ((lambda = strstr(name, "{lambda("))) {
		const char *end = strchr(lambda, '}');
		char *start;

		if (!end)
			return;
		start = readable_scope_of(name, lambda);
		memmove(start + 6, end + 1, strlen(end + 1) + 1);
		memcpy(start, "lambda", 6);
	}
}

/* Replaces the call of a lambda in front of its own names: "main::$_0::operator()() const::count", as clang encodes it,
 * becomes "lambda::count". */
static void readable_shorten_inner_lambdas(char *name)
{
	static const char call[] = "::operator()(", qualifier[] = " const";
	char *at = name, *end, *start;

	while ((at = strstr(at, call))) {
		end = strchr(at + sizeof call - 1, ')');
		if (!end)
			return;
		end++;
		end += strncmp(end, qualifier, sizeof qualifier - 1) ? 0 : sizeof qualifier - 1;
		start = readable_scope_of(name, at);
		if (strncmp(end, "::", 2) != 0 || !symbols_is_lambda(start, (size_t)(at - start))) {
			at = end;
			continue;
		}
		memmove(start + 6, end, strlen(end) + 1);
		memcpy(start, "lambda", 6);
		at = start;
	}
}

/* Returns the length of the operator's name in "operator<<" and similar names; 0: no operator. */
static size_t readable_operator_length(const char *at)
{
	return strncmp(at, "operator", 8) == 0 ? 8 + strspn(at + 8, "<>=-") : 0;
}

/* Returns the function's name behind the return type, which demangled templates begin with:
 * "void std::swap<int>" -> "std::swap<int>". */
static const char *readable_behind_return_type(const char *name)
{
	const char *start = name;
	unsigned depth = 0;

	for (const char *at = name; *at;) {
		const size_t length = depth ? 0 : readable_operator_length(at);

		if (length && (at == name || at[-1] == ':' || at[-1] == ' '))
			return start;
		depth += strchr("<({[", *at) != NULL;
		depth -= strchr(">)}]", *at) && depth;
		if (*at == ' ' && !depth && at[1] != '<')
			start = at + 1;
		at++;
	}
	return start;
}

/* Shortens "std::map<int, int>::find" to "std::map<...>::find"; the caller frees it. */
static char *readable_without_arguments(const char *name)
{
	char *text = array_new(4 * strlen(name) + 1, 1), *to = text;
	unsigned depth = 0;

	while (*name) {
		size_t length = depth ? 0 : readable_operator_length(name);

		if (!length) {
			depth -= *name == '>' && depth;
			length = !depth;
			depth += *name == '<';
		}
		to = mempcpy(to, name, length);
		if (*name == '<' && depth == 1)
			to = stpcpy(to, "...");
		name += length ? length : 1;
	}
	return text;
}

char *symbols_short_name(const char *name)
{
	return strlen(name) > NAME_MOST ? readable_without_arguments(name) : string_copy(name);
}

static bool readable_is_lambda_itself(const char *name)
{
	const char *call = strstr(name, "::operator()");

	return call && !call[12] && symbols_is_lambda(name, (size_t)(call - name));
}

/* Reads the leading components of an encoded name that the demangler does not know, such as the
 * constraints of newer compilers: "std::stop_callback<...>". Returns NULL if there is none. */
static char *readable_components(const char *raw)
{
	const char *at = raw + 2 + strspn(raw + 2, "NKVL");
	const char *space = strncmp(at, "St", 2) == 0 ? "std::" : "";
	STRBUF_SCOPED name = STRBUF_EMPTY;
	char *end;

	at += *space ? 2 : 0;
	for (size_t length; (length = strtoul(at, &end, 10)) && length <= strlen(end);
		at = end + length)
		strbuf_addf(&name, "%s%.*s", name.length ? "::" : space, (int)length, end);
	if (!name.length)
		return NULL;
	if (*at == 'I')
		strbuf_adds(&name, "<...>");
	return strbuf_detach(&name);
}

/* Returns NULL for a name of C. `has_parameters`: of a function. */
static char *readable_decoded(const char *raw, bool *has_parameters)
{
	int status = 0;
	char *name, *whole;

	*has_parameters = false;
	/* The demangler would take a C name such as "m" for an encoded type. */
	if (strncmp(raw, "_Z", 2) != 0)
		return NULL;
	name = __cxa_demangle(raw, NULL, NULL, &status);
	/* The optimiser has divided a variable: "_ZL8instance.body". */
	if (!name) {
		whole = string_copy(raw);
		whole[strcspn(whole, ".")] = '\0';
		name = __cxa_demangle(whole, NULL, NULL, &status);
		free(whole);
	}
	*has_parameters = name != NULL;
	return name ? name : readable_components(raw);
}

char *symbols_readable_name(const char *raw)
{
	bool has_parameters;
	char *name = readable_decoded(raw, &has_parameters);
	char *stop, *visible;

	if (name && !has_parameters) {
		stop = NULL;
	} else if (name) {
		stop = readable_parameters_of(name);
	} else {
		/* Removes glibc's prefix of internal aliases of public functions. */
		name = string_copy(strncmp(raw, "__GI_", 5) ? raw : raw + 5);
		stop = *name ? strpbrk(name + 1, ".@") : NULL;
	}
	if (stop)
		*stop = '\0';
	if (strncmp(raw, "_Z", 2) == 0) {
		readable_shorten_inner_lambdas(name);
		readable_drop_tags(name);
		if (stop) {
			const char *start = readable_behind_return_type(name);

			memmove(name, start, strlen(start) + 1);
		}
		if (!readable_is_lambda_itself(name))
			readable_shorten_lambdas(name);
	}
	if (strncmp(raw, "_Z", 2) == 0 && strlen(name) > NAME_MOST) {
		char *whole = name;

		name = symbols_short_name(whole);
		free(whole);
	}
	visible = visible_text(name, false);
	free(name);
	return visible;
}

char *symbols_readable_type(const char *raw)
{
	static const char prefix[] = "typeinfo name for ";
	char *name = symbols_readable_name(raw);

	if (strncmp(name, prefix, sizeof prefix - 1) == 0)
		memmove(name, name + sizeof prefix - 1, strlen(name + sizeof prefix - 1) + 1);
	return name;
}

void symbols_simplify_path(char *path)
{
	char *to = path;
	const char *at = path;

	while (*at) {
		size_t length;

		while (*at == '/')
			at++;
		length = strcspn(at, "/");
		if (length == 2 && at[0] == '.' && at[1] == '.') {
			while (to > path && *--to != '/')
				;
		} else if (length && !(length == 1 && *at == '.')) {
			*to++ = '/';
			memmove(to, at, length);
			to += length;
		}
		at += length;
	}
	*to = '\0';
}

#include "platform/platform.h"
#include "relocate/relocate.h"

#define AUDIT "LD_AUDIT="
#define AUDIT_BYTES (sizeof AUDIT - 1)
#define RANDOM_BYTES 16

static uint64_t relocate_stack_count(const uint64_t *vector)
{
	uint64_t count = 0;

	while (vector[count])
		count++;
	return count;
}

static uint64_t relocate_stack_string_bytes(const char *string)
{
	uint64_t bytes = 1;

	while (string[bytes - 1])
		bytes++;
	return bytes;
}

bool stack_read(struct initial_stack *stack, uint64_t *start)
{
	*stack = (struct initial_stack){.start = start,
		.argument_count = *start,
		.argument = start + 1,
		.auxiliary_count = 1};
	stack->environment = stack->argument + stack->argument_count + 1;
	stack->environment_count = relocate_stack_count(stack->environment);
	stack->auxiliary = (Elf64_auxv_t *)(stack->environment + stack->environment_count + 1);
	for (const Elf64_auxv_t *entry = stack->auxiliary; entry->a_type != AT_NULL; entry++) {
		stack->auxiliary_count++;
		if (entry->a_type == AT_EXECFN)
			stack->program_name = entry->a_un.a_val;
	}
	stack->strings = stack->argument_count ? stack->argument[0] : stack->environment[0];
	if (stack->auxiliary_count > AUXILIARY_MAX || !stack->program_name || !stack->strings)
		return false;
	/* The kernel puts eight zero bytes behind the program's name. */
	stack->end =
		page_up(stack->program_name +
			relocate_stack_string_bytes((const char *)(uintptr_t)stack->program_name));
	return true;
}

static bool relocate_stack_is_audit(const char *entry)
{
	for (size_t i = 0; i < AUDIT_BYTES; i++)
		if (entry[i] != AUDIT[i])
			return false;
	return true;
}

/* Returns the libraries after this one, the first entry of LD_AUDIT: the user's own ones. NULL if
 * there are none. */
static char *relocate_stack_users_audit(char *entry)
{
	for (entry += AUDIT_BYTES; *entry && *entry != ':'; entry++)
		;
	return *entry ? entry + 1 : NULL;
}

static bool relocate_stack_is_dropped(const struct initial_stack *stack, uint64_t index)
{
	char *entry = (char *)(uintptr_t)stack->environment[index];

	return relocate_stack_is_audit(entry) && !relocate_stack_users_audit(entry);
}

size_t stack_image_bytes(const struct initial_stack *stack)
{
	/* The image contains further strings: random bytes and the platform's name. */
	return (size_t)(stack->end - (uint64_t)(uintptr_t)stack->start) + PAGE_BYTES;
}

/* A stack that grows downwards while the image is built. */
struct building {
	char *image_end;
	uint64_t address; /* address of the lowest byte so far */
};

static uint64_t relocate_stack_push(struct building *building, const void *from, uint64_t bytes)
{
	building->address -= bytes;
	relocate_copy(stack_in_image(building->image_end, (void *)(uintptr_t)building->address),
		from, (size_t)bytes);
	return building->address;
}

static void relocate_stack_push_word(struct building *building, uint64_t word)
{
	(void)relocate_stack_push(building, &word, sizeof word);
}

static void relocate_stack_push_environment(
	struct building *building, const struct initial_stack *stack, uint64_t shift)
{
	relocate_stack_push_word(building, 0);
	for (uint64_t i = stack->environment_count; i-- > 0;) {
		char *entry = (char *)(uintptr_t)stack->environment[i];

		if (relocate_stack_is_dropped(stack, i))
			continue;
		if (relocate_stack_is_audit(entry)) {
			entry = relocate_stack_users_audit(entry) - AUDIT_BYTES;
			relocate_copy(stack_in_image(building->image_end, entry + shift), AUDIT,
				AUDIT_BYTES);
		}
		relocate_stack_push_word(building, (uint64_t)(uintptr_t)entry + shift);
	}
}

static Elf64_auxv_t relocate_stack_move_entry(
	struct building *building, Elf64_auxv_t entry, uint64_t shift)
{
	const void *value = (const void *)(uintptr_t)entry.a_un.a_val;

	switch (entry.a_type) {
	case AT_RANDOM:
		entry.a_un.a_val = relocate_stack_push(building, value, RANDOM_BYTES);
		break;
	case AT_PLATFORM:
	case AT_BASE_PLATFORM:
		entry.a_un.a_val =
			relocate_stack_push(building, value, relocate_stack_string_bytes(value));
		break;
	case AT_EXECFN:
		entry.a_un.a_val += shift;
		break;
	case AT_SYSINFO_EHDR:
		entry.a_type =
			AT_IGNORE; /* the vDSO is unmapped: libc makes system calls instead */
		break;
	default:
		break;
	}
	return entry;
}

void stack_build(const struct initial_stack *stack, char *image_end, struct initial_stack *built)
{
	const uint64_t shift = FIXED_STACK_END - stack->end;
	uint64_t words = 1 + stack->argument_count + 1 + 1 + 2 * stack->auxiliary_count;
	struct building building = {image_end, FIXED_STACK_END};
	Elf64_auxv_t moved[AUXILIARY_MAX];

	*built = *stack;
	built->end = FIXED_STACK_END;
	built->strings = relocate_stack_push(
		&building, (const void *)(uintptr_t)stack->strings, stack->end - stack->strings);
	for (uint64_t i = 0; i < stack->environment_count; i++)
		words += !relocate_stack_is_dropped(stack, i);
	for (uint64_t i = 0; i < stack->auxiliary_count; i++)
		moved[i] = relocate_stack_move_entry(&building, stack->auxiliary[i], shift);
	building.address = (building.address - words * sizeof words) & ~UINT64_C(15);
	building.address += words * sizeof words;
	built->auxiliary = (Elf64_auxv_t *)(uintptr_t)relocate_stack_push(
		&building, moved, stack->auxiliary_count * sizeof *moved);
	relocate_stack_push_environment(&building, stack, shift);
	built->environment = (uint64_t *)(uintptr_t)building.address;
	relocate_stack_push_word(&building, 0);
	for (uint64_t i = stack->argument_count; i-- > 0;)
		relocate_stack_push_word(&building, stack->argument[i] + shift);
	built->argument = (uint64_t *)(uintptr_t)building.address;
	relocate_stack_push_word(&building, stack->argument_count);
	built->start = (uint64_t *)(uintptr_t)building.address;
}

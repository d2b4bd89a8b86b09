/* Plain accesses: the program calls __tsan_read4(address) before it performs the access itself. */
#include <string.h>

#include "compiler/tsan/hook.h"

#define ACCESS(name, kind, bytes)                                                                  \
	TSAN_EXPORT void name(void *address);                                                      \
	TSAN_EXPORT void name(void *address)                                                       \
	{                                                                                          \
		tsan_reached(address, bytes, kind, SITE_RELAXED, TSAN_SITE);                       \
	}                                                                                          \
	TSAN_EXPORT void name##_pc(void *address, void *site);                                     \
	TSAN_EXPORT void name##_pc(void *address, void *site)                                      \
	{                                                                                          \
		tsan_reached(address, bytes, kind, SITE_RELAXED, (uint64_t)(uintptr_t)site);       \
	}

/* Reports both accesses of x = x + 1, which clang passes in one call. */
#define UPDATE(name, bytes)                                                                        \
	TSAN_EXPORT void name(void *address);                                                      \
	TSAN_EXPORT void name(void *address)                                                       \
	{                                                                                          \
		tsan_reached(address, bytes, SITE_LOAD, SITE_RELAXED, TSAN_SITE);                  \
		tsan_reached(address, bytes, SITE_STORE, SITE_RELAXED, TSAN_SITE);                 \
	}

#define ACCESSES(bytes)                                                                            \
	ACCESS(__tsan_read##bytes, SITE_LOAD, bytes)                                               \
	ACCESS(__tsan_write##bytes, SITE_STORE, bytes)                                             \
	ACCESS(__tsan_volatile_read##bytes, SITE_LOAD, bytes)                                      \
	ACCESS(__tsan_volatile_write##bytes, SITE_STORE, bytes)                                    \
	ACCESS(__tsan_unaligned_read##bytes, SITE_LOAD, bytes)                                     \
	ACCESS(__tsan_unaligned_write##bytes, SITE_STORE, bytes)                                   \
	ACCESS(__tsan_unaligned_volatile_read##bytes, SITE_LOAD, bytes)                            \
	ACCESS(__tsan_unaligned_volatile_write##bytes, SITE_STORE, bytes)                          \
	UPDATE(__tsan_read_write##bytes, bytes)                                                    \
	UPDATE(__tsan_unaligned_read_write##bytes, bytes)

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

/* Calls by which a program itself reads and writes words at any address. */
#define UNALIGNED(bits)                                                                            \
	TSAN_EXPORT uint##bits##_t __sanitizer_unaligned_load##bits(const void *address);          \
	TSAN_EXPORT uint##bits##_t __sanitizer_unaligned_load##bits(const void *address)           \
	{                                                                                          \
		uint##bits##_t value;                                                              \
                                                                                                   \
		tsan_reached(address, sizeof value, SITE_LOAD, SITE_RELAXED, TSAN_SITE);           \
		memcpy(&value, address, sizeof value);                                             \
		return value;                                                                      \
	}                                                                                          \
	TSAN_EXPORT void __sanitizer_unaligned_store##bits(void *address, uint##bits##_t value);   \
	TSAN_EXPORT void __sanitizer_unaligned_store##bits(void *address, uint##bits##_t value)    \
	{                                                                                          \
		tsan_reached(address, sizeof value, SITE_STORE, SITE_RELAXED, TSAN_SITE);          \
		memcpy(address, &value, sizeof value);                                             \
	}

UNALIGNED(16)
UNALIGNED(32)
UNALIGNED(64)

#define RANGE(name, kind)                                                                          \
	TSAN_EXPORT void name(void *address, unsigned long bytes);                                 \
	TSAN_EXPORT void name(void *address, unsigned long bytes)                                  \
	{                                                                                          \
		if (bytes)                                                                         \
			tsan_reached(address, bytes, kind, SITE_RELAXED, TSAN_SITE);               \
	}                                                                                          \
	TSAN_EXPORT void name##_pc(void *address, unsigned long bytes, void *site);                \
	TSAN_EXPORT void name##_pc(void *address, unsigned long bytes, void *site)                 \
	{                                                                                          \
		if (bytes)                                                                         \
			tsan_reached(                                                              \
				address, bytes, kind, SITE_RELAXED, (uint64_t)(uintptr_t)site);    \
	}

RANGE(__tsan_read_range, SITE_RANGE_READ)
RANGE(__tsan_write_range, SITE_RANGE_WRITE)

TSAN_EXPORT void __tsan_vptr_update(void **location, void *table);
TSAN_EXPORT void __tsan_vptr_update(void **location, void *table)
{
	/* A constructor that writes the same pointer again does not race. */
	if (*location != table)
		tsan_reached(location, sizeof *location, SITE_STORE, SITE_RELAXED, TSAN_SITE);
}

TSAN_EXPORT void __tsan_vptr_read(void **location);
TSAN_EXPORT void __tsan_vptr_read(void **location)
{
	tsan_reached(location, sizeof *location, SITE_LOAD, SITE_RELAXED, TSAN_SITE);
}

TSAN_EXPORT void *__tsan_memcpy(void *to, const void *from, size_t bytes);
TSAN_EXPORT void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
	if (bytes) {
		tsan_reached(from, bytes, SITE_RANGE_READ, SITE_RELAXED, TSAN_SITE);
		tsan_reached(to, bytes, SITE_RANGE_WRITE, SITE_RELAXED, TSAN_SITE);
	}
	return memcpy(to, from, bytes);
}

TSAN_EXPORT void *__tsan_memmove(void *to, const void *from, size_t bytes);
TSAN_EXPORT void *__tsan_memmove(void *to, const void *from, size_t bytes)
{
	if (bytes) {
		tsan_reached(from, bytes, SITE_RANGE_READ, SITE_RELAXED, TSAN_SITE);
		tsan_reached(to, bytes, SITE_RANGE_WRITE, SITE_RELAXED, TSAN_SITE);
	}
	return memmove(to, from, bytes);
}

TSAN_EXPORT void *__tsan_memset(void *to, int byte, size_t bytes);
TSAN_EXPORT void *__tsan_memset(void *to, int byte, size_t bytes)
{
	if (bytes)
		tsan_reached(to, bytes, SITE_RANGE_WRITE, SITE_RELAXED, TSAN_SITE);
	return memset(to, byte, bytes);
}

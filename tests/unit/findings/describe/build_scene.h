/* A scene for unit tests of findings: threads, locations and events out of which one is built. */
#pragma once

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "findings/describe/build.h"
#include "trace/trace_reader.h"

/* The objects of the run. */
static long forks[4];
static long ready __attribute__((unused));

/* Memory that no symbol covers. */
#define ON_HEAP UINT64_C(0x7000000008)

/* A site is a return address; AT(name) makes one and keeps its line. */
static __attribute__((noinline)) uint64_t here(void)
{
	__asm__ volatile(""); /* otherwise the compiler would take the call for a constant */
	return (uintptr_t)__builtin_return_address(0);
}

struct site {
	uint64_t address;
	int line;
};

#define AT(location) ((location) = (struct site){here(), __LINE__})

static struct site take_first, take_second, wait_location, signal_location, abort_location;

static __attribute__((noinline)) void eat(void)
{
	AT(take_first);
	AT(take_second);
}

static __attribute__((noinline)) void notify(void)
{
	AT(wait_location);
	AT(signal_location);
}

static __attribute__((noinline)) void check(void)
{
	AT(abort_location);
}

struct scene {
	struct outcome outcome;
	struct thread_record threads[4];
	struct trace_event events[8192];
	struct schedule_segment segments[64];
	struct finding_source source;
	struct symbols *symbols;
	struct finding finding;
	struct error err;
};

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof *scene);

	if (!scene)
		return -1;
	eat();
	notify();
	check();
	*state = scene;
	for (uint16_t i = 1; i < 4; i++)
		scene->threads[i].ordinal = (uint16_t)(i - 1);
	scene->source = (struct finding_source){.outcome = &scene->outcome,
		.threads = scene->threads,
		.thread_count = 4,
		.events = scene->events,
		.segments = scene->segments,
		.program = "./philosophers"};
	return symbols_from_process(&scene->symbols, getpid(), &scene->err);
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	finding_release(&scene->finding);
	symbols_free(scene->symbols);
	free(scene);
	return 0;
}

static void add_event(
	struct scene *scene, uint16_t thread, enum op_kind kind, uint64_t address, uint64_t site)
{
	const uint64_t step = scene->source.event_count;

	scene->events[scene->source.event_count++] = (struct trace_event){
		.step = step, .site = site, .address = address, .thread = thread, .kind = kind};
}

__attribute__((unused)) static void add_wait(
	struct scene *scene, uint16_t waiter, uint16_t holder, uint64_t address)
{
	scene->outcome.waits[scene->outcome.wait_count++] = (struct wait_edge){.waiter = {waiter},
		.holder = {holder},
		.op = OP_MUTEX_LOCK,
		.is_on_cycle = 1,
		.object_address = address,
		.site = take_second.address,
		.holder_site = take_first.address};
}

static void build(struct scene *scene)
{
	if (finding_build(&scene->finding, &scene->source, scene->symbols, &scene->err))
		fail_msg("%s", scene->err.text);
}

__attribute__((unused)) static void assert_title(struct scene *scene, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void assert_title(struct scene *scene, const char *format, ...)
{
	char expected[1024];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(expected, sizeof expected, format, args); /* titles are shorter */
	va_end(args);
	build(scene);
	assert_string_equal(scene->finding.title, expected);
}

__attribute__((unused)) static uint64_t fork_address(unsigned number)
{
	return (uintptr_t)&forks[number];
}

#define WITH_SCENE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

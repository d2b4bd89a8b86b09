/* axioms MODEL PROGRAM FINALS: prints the outcomes of a litmus test that a memory model allows, one per line. PROGRAM,
 * FINALS and outcomes are those of orders.c. MODEL is sc, tso, c11 or rc11. The program enumerates all reads-from
 * relations and modification orders, and checks the axioms of the model. It shares no code with raddle.
 *
 * tso: Owens, Sarkar, Sewell, "A better x86 memory model: x86-TSO", TPHOLs 2009, as axioms. rc11: Lahav et al.,
 * "Repairing Sequential Consistency in C/C++11", PLDI 2017; an access that is not atomic counts as relaxed. c11: rc11,
 * and the order of sequentially consistent operations agrees with program order and reads-from. MODEL sc=tso or sc=c11
 * prints instead whether the program is robust: each execution that the model allows is sequentially consistent. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS 28
#define VARIABLES 3
#define READS 12
#define BRANCHES 8
#define OUTCOMES 4096

/* An atomic update is two events: the read, then the write. */
struct event {
	char kind;	/* W, R or F; -: a read that the thread has not reached */
	char order;	/* n, r, a, l, b or s */
	char update;	/* X, A or C: half of an atomic update; else 0 */
	bool is_absent; /* the write of a compare-exchange that fails */
	int thread;	/* -1: initial value */
	int variable;	/* -1: fence */
	int operand, value;
};

/* Relation: bit b of row a says that a is related to b. */
typedef uint32_t relation[EVENTS];

static struct event events[EVENTS];
static int event_count, thread_count;
static int reads[READS], read_count;
static int sources[EVENTS];		       /* of each read: the write that it reads */
static int ranks[EVENTS];		       /* of each write: its place in modification order */
static relation sb, rf, mo, rb, rmw, location; /* location: both access the same variable */
static const char *model, *finals;
static char outcomes[OUTCOMES][32];
static int outcome_count;
static bool is_robust = true;

/* A branch of the program (operation B): the read that it depends on, and whether the thread ends there. */
static struct {
	int read;
	bool ends;
} branches[BRANCHES];
static int branch_count;

static bool is_write(int e)
{
	return events[e].kind == 'W' && !events[e].is_absent;
}
static bool is_read(int e)
{
	return events[e].kind == 'R';
}
static bool is_fence(int e)
{
	return events[e].kind == 'F';
}
static bool is_sequential(int e)
{
	return events[e].order == 's' && !events[e].is_absent;
}
static bool releases(int e)
{
	return !is_read(e) && strchr("lbs", events[e].order) && !events[e].is_absent;
}
static bool acquires(int e)
{
	return events[e].kind != 'W' && strchr("abs", events[e].order);
}

/* ---- relations ---- */

static void compose(relation to, const relation a, const relation b)
{
	relation result = {0};

	for (int i = 0; i < event_count; i++)
		for (int j = 0; j < event_count; j++)
			if (a[i] >> j & 1)
				result[i] |= b[j];
	memcpy(to, result, sizeof result);
}
static void unite(relation to, const relation other)
{
	for (int i = 0; i < event_count; i++)
		to[i] |= other[i];
}
static void close_transitively(relation of)
{
	for (int k = 0; k < event_count; k++)
		for (int i = 0; i < event_count; i++)
			if (of[i] >> k & 1)
				of[i] |= of[k];
}
static void add_identity(relation of)
{
	for (int i = 0; i < event_count; i++)
		of[i] |= 1u << i;
}
static bool is_irreflexive(const relation of)
{
	for (int i = 0; i < event_count; i++)
		if (of[i] >> i & 1)
			return false;
	return true;
}
static bool is_acyclic(const relation of)
{
	relation closure;

	memcpy(closure, of, sizeof closure);
	close_transitively(closure);
	return is_irreflexive(closure);
}
/* Restricts a relation to pairs that satisfy both conditions. */
static void restrict_to(relation of, bool (*first)(int), bool (*second)(int))
{
	for (int i = 0; i < event_count; i++)
		for (int j = 0; j < event_count; j++)
			if (!first(i) || !second(j))
				of[i] &= ~(1u << j);
}
static void keep_location(relation of, bool is_same)
{
	for (int i = 0; i < event_count; i++)
		of[i] &= is_same ? location[i] : ~location[i];
}

/* ---- models ---- */

/* No write comes between the two events of an atomic update. */
static bool updates_are_atomic(void)
{
	relation between;

	compose(between, rb, mo);
	for (int i = 0; i < event_count; i++)
		if (between[i] & rmw[i])
			return false;
	return true;
}
static bool sc_allows(void)
{
	relation all = {0};

	unite(all, sb);
	unite(all, rf);
	unite(all, mo);
	unite(all, rb);
	return is_acyclic(all);
}
static bool drains(int e)
{
	return events[e].update || (events[e].order == 's' && !is_read(e));
}
static bool tso_allows(void)
{
	relation single = {0}, all = {0};

	unite(single, sb);
	keep_location(single, true);
	unite(single, rf);
	unite(single, mo);
	unite(single, rb);
	if (!is_acyclic(single))
		return false;
	for (int i = 0; i < event_count; i++)
		for (int j = 0; j < event_count; j++) {
			const bool is_same = events[i].thread == events[j].thread;
			const bool is_fenced = drains(i) || drains(j);

			if ((is_fence(i) && !drains(i)) || (is_fence(j) && !drains(j)))
				continue; /* no instruction */
			/* only a write and a later read of the same thread may change places */
			if ((sb[i] >> j & 1) && (is_fenced || !is_write(i) || !is_read(j)))
				all[i] |= 1u << j;
			if ((rf[i] >> j & 1) && !is_same)
				all[i] |= 1u << j;
		}
	unite(all, mo);
	unite(all, rb);
	return is_acyclic(all);
}

/* synchronises-with */
static void find_synchronisation(relation sw)
{
	relation sequence = {0}, updates, step = {0}, after = {0}, before = {0};

	unite(sequence, sb); /* release sequences */
	keep_location(sequence, true);
	add_identity(sequence);
	restrict_to(sequence, is_write, is_write);
	compose(updates, rf, rmw);
	close_transitively(updates);
	add_identity(updates);
	compose(sequence, sequence, updates);
	unite(before, sb);
	restrict_to(before, is_fence, is_write);
	add_identity(before);
	unite(after, sb);
	restrict_to(after, is_read, is_fence);
	add_identity(after);
	compose(step, before, sequence);
	compose(step, step, rf);
	compose(step, step, after);
	restrict_to(step, releases, acquires);
	memcpy(sw, step, sizeof step);
}

/* The events by which an SC event takes part in the order of these events: itself, and for a fence also all events
 * that happen before it (is_after: after it). */
static void find_ends(relation ends, const relation hb, bool is_after)
{
	for (int i = 0; i < event_count; i++)
		for (int j = 0; j < event_count; j++) {
			const int end = is_after ? i : j;
			const bool is_linked = i == j || (is_fence(end) && (hb[i] >> j & 1));

			if (is_sequential(end) && is_linked)
				ends[i] |= 1u << j;
		}
}
static void find_sequential_order(relation psc, const relation hb, const relation eco)
{
	relation scb = {0}, far = {0}, same = {0}, first = {0}, last = {0}, fences, step;

	unite(far, sb);
	keep_location(far, false);
	compose(step, far, hb);
	compose(step, step, far);
	unite(same, hb);
	keep_location(same, true);
	unite(scb, sb);
	unite(scb, step);
	unite(scb, same);
	unite(scb, mo);
	unite(scb, rb);
	find_ends(first, hb, true);
	find_ends(last, hb, false);
	compose(psc, first, scb);
	compose(psc, psc, last);
	compose(fences, hb, eco);
	compose(fences, fences, hb);
	unite(fences, hb);
	restrict_to(fences, is_fence, is_fence);
	restrict_to(fences, is_sequential, is_sequential);
	unite(psc, fences);
}
static bool c11_allows(bool is_strong)
{
	relation causes = {0}, hb = {0}, eco = {0}, step, psc;

	unite(causes, sb);
	unite(causes, rf);
	find_synchronisation(hb);
	unite(hb, sb);
	close_transitively(hb);
	unite(eco, rf);
	unite(eco, mo);
	unite(eco, rb);
	close_transitively(eco);
	compose(step, hb, eco);
	if (!is_acyclic(causes) || !is_irreflexive(hb) || !is_irreflexive(step))
		return false;
	find_sequential_order(psc, hb, eco);
	if (!is_acyclic(psc))
		return false;
	unite(causes, psc);
	return !is_strong || is_acyclic(causes);
}

static bool model_allows(void)
{
	if (strncmp(model, "sc=", 3) == 0) {
		model += 3;
		is_robust &= !model_allows() || sc_allows();
		model -= 3;
		return false;
	}
	if (!updates_are_atomic())
		return false;
	if (strcmp(model, "sc") == 0)
		return sc_allows();
	if (strcmp(model, "tso") == 0)
		return tso_allows();
	return c11_allows(strcmp(model, "c11") == 0);
}

/* ---- enumeration ---- */

static int last_write(int variable)
{
	int last = -1;

	for (int e = 0; e < event_count; e++)
		if (is_write(e) && events[e].variable == variable &&
			(last < 0 || ranks[e] > ranks[last]))
			last = e;
	return last;
}
static void note_outcome(void)
{
	char outcome[32] = "", *at = outcome;

	for (int e = 0; e < event_count; e++) /* ordered by threads */
		if (is_read(e) || events[e].kind == '-')
			*at++ = (char)(is_read(e) ? '0' + events[e].value : '-');
	for (const char *final = finals; *final; final++)
		*at++ = (char)('0' + events[last_write(*final - 'x')].value);
	*at = '\0';
	for (int i = 0; i < outcome_count; i++)
		if (strcmp(outcomes[i], outcome) == 0)
			return;
	if (outcome_count == OUTCOMES)
		abort();
	strcpy(outcomes[outcome_count++], outcome);
}

static void relate_orders(void)
{
	memset(rf, 0, sizeof rf);
	memset(mo, 0, sizeof mo);
	memset(rb, 0, sizeof rb);
	for (int a = 0; a < event_count; a++) {
		if (is_read(a))
			rf[sources[a]] |= 1u << a;
		for (int b = 0; b < event_count; b++)
			if (is_write(a) && is_write(b) && (location[a] >> b & 1) &&
				ranks[a] < ranks[b])
				mo[a] |= 1u << b;
	}
	for (int read = 0; read < event_count; read++)
		if (is_read(read))
			rb[read] |= mo[sources[read]];
}

/* Enumerates the modification orders of writes from `e` on. */
static void enumerate_modification(int e)
{
	int others = 0;

	while (e < event_count && !is_write(e))
		e++;
	if (e == event_count) {
		relate_orders();
		if (model_allows())
			note_outcome();
		return;
	}
	for (int other = 0; other < e; other++)
		others += is_write(other) && (location[e] >> other & 1);
	/* Insert it behind each earlier write of the variable; initial values come first. */
	for (int rank = others ? 1 : 0; rank <= others; rank++) {
		for (int other = 0; other < e; other++)
			if (is_write(other) && (location[e] >> other & 1) && ranks[other] >= rank)
				ranks[other]++;
		ranks[e] = rank;
		enumerate_modification(e + 1);
		for (int other = 0; other < e; other++)
			if (is_write(other) && (location[e] >> other & 1) && ranks[other] > rank)
				ranks[other]--;
	}
}

/* Sets the values in the order of program order and reads-from. Returns false if that is cyclic, or if a read reads
 * the write of a compare-exchange that fails. */
static bool find_values(void)
{
	bool is_known[EVENTS] = {false};

	for (int known = 0, before = -1; known < event_count;) {
		if (known == before)
			return false;
		before = known;
		for (int e = 0; e < event_count; e++) {
			struct event *event = &events[e];
			const int source = is_read(e) ? sources[e] : e;
			const bool is_first = e == 0 || events[e - 1].thread != event->thread ||
					      event->thread < 0;

			if (is_known[e] || (!is_first && !is_known[e - 1]) ||
				(is_read(e) && !is_known[source]))
				continue;
			if (is_read(e) && events[source].is_absent)
				return false;
			if (is_read(e))
				event->value = events[source].value;
			else if (event->update == 'A')
				event->value = events[e - 1].value + event->operand;
			else
				event->value = event->operand;
			event->is_absent = event->kind == 'W' && event->update == 'C' &&
					   events[e - 1].value != 0;
			is_known[e] = true;
			known++;
		}
	}
	for (int i = 0; i < branch_count; i++)
		if ((events[branches[i].read].value == 0) != branches[i].ends)
			return false;
	return true;
}

static void enumerate_sources(int read)
{
	if (read == read_count) {
		if (find_values())
			enumerate_modification(0);
		return;
	}
	for (int e = 0; e < event_count; e++)
		if (events[e].kind == 'W' && (location[e] >> reads[read] & 1)) {
			sources[reads[read]] = e;
			enumerate_sources(read + 1);
		}
}

/* ---- program ---- */

static void add_event(struct event event)
{
	const int e = event_count++;

	if (event_count > EVENTS || (event.kind == 'R' && read_count == READS))
		abort();
	events[e] = event;
	if (event.kind == 'R')
		reads[read_count++] = e;
	for (int other = 0; other < e; other++) {
		if (event.thread >= 0 &&
			(events[other].thread < 0 || events[other].thread == event.thread))
			sb[other] |= 1u << e;
		if (event.variable >= 0 && events[other].variable == event.variable) {
			location[other] |= 1u << e;
			location[e] |= 1u << other;
		}
	}
	if (event.update && event.kind == 'W')
		rmw[e - 1] |= 1u << e;
}

static void add_operation(const char *text, int thread)
{
	struct event event = {.kind = text[0], .order = text[1], .thread = thread, .variable = -1};

	if (event.kind != 'F')
		event.variable = text[2] - 'x';
	if (event.kind == 'W' || event.kind == 'X' || event.kind == 'A' || event.kind == 'C')
		event.operand = text[3] - '0';
	if (strchr("FWR", event.kind)) {
		add_event(event);
		return;
	}
	event.update = event.kind;
	event.kind = 'R';
	add_event(event);
	event.kind = 'W';
	add_event(event);
}

/* Reads the program. Bit n of `ends`: a thread ends at the program's branch n. */
static void read_program(const char *program, unsigned ends)
{
	bool has_ended = false;

	event_count = read_count = branch_count = thread_count = 0;
	memset(sb, 0, sizeof sb);
	memset(rmw, 0, sizeof rmw);
	memset(location, 0, sizeof location);
	for (int variable = 0; variable < VARIABLES; variable++)
		add_event((struct event){
			.kind = 'W', .order = 'n', .thread = -1, .variable = variable});
	for (const char *at = program; *at; at += strcspn(at, " |")) {
		for (; *at == '|' || *at == ' '; at++)
			if (*at == '|') {
				thread_count++;
				has_ended = false;
			}
		if (*at == 'B' && !has_ended) {
			if (branch_count == BRANCHES)
				abort();
			has_ended = ends >> branch_count & 1;
			branches[branch_count].read = reads[read_count - 1];
			branches[branch_count++].ends = has_ended;
		} else if (*at && !has_ended) {
			add_operation(at, thread_count);
		} else if (*at && !strchr("WFB", *at)) {
			add_event((struct event){
				.kind = '-', .order = 'n', .thread = thread_count, .variable = -1});
		}
	}
}

static int compare_outcomes(const void *a, const void *b)
{
	return strcmp(a, b);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	model = argv[1];
	finals = argv[3];
	for (unsigned ends = 0; ends < 1u << BRANCHES; ends++) {
		read_program(argv[2], ends);
		if (!(ends >> branch_count)) /* no bit is beyond the branches that threads reach */
			enumerate_sources(0);
	}
	qsort(outcomes, (size_t)outcome_count, sizeof *outcomes, compare_outcomes);
	if (strncmp(model, "sc=", 3) == 0)
		puts(is_robust ? "robust" : "not robust");
	for (int i = 0; i < outcome_count; i++)
		puts(outcomes[i]);
	return 0;
}

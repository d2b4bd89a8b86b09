/* A worker of the search queries its own solver about the events of one chunk after the other. */

#include "branches/solve/sensitivity_internal.h"

/* A chunk may use this fraction of the queries about a location, but at least QUERIES_LEAST. */
#define QUERIES_PARTS 10
#define QUERIES_LEAST 4

/* Relevancy-based case split halves the time of Z3's default on programs with many locks. */
#define CASE_SPLIT_RELEVANT 3

static void search_worker_set_parameters(struct solver *solver, uint64_t query_ns)
{
	const uint64_t limit_ms = query_ns < 1000000 ? 1 : query_ns / 1000000;
	Z3_params parameters = Z3_mk_params(solver->z3);

	Z3_params_inc_ref(solver->z3, parameters);
	Z3_params_set_uint(solver->z3, parameters, Z3_mk_string_symbol(solver->z3, "timeout"),
		limit_ms > UINT32_MAX ? UINT32_MAX : (unsigned)limit_ms);
	Z3_params_set_uint(solver->z3, parameters, Z3_mk_string_symbol(solver->z3, "case_split"),
		CASE_SPLIT_RELEVANT);
	Z3_solver_set_params(solver->z3, solver->handle, parameters);
	Z3_params_dec_ref(solver->z3, parameters);
}

/* Returns whether all other threads stop before scheduling points only in the model. */
static bool search_worker_keeps_others(const struct solver *solver, Z3_model model, uint16_t thread)
{
	for (uint16_t other = 0; other < solver->walk->record->thread_count; other++) {
		const uint32_t begin = solver->window->begin[other];
		Z3_ast value;
		int at;

		if (other != thread && begin < solver->window->end[other] &&
			Z3_model_eval(solver->z3, model, solver->cuts[other], true, &value) &&
			Z3_get_numeral_int(solver->z3, value, &at) && at > (int)begin &&
			at < (int)solver->window->end[other] && !solver->times[other][at])
			return false;
	}
	return true;
}

/* Returns true if no better model is needed. */
static bool search_worker_take_answer(struct worker *worker, struct event_id goal)
{
	struct solver *solver = &worker->solver;
	Z3_model model = Z3_solver_get_model(solver->z3, solver->handle);
	bool is_good;

	Z3_model_inc_ref(solver->z3, model);
	solution_release(&worker->solution);
	solution_take(&worker->solution, solver, model, goal);
	is_good = search_worker_keeps_others(solver, model, goal.thread);
	Z3_model_dec_ref(solver->z3, model);
	return is_good;
}

/*
 * Other threads may stop before scheduling points only. A thread that stops right after a read may
 * have read a value that leads to another path. A run continues that thread up to its next step,
 * and its writes there are unknown to the model.
 */
static void search_worker_keep_others_on_path(struct solver *solver, uint16_t thread)
{
	for (uint16_t other = 0; other < solver->walk->record->thread_count; other++)
		for (uint32_t i = solver->window->begin[other] + 1;
			other != thread && i < solver->window->end[other]; i++)
			if (!solver->times[other][i])
				solver_assert(solver,
					solver_not(solver, solver_stops_before(solver,
								   (struct event_id){other, i})));
}

static bool search_worker_is_end_of_run(
	const struct walk *walk, uint16_t thread, const struct walk_event *event)
{
	const struct record_op *op;

	if (event->kind == EVENT_DIVISOR)
		return !event->value;
	if (event->kind == EVENT_ADDRESS)
		return event->value < NULL_PAGE && !event->is_never_null;
	if (event->kind != EVENT_OP || event->value == UINT64_MAX)
		return false;
	op = &walk->record->ops[event->value];
	return op->kind == OP_SIGNAL_SEND && op->other == thread; /* abort() */
}

/* Adds the constraint: an event of another thread that ended the run does not happen. */
static void search_worker_keep_run_going(struct solver *solver, uint16_t thread)
{
	const struct walk *walk = solver->walk;

	for (uint16_t other = 0; other < walk->record->thread_count; other++) {
		const uint64_t count = walk->threads[other].count;

		if (other != thread && count && solver->window->end[other] == count &&
			solver->window->begin[other] < count &&
			search_worker_is_end_of_run(
				walk, other, &walk->threads[other].events[count - 1]))
			solver_assert(
				solver, solver_stops_by(solver,
						(struct event_id){other, (uint32_t)count - 1}));
	}
}

/*
 * A failure right after a read would end the run before the goal. If another path prevents it, the
 * proving run shows that.
 */
static void search_worker_keep_others_from_failing(struct solver *solver, uint16_t thread)
{
	for (uint16_t other = 0; other < solver->walk->record->thread_count; other++)
		for (uint32_t i = solver->window->begin[other];
			other != thread && i < solver->window->end[other]; i++) {
			const struct walk_event *event = &solver->walk->threads[other].events[i];
			Z3_ast stands, fails;

			if (!locations_is_asked(event) || event->kind == EVENT_INDEX ||
				!sensitive_is_failure(locations_kind(event)))
				continue;
			fails = search_worker_is_end_of_run(solver->walk, other, event)
					? solver_as_it_was(solver, event)
					: solver_otherwise(solver, event);
			stands = solver_stops_before(solver, (struct event_id){other, i});
			if (fails)
				solver_assert(solver,
					solver_not(solver, solver_and(solver, stands, fails)));
		}
}

static Z3_lbool search_worker_ask_without_failures(struct worker *worker, struct event_id goal)
{
	struct solver *solver = &worker->solver;
	Z3_lbool answer;

	search_worker_keep_others_from_failing(solver, goal.thread);
	answer = Z3_solver_check(solver->z3, solver->handle);
	if (answer == Z3_L_TRUE)
		(void)search_worker_take_answer(worker, goal);
	return answer;
}

/* Prefers a schedule that keeps the other threads on their recorded paths. */
static Z3_lbool search_worker_ask_solver(struct worker *worker, struct event_id goal)
{
	struct solver *solver = &worker->solver;
	const struct walk_event *event = walk_event_of(&worker->analysis->walk, goal);
	Z3_ast otherwise = solver_otherwise(solver, event);
	Z3_ast reached = solver_is_reached(solver, goal);
	Z3_lbool answer, better;

	if (!otherwise)
		return Z3_L_FALSE;
	Z3_solver_push(solver->z3, solver->handle);
	solver_assert(solver, otherwise);
	search_worker_keep_run_going(solver, goal.thread);
	if (reached)
		solver_assert(solver, reached);
	solver_assert(solver, solver_stops_before(solver, goal));
	answer = Z3_solver_check(solver->z3, solver->handle);
	if (answer == Z3_L_TRUE && !search_worker_take_answer(worker, goal)) {
		Z3_solver_push(solver->z3, solver->handle);
		search_worker_keep_others_on_path(solver, goal.thread);
		better = Z3_solver_check(solver->z3, solver->handle);
		if (better == Z3_L_TRUE)
			(void)search_worker_take_answer(worker, goal);
		Z3_solver_pop(solver->z3, solver->handle, 1);
		if (better == Z3_L_FALSE)
			answer = search_worker_ask_without_failures(worker, goal);
	}
	Z3_solver_pop(solver->z3, solver->handle, 1);
	return answer;
}

/* Waits for the judgement of the caller's thread. Caller holds search.lock. */
static void search_worker_await_judgement(struct worker *worker)
{
	struct search *search = &worker->analysis->search;

	worker->is_waiting = true;
	(void)pthread_cond_broadcast(&search->changed); /* cannot fail */
	while (worker->is_waiting && !search->is_stopping)
		(void)pthread_cond_wait(&search->changed, &search->lock); /* cannot fail */
}

/* Returns the queries of a chunk: one chunk cannot use up all queries about a location. */
static uint32_t search_worker_queries_of_chunk(const struct worker *worker)
{
	const struct sensitivity *analysis = worker->analysis;
	const uint32_t part = analysis->options.queries_most / QUERIES_PARTS;

	if (chunk_is_all(&worker->chunk, analysis))
		return analysis->options.queries_most;
	return part > QUERIES_LEAST ? part : QUERIES_LEAST;
}

/* Counts the query. Caller holds search.lock. */
static bool search_worker_admit_query(struct worker *worker, uint32_t location)
{
	struct sensitivity *analysis = worker->analysis;

	if (!turns_is_open(worker, location) || analysis->search.is_stopping)
		return false;
	if (!worker->solver.is_cut &&
		worker->queries[location] < search_worker_queries_of_chunk(worker) &&
		analysis->locations.items[location].queries + worker->queries[location] <
			turns_queries_most(worker) &&
		!search_is_late(analysis)) {
		worker->queries[location]++;
		return true;
	}
	worker->unasked += search_counts(worker->pass);
	return false;
}

static void search_worker_look_at(struct worker *worker, struct event_id goal)
{
	struct sensitivity *analysis = worker->analysis;
	struct search *search = &analysis->search;
	const uint64_t begin = search_now_ns();
	Z3_lbool answer;
	uint32_t location;

	if (worker->is_void || !search_is_wanted(analysis, worker->pass,
				       walk_event_of(&analysis->walk, goal), &location))
		return;
	(void)pthread_mutex_lock(&search->lock); /* default mutex: cannot fail */
	if (!search_worker_admit_query(worker, location))
		goto out;
	(void)pthread_mutex_unlock(&search->lock);
	answer = search_worker_ask_solver(worker, goal);
	(void)pthread_mutex_lock(&search->lock);
	analysis->figures.solve_ns += search_now_ns() - begin;
	/* A near query that times out is repeated in the large window. */
	worker->timeouts += answer == Z3_L_UNDEF && !search_is_near(worker->pass);
	/* An interrupted solver may have dropped assertions, so its answers are not used. */
	if (answer == Z3_L_TRUE && !search_is_late(analysis) && turns_take(worker)) {
		worker->goal = goal;
		worker->location = location;
		search_worker_await_judgement(worker);
	}
out:
	(void)pthread_mutex_unlock(&search->lock);
}

/* Returns whether the chunk has goals. When time is up, counts the branches left out. The caller
 * holds search.lock. */
static bool search_worker_has_goals(const struct worker *worker)
{
	struct sensitivity *analysis = worker->analysis;
	const bool has_time = !search_is_late(analysis);

	if (!search_is_new(worker))
		return false;
	for (struct event_id id = {0}; chunk_has_event(&worker->chunk, &id); id.index++) {
		uint32_t location;

		if (!search_is_wanted(analysis, worker->pass, walk_event_of(&analysis->walk, id),
			    &location) ||
			!turns_is_open(worker, location) ||
			analysis->locations.items[location].queries >= turns_queries_most(worker))
			continue;
		if (has_time)
			return true;
		analysis->figures.unasked += search_counts(worker->pass);
	}
	return false;
}

/* A self-check: returns whether the constraints exclude the recorded run itself. */
static bool search_worker_contradicts(struct worker *worker)
{
	struct solver *solver = &worker->solver;
	const struct walk *walk = &worker->analysis->walk;
	bool result;

	Z3_solver_push(solver->z3, solver->handle);
	for (uint32_t i = 0; i < walk->record->thread_count; i++)
		if (walk->threads[i].count)
			solver_assert(
				solver, solver_occurs(solver,
						(struct event_id){(uint16_t)i,
							(uint32_t)walk->threads[i].count - 1}));
	result = Z3_solver_check(solver->z3, solver->handle) == Z3_L_FALSE;
	Z3_solver_pop(solver->z3, solver->handle, 1);
	return result;
}

/* Publishes the solver so that search_close() can interrupt it. */
static void search_worker_set_z3(struct worker *worker, Z3_context z3)
{
	struct search *search = &worker->analysis->search;

	(void)pthread_mutex_lock(&search->lock);
	worker->z3 = z3;
	(void)pthread_mutex_unlock(&search->lock);
}

static uint64_t search_worker_question_ns(const struct sensitivity *analysis, enum search_pass pass)
{
	const uint64_t all_ns = analysis->options.query_ns;
	const uint64_t part_ns = all_ns / SEARCH_NEAR_QUERY_PART;
	const uint64_t near_ns = part_ns > SEARCH_NEAR_QUERY_NS ? part_ns : SEARCH_NEAR_QUERY_NS;

	return search_is_near(pass) && near_ns < all_ns ? near_ns : all_ns;
}

static void search_worker_open_constraints(struct worker *worker)
{
	struct sensitivity *analysis = worker->analysis;
	struct solver *solver = &worker->solver;
	struct search *search = &analysis->search;
	const uint64_t begin = search_now_ns();
	uint64_t solve_ns;
	bool is_wrong;

	solver_open(solver,
		&(struct solver_question){.walk = &analysis->walk,
			.order = &analysis->order,
			.window = &worker->chunk.window,
			.has_open_addresses = search_has_open_addresses(analysis, worker->pass),
			.end_ns = search_end_ns(analysis)});
	search_worker_set_parameters(solver, search_worker_question_ns(analysis, worker->pass));
	search_worker_set_z3(worker, solver->z3);
	is_wrong = !solver->is_cut && chunk_is_all(&worker->chunk, analysis) &&
		   search_worker_contradicts(worker);
	solver_add_yields(solver);
	solve_ns = search_now_ns() - begin;
	(void)pthread_mutex_lock(&search->lock);
	analysis->figures.chunks++;
	analysis->figures.constraints += solver->count;
	analysis->figures.constraint_terms += solver->terms_made;
	analysis->figures.is_model_wrong |= is_wrong;
	analysis->figures.solve_ns += solve_ns;
	(void)pthread_mutex_unlock(&search->lock);
}

static void search_chunk(struct worker *worker)
{
	search_worker_open_constraints(worker);
	for (struct event_id id = {0}; chunk_has_event(&worker->chunk, &id); id.index++)
		search_worker_look_at(worker, id);
	search_worker_set_z3(worker, NULL);
	solver_close(&worker->solver);
}

/* Returns whether the pass has queries. A pass that counts left-out events must visit all
 * chunks. */
static bool search_worker_has_questions(const struct worker *worker)
{
	const struct locations *locations = &worker->analysis->locations;

	if (search_counts(worker->pass))
		return true;
	for (uint32_t i = 0; i < locations->count; i++)
		if (!locations->items[i].is_excluded && turns_is_open(worker, i) &&
			locations->items[i].queries < turns_queries_most(worker) &&
			(search_is_of_failures(worker->pass) ? locations->items[i].has_failures
							     : locations->items[i].has_others))
			return true;
	return false;
}

/* Returns false if the search is complete. Caller holds search.lock. */
static bool search_worker_next_chunk(struct worker *worker)
{
	struct sensitivity *analysis = worker->analysis;
	struct search *search = &analysis->search;

	while (search->pass < PASS_COUNT && !search->is_stopping) {
		worker->pass = search->pass;
		if (search_has_pass(analysis, search->pass) &&
			search_worker_has_questions(worker) &&
			(search_is_late(analysis)
					? search_rest(analysis, &search->cursor, &worker->chunk)
					: chunk_next(analysis, &search->cursor, &worker->chunk))) {
			analysis->figures.chunks_seen++;
			return true;
		}
		search->pass++;
		chunk_rewind(&search->cursor, analysis, search_window(analysis, search->pass));
	}
	return false;
}

/* Counts a chunk that was not settled: queries ahead of its turn may still be unanswered. */
static void search_worker_count_chunk(const struct worker *worker)
{
	struct sensitivity *analysis = worker->analysis;
	uint64_t left = 0, asked = 0;

	for (struct event_id id = {0}; chunk_has_event(&worker->chunk, &id); id.index++) {
		uint32_t location;

		left += search_is_wanted(analysis, worker->pass, walk_event_of(&analysis->walk, id),
				&location) &&
			turns_is_open(worker, location);
	}
	for (uint32_t i = 0; i < analysis->locations.count; i++)
		asked += worker->queries[i];
	analysis->figures.unasked += left > asked ? left - asked : 0;
}

void search_count_left(struct sensitivity *analysis)
{
	struct search *search = &analysis->search;
	struct worker counter = {.analysis = analysis};

	for (uint32_t i = 0; i < search->worker_count; i++) {
		if (search->workers[i].is_asking && search_counts(search->workers[i].pass))
			search_worker_count_chunk(&search->workers[i]);
		search->workers[i].is_asking = false;
	}
	chunk_open(&counter.chunk, analysis);
	while (search_worker_next_chunk(&counter))
		(void)search_worker_has_goals(
			&counter); /* the result is false, because time is up */
	chunk_release(&counter.chunk);
}

void *search_work(void *context)
{
	struct worker *worker = context;
	struct search *search = &worker->analysis->search;

	(void)pthread_mutex_lock(&search->lock);
	while (search_worker_next_chunk(worker)) {
		if (!search_worker_has_goals(worker))
			continue;
		worker->number = search->given++;
		worker->is_asking = true;
		do {
			turns_begin(worker);
			(void)pthread_mutex_unlock(&search->lock);
			search_chunk(worker);
			(void)pthread_mutex_lock(&search->lock);
		} while (!turns_end(worker));
		worker->is_asking = false;
	}
	search->running--;
	(void)pthread_cond_broadcast(&search->changed);
	(void)pthread_mutex_unlock(&search->lock);
	return NULL;
}

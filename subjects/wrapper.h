/*
 * A synchronised wrapper over an unsynchronised collection of numbers, as in class libraries, with
 * the threads that call it. Every method locks its own collection; a method that iterates over
 * another collection locks that one for each step only. The subjects wrapped_* include this file.
 * They define COLLECTION, the name of their struct, and its functions:
 *
 *     int size_of(const struct COLLECTION *), int at(const struct COLLECTION *, int index),
 *     bool has, bool add, bool take_out(struct COLLECTION *, int element), void clear(struct COLLECTION *)
 *
 * If LOCKS_BOTH is defined, both collections stay locked: these are the corrected twins.
 */
#define ELEMENTS_MAX 16

struct wrapped {
	pthread_mutex_t lock;
	struct COLLECTION inner; /* guarded by lock */
};

static struct wrapped first = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};
static struct wrapped second = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

/* Locks are always taken in this order: first, second. */
static void enter(struct wrapped *own, struct wrapped *other)
{
	pthread_mutex_lock(&own->lock);
#ifdef LOCKS_BOTH
	pthread_mutex_lock(&other->lock);
#else
	(void)other;
#endif
}

static void leave(struct wrapped *own, struct wrapped *other)
{
#ifdef LOCKS_BOTH
	pthread_mutex_unlock(&other->lock);
#else
	(void)other;
#endif
	pthread_mutex_unlock(&own->lock);
}

/* ---- methods of one collection ---- */

static int wrapped_size(struct wrapped *wrapped)
{
	pthread_mutex_lock(&wrapped->lock);
	const int size = size_of(&wrapped->inner);

	pthread_mutex_unlock(&wrapped->lock);
	return size;
}

static int wrapped_at(struct wrapped *wrapped, int index)
{
	pthread_mutex_lock(&wrapped->lock);
	const int element = at(&wrapped->inner, index);

	pthread_mutex_unlock(&wrapped->lock);
	return element;
}

static bool wrapped_has(struct wrapped *wrapped, int element)
{
	pthread_mutex_lock(&wrapped->lock);
	const bool is_there = has(&wrapped->inner, element);

	pthread_mutex_unlock(&wrapped->lock);
	return is_there;
}

static bool wrapped_add(struct wrapped *wrapped, int element)
{
	pthread_mutex_lock(&wrapped->lock);
	const bool is_new = add(&wrapped->inner, element);

	pthread_mutex_unlock(&wrapped->lock);
	return is_new;
}

static bool wrapped_take_out(struct wrapped *wrapped, int element)
{
	pthread_mutex_lock(&wrapped->lock);
	const bool was_there = take_out(&wrapped->inner, element);

	pthread_mutex_unlock(&wrapped->lock);
	return was_there;
}

static void wrapped_clear(struct wrapped *wrapped)
{
	pthread_mutex_lock(&wrapped->lock);
	clear(&wrapped->inner);
	pthread_mutex_unlock(&wrapped->lock);
}

/* ---- methods that go through another collection ---- */

static bool wrapped_has_all(struct wrapped *wrapped, struct wrapped *other)
{
	bool has_all = true;

	enter(wrapped, other);
	for (int i = 0; has_all && i < wrapped_size(other); i++)
		has_all = has(&wrapped->inner, wrapped_at(other, i));
	leave(wrapped, other);
	return has_all;
}

static bool wrapped_equals(struct wrapped *wrapped, struct wrapped *other)
{
	bool is_equal;

	enter(wrapped, other);
	is_equal = size_of(&wrapped->inner) == wrapped_size(other);
	for (int i = 0; is_equal && i < size_of(&wrapped->inner); i++)
		is_equal = at(&wrapped->inner, i) == wrapped_at(other, i);
	leave(wrapped, other);
	return is_equal;
}

static void wrapped_add_all(struct wrapped *wrapped, struct wrapped *other)
{
	enter(wrapped, other);
	for (int i = 0; i < wrapped_size(other); i++)
		add(&wrapped->inner, wrapped_at(other, i));
	leave(wrapped, other);
}

static void wrapped_take_out_all(struct wrapped *wrapped, struct wrapped *other)
{
	enter(wrapped, other);
	for (int i = 0; i < wrapped_size(other); i++)
		take_out(&wrapped->inner, wrapped_at(other, i));
	leave(wrapped, other);
}

static void wrapped_keep_all(struct wrapped *wrapped, struct wrapped *other)
{
	enter(wrapped, other);
	for (int i = size_of(&wrapped->inner) - 1; i >= 0; i--) {
		const int element = at(&wrapped->inner, i);

		if (!wrapped_has(other, element))
			take_out(&wrapped->inner, element);
	}
	leave(wrapped, other);
}

static void wrapped_copy(struct wrapped *wrapped, struct wrapped *other)
{
	const int size = (enter(wrapped, other), wrapped_size(other));
	int copy[ELEMENTS_MAX];

	for (int i = 0; i < size; i++)
		copy[i] = wrapped_at(other, i);
	clear(&wrapped->inner);
	for (int i = 0; i < size; i++)
		add(&wrapped->inner, copy[i]);
	leave(wrapped, other);
}

/* ---- threads ---- */

/* Steps of their own that the threads which change second make first: the first argument. */
static long steps_apart;

static void stay_apart(pthread_mutex_t *own)
{
	const long steps = steps_apart;

	for (long left = steps; left > 0; left--) {
		pthread_mutex_lock(own);
		pthread_mutex_unlock(own);
	}
}

static void *compare(void *unused)
{
	wrapped_equals(&first, &second);
	wrapped_has_all(&first, &second);
	return unused;
}

static void *join_and_split(void *unused)
{
	wrapped_add_all(&first, &second);
	wrapped_take_out_all(&first, &second);
	return unused;
}

static void *take_over(void *unused)
{
	wrapped_keep_all(&first, &second);
	wrapped_copy(&first, &second);
	return unused;
}

static void *change(void *unused)
{
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

	stay_apart(&own);
	wrapped_add(&second, 7);
	wrapped_take_out(&second, 1);
	return unused;
}

static void *reset(void *unused)
{
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

	stay_apart(&own);
	wrapped_clear(&second);
	return unused;
}

int main(int count, char **arguments)
{
	static void *(*const works[])(void *) = {compare, join_and_split, take_over, change, reset};
	const int thread_count = sizeof works / sizeof *works;
	pthread_t threads[sizeof works / sizeof *works];

	steps_apart = count > 1 ? atol(arguments[1]) : 0;
	for (int i = 1; i <= 3; i++) {
		add(&first.inner, i);
		add(&second.inner, i);
	}
	for (int i = 0; i < thread_count; i++)
		pthread_create(&threads[i], NULL, works[i], NULL);
	for (int i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	assert(!wrapped_has(&second, 1));
	return 0;
}

/* The program of counts.c with GLib's locks, whose fast paths make no system call, and a pool, which waits inside GLib. */
#include <glib.h>
#include <string.h>

#define THREADS 3

static GMutex lock;
static GCond is_done;
static int count, done, is_split;

static gpointer work(gpointer unused)
{
	int before;

	g_mutex_lock(&lock);
	before = count;
	if (is_split) {
		g_mutex_unlock(&lock);
		g_mutex_lock(&lock);
	}
	count = before + 1;
	done++;
	g_cond_signal(&is_done);
	g_mutex_unlock(&lock);
	return unused;
}

static void do_nothing(gpointer job, gpointer unused)
{
	(void)job, (void)unused;
}

/* The last call of GLib may end with a futex call that returns here. */
static void use_pool(void)
{
	GThreadPool *pool = g_thread_pool_new(do_nothing, NULL, 2, FALSE, NULL);

	for (int i = 1; i <= 2; i++)
		g_thread_pool_push(pool, GINT_TO_POINTER(i), NULL);
	g_thread_pool_free(pool, FALSE, TRUE);
}

int main(int argument_count, char **arguments)
{
	GThread *threads[THREADS];

	if (argument_count > 1 && strcmp(arguments[1], "pool") == 0) {
		use_pool();
		return 0;
	}
	is_split = argument_count > 1;
	for (int i = 0; i < THREADS; i++)
		threads[i] = g_thread_new("work", work, NULL);
	g_mutex_lock(&lock);
	while (done < THREADS)
		g_cond_wait(&is_done, &lock);
	g_mutex_unlock(&lock);
	for (int i = 0; i < THREADS; i++)
		g_thread_join(threads[i]);
	g_assert(count == THREADS);
	return 0;
}

/* As counts.c, with GLib's locks, whose fast paths make no system call, and a queue of GLib's that is waited for. */
#include <assert.h>
#include <glib.h>

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

int main(int argument_count, char **arguments)
{
	GThread *threads[THREADS];

	(void)arguments;
	is_split = argument_count > 1;
	for (int i = 0; i < THREADS; i++)
		threads[i] = g_thread_new("work", work, NULL);
	g_mutex_lock(&lock);
	while (done < THREADS)
		g_cond_wait(&is_done, &lock);
	g_mutex_unlock(&lock);
	for (int i = 0; i < THREADS; i++)
		g_thread_join(threads[i]);
	assert(count == THREADS);
	return 0;
}

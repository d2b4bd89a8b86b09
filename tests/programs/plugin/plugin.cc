/*
 * The library that dynamic_load loads: it has a constructor, a thread_local object with a
 * destructor and a function-static object.
 */
#include <atomic>
#include <mutex>

static std::atomic<int> destroyed;
static int is_constructed;

namespace
{
struct per_thread {
	int calls = 0;
	~per_thread()
	{
		destroyed++;
	}
};

thread_local per_thread mine;
} // namespace

__attribute__((constructor)) static void construct()
{
	is_constructed = 1;
}

extern "C" int plugin_call()
{
	static std::mutex mutex;
	std::lock_guard<std::mutex> guard(mutex);

	return is_constructed ? ++mine.calls : -1;
}

extern "C" int plugin_destroyed()
{
	return destroyed;
}

/* EXPECT: abort runs<=200 needs=memory */
/*
 * A lazily created, shared cache: users hold shared pointers, the registry a weak one. The destructor
 * says that the cache is closed. Fails: the last user has gone, and before the destructor says so,
 * another user creates it anew.
 */
#include <cassert>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct cache;
static std::mutex lock;
static std::weak_ptr<cache> registered;
static bool is_open;

struct cache {
	cache()
	{
		is_open = true;
	}
	~cache()
	{
		std::lock_guard<std::mutex> guard(lock);
		is_open = false;
	}
};

static std::shared_ptr<cache> acquire()
{
	std::lock_guard<std::mutex> guard(lock);
	std::shared_ptr<cache> found = registered.lock();

	if (!found) {
		found = std::make_shared<cache>();
		registered = found;
	}
	return found;
}

static void use()
{
	const std::shared_ptr<cache> mine = acquire();
	std::lock_guard<std::mutex> guard(lock);

	assert(is_open);
}

int main()
{
	std::vector<std::thread> threads;

	for (int i = 0; i < 3; i++)
		threads.emplace_back(use);
	for (std::thread &thread : threads)
		thread.join();
	return 0;
}

// A lookup and an insertion in two critical sections. clang inlines the function into a lambda and merges the two
// unlocks that end it, so that the call has line 0 in the debug information.
#include <cassert>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex lock;
static std::map<int, int> entries;
static int created;

static int look_up(int key)
{
	{
		std::lock_guard guard(lock);
		const auto entry = entries.find(key);

		if (entry != entries.end())
			return entry->second;
	}
	std::lock_guard guard(lock);
	return entries[key] = ++created;
}

int main()
{
	std::vector<std::thread> threads;

	for (int i = 0; i < 3; i++)
		threads.emplace_back([i] {
			for (int key = 0; key < 3; key++)
				look_up(i % 2 + key);
		});
	for (std::thread &thread : threads)
		thread.join();
	assert(created == 4);
	return 0;
}

// Two of sixteen threads take the locks of a class template in opposite orders.
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
namespace bank::ledger
{
template <class Key, class Value> struct concurrent_registry {
	std::mutex entries_lock, index_lock;
	std::map<Key, Value> entries;
	void insert(const Key &key, const Value &value)
	{
		std::lock_guard first(entries_lock);
		std::lock_guard second(index_lock);
		entries[key] = value;
	}
	void rebuild_index()
	{
		std::lock_guard first(index_lock);
		std::lock_guard second(entries_lock);
		entries.clear();
	}
};
} // namespace bank::ledger
int main()
{
	bank::ledger::concurrent_registry<std::string, std::vector<int>> registry;
	std::vector<std::thread> threads;
	for (int i = 0; i < 15; i++)
		threads.emplace_back([&registry, i] {
			if (i % 5 == 4)
				registry.rebuild_index();
			else
				registry.insert(std::to_string(i), {i});
		});
	for (auto &thread : threads)
		thread.join();
}

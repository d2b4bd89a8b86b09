// The cases of edges.c with C++ objects: `edges_cxx CASE ordered|racy`.
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstring>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

namespace
{

bool is_racy;
int value;
thread_local volatile int seen; // keeps reads of value from being optimised away

void both(void (*body)(), void (*meanwhile)())
{
	std::thread thread(body);

	meanwhile();
	thread.join();
}

// A local static: the second thread finds it ready, by code of the compiler and the library.
struct table {
	int entries[4];
	table()
	{
		for (int i = 0; i < 4; i++)
			entries[i] = i;
	}
};

table &the_table()
{
	static table only;

	return only;
}

void use_table()
{
	seen = the_table().entries[3];
	if (is_racy)
		the_table().entries[2]++;
}

// The last owner destroys what all have used.
struct payload {
	int number = 1;
	~payload()
	{
		number = 0;
	}
};

std::shared_ptr<payload> owner;
payload *raw;

void case_shared_ptr()
{
	owner = std::make_shared<payload>();
	raw = owner.get();
	std::thread first([copy = owner] { seen = copy->number; });
	std::thread second([copy = owner]() mutable {
		seen = copy->number;
		copy.reset();
		if (is_racy)
			raw->number++;
	});
	owner.reset();
	first.join();
	second.join();
}

std::mutex mutex;
std::shared_mutex shared_mutex;
std::condition_variable condition;
bool is_done;

void guarded()
{
	if (is_racy) {
		std::shared_lock<std::shared_mutex> lock(shared_mutex);
		value++;
	} else {
		std::unique_lock<std::shared_mutex> lock(shared_mutex);
		value++;
	}
}

void condition_body()
{
	if (!is_racy)
		value++;
	{
		std::lock_guard<std::mutex> lock(mutex);
		is_done = true;
	}
	condition.notify_one();
	if (is_racy)
		value++;
}

void condition_main()
{
	std::unique_lock<std::mutex> lock(mutex);

	condition.wait(lock, [] { return is_done; });
	seen = value;
}

std::once_flag once;

void once_body()
{
	std::call_once(once, [] { value = 1; });
}

void once_main()
{
	if (!is_racy)
		once_body();
	seen = value;
}

void case_future()
{
	std::promise<int> promise;
	std::future<int> future = promise.get_future();
	std::thread thread([&promise] {
		if (!is_racy)
			value++;
		promise.set_value(1);
		if (is_racy)
			value++;
	});

	seen = future.get();
	seen = value;
	thread.join();
}

void case_async()
{
	auto result = std::async(std::launch::async, [] { return ++value; });

	if (is_racy)
		seen = value;
	result.wait();
	seen = value;
}

std::atomic<int> flag;

void atomic_body()
{
	value++;
	flag.store(1, is_racy ? std::memory_order_relaxed : std::memory_order_release);
	flag.notify_one();
}

void atomic_main()
{
	flag.wait(0, std::memory_order_acquire);
	seen = value;
}

std::counting_semaphore<4> semaphore(0);

void semaphore_body()
{
	if (is_racy)
		semaphore.release();
	value++;
	if (!is_racy)
		semaphore.release();
}

void semaphore_main()
{
	semaphore.acquire();
	seen = value;
}

std::latch latch(1);

void latch_body()
{
	if (is_racy)
		latch.count_down();
	value++;
	if (!is_racy)
		latch.count_down();
}

void latch_main()
{
	latch.wait();
	seen = value;
}

std::barrier<> barrier(2);

void barrier_body()
{
	value++;
	barrier.arrive_and_wait();
	if (!is_racy)
		barrier.arrive_and_wait();
	value++;
}

void barrier_main()
{
	barrier.arrive_and_wait();
	seen = value;
	if (!is_racy)
		barrier.arrive_and_wait();
}

// Containers and strings: the library's templates are instrumented with the program, its binary is not.
std::vector<std::string> words;

void add_word()
{
	std::unique_lock<std::mutex> lock(mutex, std::defer_lock);

	if (!is_racy)
		lock.lock();
	words.push_back("a word that is too long to be kept inside");
	if (words.size() > 1)
		words.pop_back();
}

const struct {
	const char *name;
	void (*run)();
} cases[] = {
	{"static", [] { both(use_table, use_table); }},
	{"shared_ptr", case_shared_ptr},
	{"shared_mutex", [] { both(guarded, guarded); }},
	{"condition", [] { both(condition_body, condition_main); }},
	{"call_once", [] { both(once_body, once_main); }},
	{"future", case_future},
	{"async", case_async},
	{"atomic", [] { both(atomic_body, atomic_main); }},
	{"semaphore", [] { both(semaphore_body, semaphore_main); }},
	{"latch", [] { both(latch_body, latch_main); }},
	{"barrier", [] { both(barrier_body, barrier_main); }},
	{"vector", [] { both(add_word, add_word); }},
};

} // namespace

int main(int count, char **arguments)
{
	is_racy = count > 2 && !std::strcmp(arguments[2], "racy");
	for (const auto &each : cases)
		if (count > 1 && !std::strcmp(each.name, arguments[1])) {
			each.run();
			return 0;
		}
	return 2;
}

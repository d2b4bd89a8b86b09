// The cases of edges.c with C++ objects that are easily misjudged: `hard_cxx CASE ordered|racy`.
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

namespace
{

bool is_racy;
int value;
thread_local volatile int seen; // keeps reads of value from being optimised away
std::mutex mutex, other;

void both(void (*body)(), void (*meanwhile)())
{
	std::thread thread(body);

	meanwhile();
	thread.join();
}

// An object of a thread, made when it is first used and destroyed at the thread's end, before its join.
struct farewell {
	int number = 1;
	~farewell()
	{
		value += number;
	}
};

void farewell_body()
{
	thread_local farewell own;

	own.number++;
}

void case_thread_local()
{
	std::thread thread(farewell_body);

	if (is_racy)
		value++;
	thread.join();
	value++;
}

// The first attempt to make it throws, the second one makes it.
int attempts;

struct fragile {
	int number;
	fragile() : number(++attempts)
	{
		if (number == 1)
			throw std::runtime_error("not yet");
	}
};

fragile &the_fragile()
{
	static fragile only;

	return only;
}

void fragile_body()
{
	for (int i = 0; i < 2; i++)
		try {
			seen = the_fragile().number;
			if (is_racy)
				the_fragile().number++;
		} catch (const std::runtime_error &) {
		}
}

// The same of call_once.
std::once_flag once;

void call_once_body()
{
	for (int i = 0; i < 2; i++)
		try {
			std::call_once(once, [] {
				if (++value == 1)
					throw std::runtime_error("not yet");
			});
		} catch (const std::runtime_error &) {
		}
	seen = value;
	if (is_racy)
		value++;
}

// A deferred function runs in the thread that asks for its result.
void case_deferred()
{
	std::shared_future<int> result = std::async(std::launch::deferred, [] { return ++value; });

	std::thread thread([result] {
		seen = result.get();
		if (is_racy)
			value++;
	});
	seen = result.get();
	seen = value;
	thread.join();
}

void case_packaged_task()
{
	std::packaged_task<int()> task([] { return ++value; });
	std::future<int> result = task.get_future();
	std::thread thread([&task] {
		task();
		if (is_racy)
			value++;
	});

	seen = result.get();
	seen = value;
	thread.join();
}

// An exception and its data go to the waiting thread.
void case_exception()
{
	std::promise<void> promise;
	std::future<void> future = promise.get_future();
	std::thread thread([&promise] {
		auto carried = std::make_exception_ptr(std::runtime_error("carried"));

		value++;
		promise.set_exception(carried);
		if (is_racy)
			value++;
	});

	try {
		future.get();
	} catch (const std::runtime_error &error) {
		seen = error.what()[0] + value;
	}
	thread.join();
}

// A weak pointer that is read while the last owner ends.
struct node {
	int number = 1;
	~node()
	{
		number = 0;
	}
};

std::shared_ptr<node> owner;
std::weak_ptr<node> watcher;
node *raw;

void weak_body()
{
	if (is_racy)
		seen = raw->number;
	else if (std::shared_ptr<node> strong = watcher.lock())
		seen = strong->number;
}

void case_weak_ptr()
{
	owner = std::make_shared<node>();
	watcher = owner;
	raw = owner.get();
	both(
		weak_body, +[] { owner.reset(); });
}

// A plain number that is atomic for as long as it is referred to so.
void atomic_ref_once()
{
	if (is_racy)
		value++;
	else
		std::atomic_ref<int>(value).fetch_add(1, std::memory_order_relaxed);
}

void atomic_ref_main()
{
	std::atomic_ref<int>(value).fetch_add(1, std::memory_order_relaxed);
}

// Two locks taken at once, in either order.
void two_locks_body()
{
	if (is_racy) {
		std::scoped_lock lock(other);
		value++;
	} else {
		std::scoped_lock lock(mutex, other);
		value++;
	}
}

void two_locks_main()
{
	std::scoped_lock lock(other, mutex);

	value++;
	mutex.unlock();
	if (is_racy)
		other.unlock(), value++, other.lock();
	mutex.lock();
}

// A lock of any kind waited with, and a stop asked for.
std::shared_timed_mutex timed_mutex;
std::condition_variable_any condition;
bool is_done;

void case_stop()
{
	std::jthread thread([](std::stop_token stop) {
		std::unique_lock lock(timed_mutex);

		condition.wait(lock, stop, [] { return is_done; });
		seen = value;
	});

	if (!is_racy)
		value++;
	thread.request_stop();
	if (is_racy)
		value++;
}

// A deleted object's place is given to the next one.
struct sized {
	long numbers[5];
};

void reuse_once()
{
	for (int i = 0; i < 3; i++) {
		auto *made = new sized();

		made->numbers[4] = i;
		if (is_racy && i == 2)
			value++;
		delete made;
	}
}

// Many-read, seldom-written, with the standard's containers in it.
std::map<int, std::string> names;

void read_names()
{
	std::shared_lock lock(timed_mutex);

	for (const auto &[number, name] : names)
		seen = number + static_cast<int>(name.size());
}

void write_names()
{
	std::unique_lock lock(timed_mutex, std::defer_lock);

	if (!is_racy)
		lock.lock();
	names[1] = "a name that is too long to be kept inside";
	names.erase(2);
}

// Code that is given to another thread with what it refers to.
void case_captured()
{
	auto text = std::make_unique<std::string>("a text that is too long to be kept inside");
	std::string *kept = text.get();
	std::thread thread([given = std::move(text)] { given->push_back('.'); });

	if (is_racy)
		kept->push_back('!');
	thread.join();
}

// Objects of a whole program are destroyed at its end, behind a thread that was not joined.
struct counter {
	int number = 0;
	~counter()
	{
		seen = number;
	}
} counted;
std::atomic<bool> is_counted;

void case_static_end()
{
	std::thread([] {
		counted.number++;
		is_counted.store(true, std::memory_order_release);
		is_counted.notify_one();
		if (is_racy)
			counted.number++;
	}).detach();
	is_counted.wait(false, std::memory_order_acquire);
}

const struct {
	const char *name;
	void (*run)();
} cases[] = {
	{"thread_local", case_thread_local},
	{"fragile_static", [] { both(fragile_body, fragile_body); }},
	{"fragile_once", [] { both(call_once_body, call_once_body); }},
	{"deferred", case_deferred},
	{"packaged_task", case_packaged_task},
	{"exception", case_exception},
	{"weak_ptr", case_weak_ptr},
	{"atomic_ref", [] { both(atomic_ref_once, atomic_ref_main); }},
	{"two_locks", [] { both(two_locks_body, two_locks_main); }},
	{"stop", case_stop},
	{"reuse", [] { both(reuse_once, reuse_once); }},
	{"map", [] { both(read_names, write_names); }},
	{"captured", case_captured},
	{"static_end", case_static_end},
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

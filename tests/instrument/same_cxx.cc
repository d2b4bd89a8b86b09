// Exceptions, destructors, constructors of statics: prints the same with sites and without.
#include <atomic>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

int destroyed;
std::atomic<int> thrown{0};

struct guard {
	int id;
	explicit guard(int number) : id(number)
	{
	}
	~guard()
	{
		destroyed += id;
	}
};

struct shape {
	virtual ~shape() = default;
	virtual int area() const = 0;
};

struct square : shape {
	int side;
	explicit square(int length) : side(length)
	{
	}
	int area() const override
	{
		if (side < 0)
			throw std::invalid_argument("side");
		return side * side;
	}
};

template <typename T> T *largest(std::vector<T> &items)
{
	T *best = nullptr;
	for (auto &item : items)
		if (!best || *best < item)
			best = &item;
	return best;
}

__attribute__((noinline)) void descend(int depth)
{
	guard here(depth);
	if (depth == 0) {
		thrown++;
		throw std::runtime_error("bottom");
	}
	descend(depth - 1);
	destroyed += 1000; // this line is not reached
}

std::string attempt(int depth)
{
	try {
		guard outer(100);
		descend(depth);
	} catch (const std::runtime_error &error) {
		return error.what();
	}
	return "nothing";
}

struct counted {
	static int alive;
	counted()
	{
		alive++;
	}
	~counted()
	{
		alive--;
	}
};
int counted::alive;

counted &only()
{
	static counted one;
	return one;
}

int rethrow(int value) noexcept
{
	try {
		try {
			if (value > 2)
				throw value;
		} catch (int &got) {
			got++;
			throw;
		}
	} catch (int got) {
		return got;
	}
	return 0;
}

} // namespace

/* A function that is left and entered again in its middle. */
struct counting {
	struct promise_type {
		int value = 0;
		counting get_return_object()
		{
			return {std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend()
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		std::suspend_always yield_value(int given)
		{
			value = given;
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			std::terminate();
		}
	};
	std::coroutine_handle<promise_type> handle;
	~counting()
	{
		handle.destroy();
	}
};

static int resumed;

static counting count_to(int n)
{
	for (int i = 0; i < n; i++) {
		resumed += i;
		co_yield i;
	}
}

/* Made when it is used first, in each thread. */
struct noisy {
	std::string name{"thread"};
	noisy()
	{
		resumed++;
	}
	~noisy()
	{
		resumed--;
	}
};

static thread_local noisy of_thread;

static void print_coroutine()
{
	counting numbers = count_to(5);
	int sum = 0;

	for (numbers.handle.resume(); !numbers.handle.done(); numbers.handle.resume())
		sum += numbers.handle.promise().value;
	std::printf("coroutine %d %s %d\n", sum, of_thread.name.c_str(), resumed);
}

int main()
{
	std::map<std::string, int> names{{"warp", 3}, {"weft", 4}};
	std::vector<std::string> words{"comb", "reed", "heddle"};
	std::vector<std::unique_ptr<shape>> shapes;
	int sum = 0;

	std::printf("%s %d %d\n", attempt(5).c_str(), destroyed, thrown.load());
	for (int i = -1; i < 4; i++)
		shapes.push_back(std::make_unique<square>(i));
	for (auto &one : shapes) {
		try {
			sum += one->area();
		} catch (const std::exception &error) {
			std::printf("%s\n", error.what());
		}
	}
	only();
	only();
	print_coroutine();
	std::printf("%d %d %s %d %d\n", sum, counted::alive, largest(words)->c_str(), rethrow(7),
		names["weft"]);
	return 0;
}

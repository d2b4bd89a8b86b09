/* Units of work that are left by exceptions; later code is correct. */
#include <mutex>
#include <stdexcept>
#include <thread>

class Pair
{
      public:
	__attribute__((noinline)) void add(long much)
	{
		std::lock_guard<std::mutex> guard(mutex_);

		first_ += much;
		second_ += much;
	}

	/* Reads one half, and throws. */
	__attribute__((noinline)) long refuse() const
	{
		std::lock_guard<std::mutex> guard(mutex_);

		if (first_ >= 0)
			throw std::runtime_error("no");
		return first_;
	}

	__attribute__((noinline)) long second() const
	{
		std::lock_guard<std::mutex> guard(mutex_);

		return second_;
	}

      private:
	mutable std::mutex mutex_;
	long first_ = 0, second_ = 0;
};

static Pair pair;

int main()
{
	std::thread asker([] {
		for (int i = 0; i < 2; i++) {
			try {
				(void)pair.refuse();
			} catch (const std::runtime_error &) {
				if (pair.second() < 0)
					throw;
			}
		}
	});
	std::thread adder([] { pair.add(1); });

	asker.join();
	adder.join();
	return 0;
}

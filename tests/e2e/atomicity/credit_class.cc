/* credit.c as a class, whose copying constructor is the unit of work. */
#include <mutex>
#include <new>
#include <thread>

#include <raddle.h>

/* Progress of the copy, and its progress when interest was credited. */
static volatile int progress, credited_at;
RADDLE_NO_SET("progress");
RADDLE_NO_SET("credited_at");

class Account
{
      public:
	Account() = default;

	__attribute__((noinline)) explicit Account(Account *original)
	{
		set_equal_checking(original);
		set_equal_savings(original);
	}

	__attribute__((noinline)) void credit_interest()
	{
		std::lock_guard<std::mutex> guard(mutex_);

		credited_at = progress;
		checking_ += 10;
		savings_ += 10;
	}

	bool is_consistent() const
	{
		return checking_ == savings_;
	}

      private:
	__attribute__((noinline)) long checking()
	{
		std::lock_guard<std::mutex> guard(mutex_);

		return checking_;
	}

	__attribute__((noinline)) long savings()
	{
		std::lock_guard<std::mutex> guard(mutex_);

		return savings_;
	}

	__attribute__((noinline)) void set_equal_checking(Account *original)
	{
		{
			std::lock_guard<std::mutex> guard(mutex_);
			const long checking = original->checking();

			progress = 1;
			checking_ = checking;
			progress = 2;
		}
		progress = 3;
	}

	__attribute__((noinline)) void set_equal_savings(Account *original)
	{
		std::lock_guard<std::mutex> guard(mutex_);

		progress = 4;
		savings_ = original->savings();
	}

	std::mutex mutex_;
	long checking_ = 100, savings_ = 100;
};

static Account x;
alignas(Account) static unsigned char room[sizeof(Account)];
static Account *y;

int main()
{
	std::thread copier([] { y = new (room) Account(&x); });
	std::thread creditor([] { x.credit_interest(); });

	copier.join();
	creditor.join();
	if (y->is_consistent())
		return 0;
	return 10 + (credited_at ? credited_at : 1);
}

/* EXPECT: passed runs=300 needs=memory */
/* The twin of account_class: its copy constructor holds the original's lock for both balances. */
#include <cassert>
#include <mutex>
#include <thread>

class Account
{
      public:
	Account(long checking, long savings) : checking_(checking), savings_(savings)
	{
	}

	Account(const Account &original)
	{
		std::lock_guard<std::mutex> guard(original.mutex_);

		checking_ = original.checking_;
		savings_ = original.savings_;
	}

	long checking() const
	{
		std::lock_guard<std::mutex> guard(mutex_);
		return checking_;
	}

	long savings() const
	{
		std::lock_guard<std::mutex> guard(mutex_);
		return savings_;
	}

	long total() const
	{
		std::lock_guard<std::mutex> guard(mutex_);
		return checking_ + savings_;
	}

	void transfer(long amount)
	{
		std::lock_guard<std::mutex> guard(mutex_);
		checking_ -= amount;
		savings_ += amount;
	}

      private:
	mutable std::mutex mutex_;
	long checking_, savings_;
};

static Account account(100, 100);

int main()
{
	long total = 0;
	std::thread reporter([&total] {
		const Account copy(account);

		total = copy.total();
	});
	std::thread saver([] { account.transfer(50); });

	reporter.join();
	saver.join();
	assert(total == 200);
	assert(account.checking() + account.savings() == 200);
	return 0;
}

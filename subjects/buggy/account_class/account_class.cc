/* EXPECT: abort runs<=300 needs=memory */
/*
 * account_copy as a class: its copy constructor calls two locked members. After the running example of Lai,
 * Cheung and Chan, "Detecting Atomic-Set Serializability Violations in Multithreaded Programs through Active
 * Randomized Testing", ICSE 2010, section 2.
 *
 * Fails when: main.0 has copied the checking balance; main.1 transfers; main.0 copies the savings balance.
 *
 * EXPECT-PATTERN: R1x-W2x-W2y-R1y account.checking_ @checking @from @to @savings
 * EXPECT-VIOLATION: R1x-W2x-W2y-R1y Account::Account Account::transfer @checking @from @to @savings
 * EXPECT-BRANCH: assert(total == 200); [bug]
 */
#include <cassert>
#include <cstdlib>
#include <mutex>
#include <thread>

class Account
{
      public:
	Account(long checking, long savings) : checking_(checking), savings_(savings)
	{
	}

	Account(const Account &original)
	    : checking_(original.checking()), savings_(original.savings())
	{
	}

	long checking() const
	{
		std::lock_guard<std::mutex> guard(mutex_);
		return checking_; /* @checking */
	}

	long savings() const
	{
		std::lock_guard<std::mutex> guard(mutex_);
		return savings_; /* @savings */
	}

	long total() const
	{
		std::lock_guard<std::mutex> guard(mutex_);
		return checking_ + savings_;
	}

	void transfer(long amount)
	{
		std::lock_guard<std::mutex> guard(mutex_);
		checking_ -= amount; /* @from */
		savings_ += amount;  /* @to */
	}

      private:
	mutable std::mutex mutex_;
	long checking_, savings_;
};

static Account account(100, 100);

/* Steps of its own that the second thread makes first: the first argument. */
static long steps_apart;

static void stay_apart()
{
	static std::mutex own;
	const long steps = steps_apart;

	for (long left = steps; left > 0; left--)
		std::lock_guard<std::mutex> guard(own);
}

int main(int count, char **arguments)
{
	steps_apart = count > 1 ? std::atol(arguments[1]) : 0;
	long total = 0;
	std::thread reporter([&total] {
		const Account copy(account);

		total = copy.total();
	});
	std::thread saver([] {
		stay_apart();
		account.transfer(50);
	});

	reporter.join();
	saver.join();
	assert(total == 200);
	assert(account.checking() + account.savings() == 200);
	return 0;
}

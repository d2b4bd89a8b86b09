// Two asynchronous withdrawals overdraw an account.
#include <cstdio>
#include <future>

struct account {
	int balance = 100;
	bool withdraw(int amount)
	{
		if (balance < amount)
			return false;
		balance -= amount;
		return true;
	}
};

int main()
{
	account shared;
	auto first = std::async(std::launch::async, [&] { return shared.withdraw(80); });
	auto second = std::async(std::launch::async, [&] { return shared.withdraw(80); });
	const bool both = first.get() & second.get();

	std::printf("balance %d\n", shared.balance);
	return both;
}

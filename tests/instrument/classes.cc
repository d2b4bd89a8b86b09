// Members of classes, in namespaces and inherited; compiled with -O1.
// clang-format off
#include <atomic>

namespace bank
{
struct base {
	long number;
};

class account : public base
{
public:
	int balance;
	std::atomic<int> version;
	void pay(int sum);
	int look() const;
};

void account::pay(int sum)
{
	balance += sum; // SITES: load 4 account.balance, store 4 account.balance
	number = 7;	// SITES: store 8 base.number
}

int account::look() const
{
	return balance; // SITES: load 4 account.balance
}
} // namespace bank

thread_local int own;
int read_own() { return own; } // SITES: load 4

// Three transfers lock the accounts of a ring in one order each. The lock's class is a short one of the program.
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct account {
	std::mutex lock;
	long balance = 100;
};

class holding
{
	std::mutex &mutex_;

      public:
	explicit holding(std::mutex &mutex) : mutex_(mutex)
	{
		mutex_.lock();
	}
	~holding()
	{
		mutex_.unlock();
	}
};

static void transfer(account &from, account &to)
{
	holding giver(from.lock);
	holding taker(to.lock);

	from.balance--;
	to.balance++;
}

int main()
{
	std::vector<std::unique_ptr<account>> ring;
	std::vector<std::thread> threads;

	for (int i = 0; i < 3; i++)
		ring.push_back(std::make_unique<account>());
	for (int i = 0; i < 3; i++)
		threads.emplace_back([&, i] { transfer(*ring[i], *ring[(i + 1) % 3]); });
	for (std::thread &thread : threads)
		thread.join();
	return 0;
}

// Objects of the heap in C++, whose types the allocation gives; each mode has a race on one of them.
#include <atomic>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

namespace market
{
struct Order {
	long price = 1, amount = 2;
};
} // namespace market

struct Stream {
	virtual ~Stream() = default;
};

static std::shared_ptr<market::Order> shared;
static std::vector<market::Order> list;
static market::Order *single;
static std::queue<int> waiting;

static void fill(Stream *)
{
	shared = std::make_shared<market::Order>();
	list.resize(3);
	single = new market::Order;
	waiting.push(1);
}

int main()
{
	Stream stream;

	fill(&stream);
	auto change = [] {
#if BLOCK == 1
		shared->amount++;
#elif BLOCK == 2
		list[2].amount++;
#elif BLOCK == 3
		single->amount++;
#elif BLOCK == 6
		static std::atomic<int> threads;
		if (threads++)
			shared = std::make_shared<market::Order>();
		else
			auto seen = shared;
#elif BLOCK == 5
		auto seen = shared;
		shared = std::make_shared<market::Order>(); // replaced
#else
		waiting.pop();
#endif
	};
	std::thread one(change), two(change);
	one.join();
	two.join();
}

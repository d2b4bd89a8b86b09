// Locks in an object whose class is in an unnamed namespace. Two threads take two of them in opposite orders.
#include <memory>
#include <mutex>
#include <thread>

namespace books
{
namespace
{
struct page {
	std::mutex lock;
	int sum = 0;
};

struct ledger {
	page pages[3];
};
} // namespace

static ledger *open()
{
	return new ledger;
}

static void move(page &from, page &to)
{
	std::lock_guard<std::mutex> first(from.lock);
	std::lock_guard<std::mutex> second(to.lock);

	from.sum--;
	to.sum++;
}
} // namespace books

int main()
{
	std::unique_ptr<books::ledger> ledger(books::open());
	std::thread one([&ledger] { books::move(ledger->pages[0], ledger->pages[2]); });
	std::thread two([&ledger] { books::move(ledger->pages[2], ledger->pages[0]); });

	one.join();
	two.join();
}

/* Two threads append to a list without a lock: of the nodes that its ends know one may be lost. */
#include <cassert>
#include <iterator>
#include <list>
#include <thread>

int main()
{
	std::list<int> numbers;
	std::thread other([&] { numbers.push_back(1); });

	numbers.push_back(2);
	other.join();
	assert(std::distance(numbers.begin(), numbers.end()) == 2);
	return 0;
}

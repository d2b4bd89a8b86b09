/* main reads the elements of a vector, which another thread moves to a larger block. */
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

static std::vector<int> elements{1, 2, 3, 4};
static std::mutex lock;

int main()
{
	int sum;

	elements.shrink_to_fit();
	std::thread other([] {
		std::lock_guard guard(lock);

		elements.push_back(5); // MOVED
	});
	sum = std::accumulate(elements.begin(), elements.end(), 0); // READ
	other.join();
	return sum != 10 && sum != 15;
}

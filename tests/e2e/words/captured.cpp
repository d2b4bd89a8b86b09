// Two threads append to a vector of main's, which their lambdas capture by reference. Main has returned when the wrong
// size is the exit status.
#include <thread>
#include <vector>

int main()
{
	std::vector<int> jobs;
	std::thread first([&] { jobs.push_back(1); });
	std::thread second([&] { jobs.push_back(2); });

	first.join();
	second.join();
	return jobs.size() != 2;
}

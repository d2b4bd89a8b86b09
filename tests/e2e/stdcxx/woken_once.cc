// Two threads wait for an atomic variable, and one is woken. Both must have read the variable as often as the library
// does before it blocks, while main does not move. With an argument all are woken.
#include <atomic>
#include <thread>

int main(int argc, char **)
{
	std::atomic<int> state{0};
	auto wait = [&state] { state.wait(0); };
	std::thread first(wait), second(wait);

	state.store(1);
	if (argc > 1)
		state.notify_all();
	else
		state.notify_one();
	first.join();
	second.join();
}

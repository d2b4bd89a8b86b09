// Two consumers wait for a queue that is closed by a call in main.
#include "closing.hpp"

#include <thread>

int main()
{
	closing_queue<int> queue;
	auto consume = [&] {
		for (int item; queue.pop(item);)
			;
	};
	std::thread first(consume), second(consume);

	queue.push(1);
	queue.close();
	first.join();
	second.join();
	return 0;
}

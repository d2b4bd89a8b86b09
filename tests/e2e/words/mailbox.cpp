// A letter is announced without the lock, so the reader may begin to wait behind the only signal.
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

class Mailbox
{
      public:
	void put(int letter)
	{
		letters_.push_back(letter);
		arrived_.notify_one();
	}

	int take()
	{
		std::unique_lock<std::mutex> guard(lock_);

		while (letters_.empty())
			arrived_.wait(guard);
		return letters_.front();
	}

      private:
	std::mutex lock_;
	std::condition_variable arrived_;
	std::vector<int> letters_;
};

int main()
{
	Mailbox mailbox;
	std::thread reader([&] {
		if (mailbox.take() != 7)
			throw std::logic_error("a letter of somebody else's");
	});

#ifdef WRONG_LETTER
	mailbox.put(8);
#else
	mailbox.put(7);
#endif
	reader.join();
}

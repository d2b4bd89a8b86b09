// Further cases of C++: tables of virtual functions, exceptions, local statics, standard atomics.
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>

struct base {
	virtual ~base();
	virtual int value() = 0;
	int number = 1;
};

struct derived : base {
	~derived() override
	{
		number = 0;
	}
	int value() override
	{
		return number++;
	}
};

base *make()
{
	return new derived;
}
base::~base()
{
	number++;
}

std::atomic<int> count;
std::atomic<void *> pointer;
std::shared_ptr<std::string> shared;

int work(base *object)
{
	static std::string name = std::to_string(object->value());

	try {
		count.fetch_add(1);
		pointer.store(object);
		if (object->value() == 7)
			throw std::runtime_error(name);
	} catch (const std::exception &error) {
		shared = std::make_shared<std::string>(error.what());
	}
	return static_cast<int>(shared->size()) + count.load(std::memory_order_relaxed);
}

// Prints a digest of locals without values: a read of memory below the frames that ran before main.
#include <cstdint>
#include <cstdio>
#include <thread>

__attribute__((noinline)) static std::uint64_t digest()
{
	volatile std::uint64_t locals[1000];
	std::uint64_t digest = 1;

	for (std::uint64_t value : locals)
		digest = (digest ^ value) * 0x9e3779b97f4a7c15u;
	return digest;
}

int main()
{
	const std::uint64_t before = digest();

	std::thread([before] { std::printf("locals %llx\n", (unsigned long long)before); }).join();
}

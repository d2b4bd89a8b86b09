/* std::string, whose functions its header has, but says to be in the library (tree.cc). */
#include <string>

template class std::basic_string<char>;

/* Instantiates std::string, whose header declares its functions as part of the library (see tree.cc). */
#include <string>

template class std::basic_string<char>;

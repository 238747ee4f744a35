// Compiles the sources of Boost.URL once, which Boost 1.81 has as headers, too: of the library, which is one object,
// the linker would keep all 220 KB, of these 24 KB. Later releases of Boost have the library only (see CMakeLists.txt).
#if __has_include(<boost/url/src.hpp>)
#include <boost/url/src.hpp>
#endif

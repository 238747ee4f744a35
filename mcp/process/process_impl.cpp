// Boost.Process v2's own code, compiled once.
// clang-format off: Boost 1.81 forgets the first three includes; later versions do not need them.
#include <boost/optional.hpp>
#include <boost/type_traits.hpp>
#include <boost/asio/detail/throw_error.hpp>

#include <boost/process/v2/src.hpp>
// clang-format on

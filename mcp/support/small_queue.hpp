// A queue for objects of which there are thousands: it owns no memory before its first element, and little afterwards.
// std::deque owns more than half a KiB from the beginning.
#pragma once
#include <boost/container/deque.hpp>

namespace mcpbx {

/// References to elements stay valid while only the ends change.
template <class T>
using small_queue =
    boost::container::deque<T, void, boost::container::deque_options_t<boost::container::block_bytes<128>>>;

}  // namespace mcpbx

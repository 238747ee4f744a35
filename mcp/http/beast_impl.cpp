// The one place where Beast's and Asio's TLS sources are compiled (BOOST_BEAST_SEPARATE_COMPILATION and
// BOOST_ASIO_SEPARATE_COMPILATION for everybody else).
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>

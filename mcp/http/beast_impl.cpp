// Compiles Beast's and Asio's TLS sources once. All other files use BOOST_BEAST_SEPARATE_COMPILATION and
// BOOST_ASIO_SEPARATE_COMPILATION.
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>

// Reads and writes percent-encoding. Boost.URL writes it. It reads no text that has a wrong escape, such as "100%", and
// so much of what callers, servers and models send; such text must be read as far as it can be, since checks of names
// and secrets look at what comes out.
#include "mcp/support/percent.hpp"

#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>

#include <charconv>

namespace mcpbx {
namespace {

// Set of characters that stay, in the form that Boost.URL asks for.
struct plain_characters {
  std::string_view kept;
  bool operator()(char c) const noexcept { return boost::urls::unreserved_chars(c) || kept.contains(c); }
};

}  // namespace

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr == text.data() + i + 3) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string percent_encoded(std::string_view text, std::string_view kept) {
  return boost::urls::encode(text, plain_characters{kept});
}

}  // namespace mcpbx

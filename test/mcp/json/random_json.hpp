// JSON texts made from a seed: documents with every token kind, odd blanks and escapes, and damage done to them.
#pragma once
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace mcpbx::test {

class random_json {
 public:
  explicit random_json(std::uint64_t seed) : engine_(seed) {}

  /// A well-formed value, at most `levels` deep.
  std::string value(int levels) {
    std::string out;
    append_value(out, levels);
    return out;
  }

  /// `text` with one to three small changes; often no JSON any more, sometimes still.
  std::string damaged(std::string text) {
    for (unsigned changes = 1 + below(3); changes > 0 && !text.empty(); --changes) {
      const std::size_t at = below(static_cast<unsigned>(text.size()));
      switch (below(6)) {
        case 0:
          text.erase(at, 1 + below(3));
          break;
        case 1:
          text.insert(at, 1, odd_byte());
          break;
        case 2:
          text[at] = odd_byte();
          break;
        case 3:
          text.resize(at);
          break;
        case 4:
          text.insert(at, text.substr(below(static_cast<unsigned>(text.size())), below(8)));
          break;
        default:
          text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ 1u << below(8));
      }
    }
    return text;
  }

  unsigned below(unsigned n) { return static_cast<unsigned>(engine_() % n); }

 private:
  char odd_byte() {
    using namespace std::string_view_literals;
    constexpr auto odd = "{}[]\",:\\/ue+-.0129tfn \t\n\r\x00\x1f\x7f\x80\xbf\xc0\xc2\xe0\xed\xef\xf0\xf4\xf5\xff"sv;
    return odd[below(odd.size())];
  }
  void blanks(std::string& out) {
    for (unsigned n = below(8) == 0 ? below(4) : 0; n > 0; --n) out += " \t\n\r"[below(4)];
  }
  void append_string(std::string& out) {
    constexpr std::array<std::string_view, 16> parts = {"a",       "plain words, longer than one block of sixteen",
                                                        "\\n",     "\\\"",
                                                        "\\\\",    "\\/",
                                                        "\\u00e9", "\\uD83D\\uDE00",
                                                        "\\u0000", "é",
                                                        "€",       "😀",
                                                        "\x7f",    "\xF4\x8F\xBF\xBF",
                                                        "{[,:]}",  ""};
    out += '"';
    for (unsigned n = below(5); n > 0; --n) out += parts[below(parts.size())];
    out += '"';
  }
  void append_number(std::string& out) {
    constexpr std::array<std::string_view, 14> numbers = {
        "0",       "-0",  "1",    "-1",   "12345678901234567890123", "0.1", "1.0",
        "-12.5e3", "1E5", "2e-7", "3e+2", "9007199254740993",        "0e0", "0.00"};
    out += numbers[below(numbers.size())];
  }
  void append_value(std::string& out, int levels) {
    blanks(out);
    switch (below(levels > 0 ? 9 : 5)) {
      case 0:
        append_string(out);
        break;
      case 1:
        append_number(out);
        break;
      case 2:
        out += "true";
        break;
      case 3:
        out += "false";
        break;
      case 4:
        out += "null";
        break;
      case 5:
      case 6: {
        out += '[';
        blanks(out);
        for (unsigned n = below(5), i = 0; i < n; ++i) {
          if (i > 0) out += ',';
          append_value(out, levels - 1);
        }
        out += ']';
        break;
      }
      default: {
        out += '{';
        blanks(out);
        for (unsigned n = below(5), i = 0; i < n; ++i) {
          if (i > 0) out += ',';
          blanks(out);
          append_string(out);
          blanks(out);
          out += ':';
          append_value(out, levels - 1);
        }
        out += '}';
      }
    }
    blanks(out);
  }
  std::mt19937_64 engine_;
};

}  // namespace mcpbx::test

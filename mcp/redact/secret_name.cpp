// The words that names of secrets have.
#include "mcp/redact/secret_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace mcpbx::redact {

using namespace std::literals;

bool secret_name(std::string_view name) {
  std::string upper(name);
  for (auto& c : upper) c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  static constexpr std::array marks{"TOKEN"sv,
                                    "SECRET"sv,
                                    "PASSWORD"sv,
                                    "PASSWD"sv,
                                    "PASSPHRASE"sv,
                                    "PASSCODE"sv,
                                    "API_KEY"sv,
                                    "APIKEY"sv,
                                    "ACCESS_KEY"sv,
                                    "PRIVATE_KEY"sv,
                                    "DATABASE_URL"sv,
                                    "DATABASE_URI"sv,
                                    "CONNECTION_STRING"sv,
                                    "CREDENTIAL"sv,
                                    "AUTHORIZATION"sv,
                                    "COOKIE"sv,
                                    "WEBHOOK"sv};
  // These mean a secret only as the last word of a name: PATH, COMPASS and KEYBOARD are harmless.
  static constexpr std::array last_words{"KEY"sv, "PAT"sv, "PASS"sv, "PWD"sv, "DSN"sv, "JWT"sv, "CREDS"sv};
  const auto last = std::string_view(upper).substr(upper.rfind('_') + 1);
  if (upper == "PWD") return false;  // the working directory
  return std::ranges::find(last_words, last) != last_words.end() ||
         std::ranges::any_of(marks, [&](std::string_view m) { return upper.find(m) != upper.npos; });
}

}  // namespace mcpbx::redact

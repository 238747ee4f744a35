// Questions of a tool server to a person (elicitation/create): a form of a few simple fields, or an address to visit
// (2025-11-25 and 2026-07-28, Elicitation). Reads the request, checks and fills in the answer. The schema is a small
// part of JSON Schema, so that a terminal can ask field by field.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::questions {

/// Kind of one field, from the schema of its property.
enum class input_kind : std::uint8_t {
  text,
  number,
  integer,
  boolean,
  choice,  ///< one of the options
  choices  ///< any number of them
};

struct input_option {
  std::string value;
  std::string label;  ///< text for people; "": the value is its own
};

/// One property of a requested schema. All texts are the server's.
struct input_field {
  std::string name, title, description;
  input_kind kind = input_kind::text;
  bool required = false;
  std::string format;                       ///< of a text: email, uri, date or date-time; "": any text
  std::optional<std::int64_t> least, most;  ///< characters of a text, or number of choices
  std::optional<double> minimum, maximum;   ///< of a number
  std::vector<input_option> options;        ///< of a choice
  json::raw_json usual;                     ///< the default, if it fits the field; absent: none
};

/// A question as its server asked it.
struct input_request {
  bool is_url = false;  ///< the person is to visit an address; else to fill in a form
  std::string message;  ///< the server's text
  std::string url;      ///< http or https
  std::string host;     ///< of the url, without user and port
  std::string id;       ///< elicitationId of a legacy server's url, or ""
  std::vector<input_field> fields;

  const input_field* find(std::string_view name) const;
};

/// Bounds of one question.
inline constexpr std::size_t most_input_bytes = 256U << 10, most_input_fields = 64, most_input_options = 1'000;

/// Reads the params of elicitation/create. errc::invalid_argument with a clause for the server: no message, a schema
/// with anything but simple properties, an address that is none. errc::limit: a bound is exceeded.
result<input_request> read_input_request(const json::raw_json& params);

/// Returns a clause that says why a value does not fit a field, such as `expected a whole number, got "x"`; "" if it
/// fits.
std::string fault_of(const input_field& field, const json::raw_json& value);
/// Makes a value of words that a person typed: yes or no, a number, the number, the text or the value of an option;
/// several with commas between them. A number within the list always means the place in it, and the text that is shown
/// goes before the value of another option. errc::invalid_argument with a clause.
result<json::raw_json> value_of_words(const input_field& field, std::string_view typed);

/// Checks the content of an answer to a form: an object with fields of the form only, and all required ones.
/// errc::invalid_argument names the field.
result<void> check_content(const input_request& form, const json::raw_json& content);
/// Returns the content that has the defaults of all fields. errc::invalid_argument names the required fields without
/// one.
result<json::raw_json> usual_content(const input_request& form);

/// Returns the result for the server: `{"action":"accept","content":…}`. An absent content is left out.
json::raw_json input_answer(std::string_view action, const json::raw_json& content = {});

}  // namespace mcpbx::mcp::questions

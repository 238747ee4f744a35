// Reads and checks forms. A schema that does not keep to the simple properties of the specification is refused whole,
// because a person would answer something else than the server asked.
#include "mcp/protocol/questions/elicitation.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/questions/input_formats.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

namespace mcpbx::mcp::questions {
namespace {

constexpr std::size_t most_quoted = 80;

std::unexpected<error> wrong(std::string what) {
  return fail(errc::invalid_argument, std::move(what));
}

std::optional<double> number_of(const json::raw_json& value) {
  if (value.type() != json::raw_json::kind::number) return std::nullopt;
  const auto text = value.text();
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string shown(double number) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  return {digits, end};
}

std::string shown(const json::raw_json& value) {
  if (value.empty()) return "nothing";
  const auto text = cut_utf8(value.text(), most_quoted);
  return std::string(text) + (text.size() < value.text().size() ? "…" : "");
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// Reads the options of `enum` (with the older `enumNames`), or of a list of {const, title}. Returns false if there are
// none, or too many, or one is no text.
bool read_options(const json::raw_json& schema, std::string_view titled, std::vector<input_option>& to) {
  bool good = true;
  if (const auto list = json::find_member(schema, titled); list.is_array()) {
    json::for_each_element(list, [&](const json::raw_json& one) {
      const auto value = json::find_member(one, "const").as_string();
      good = value.has_value() && to.size() < most_input_options;
      if (good) to.push_back({*value, json::member_text(one, "title")});
      return good;
    });
  } else if (const auto values = json::find_member(schema, "enum"); values.is_array()) {
    json::for_each_element(values, [&](const json::raw_json& one) {
      const auto value = one.as_string();
      good = value.has_value() && to.size() < most_input_options;
      if (good) to.push_back({*value, {}});
      return good;
    });
    std::size_t at = 0;
    json::for_each_element(json::find_member(schema, "enumNames"), [&](const json::raw_json& name) {
      if (at >= to.size()) return false;
      to[at++].label = name.as_string().value_or("");
      return true;
    });
  }
  return good && !to.empty();
}

std::optional<std::int64_t> count_in(const json::raw_json& schema, std::string_view key) {
  const auto number = number_of(json::find_member(schema, key));
  if (!number || *number < 0 || *number > 1e15) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

result<input_field> read_field(std::string_view name, const json::raw_json& schema) {
  const std::string what = "requestedSchema.properties." + json::json_quoted(cut_utf8(name, most_quoted));
  if (!schema.is_object()) return wrong(what + " is no object");
  input_field f;
  f.name = name;
  f.title = json::member_text(schema, "title");
  f.description = json::member_text(schema, "description");
  const auto type = json::member_text(schema, "type");
  if (type == "string") {
    const bool listed = json::find_member(schema, "enum") || json::find_member(schema, "oneOf");
    f.kind = listed ? input_kind::choice : input_kind::text;
    if (listed && !read_options(schema, "oneOf", f.options))
      return wrong(what + " has no list of texts to choose from");
    f.format = json::member_text(schema, "format");
    f.least = count_in(schema, "minLength");
    f.most = count_in(schema, "maxLength");
  } else if (type == "number" || type == "integer") {
    f.kind = type == "number" ? input_kind::number : input_kind::integer;
    f.minimum = number_of(json::find_member(schema, "minimum"));
    f.maximum = number_of(json::find_member(schema, "maximum"));
  } else if (type == "boolean") {
    f.kind = input_kind::boolean;
  } else if (type == "array") {
    f.kind = input_kind::choices;
    if (!read_options(json::find_member(schema, "items"), "anyOf", f.options))
      return wrong(what + " has no list of texts to choose from");
    f.least = count_in(schema, "minItems");
    f.most = count_in(schema, "maxItems");
  } else {
    return wrong(what + " has a type that forms do not have: " + shown(json::find_member(schema, "type")));
  }
  if (const auto usual = json::find_member(schema, "default"); usual && fault_of(f, usual).empty()) f.usual = usual;
  return f;
}

result<void> read_form(const json::raw_json& schema, input_request& to) {
  if (!schema.is_object()) return wrong("requestedSchema is no object");
  if (const auto type = json::find_member(schema, "type"); type && type.as_string() != "object")
    return wrong("requestedSchema has a type other than object");
  const auto given = json::find_member(schema, "properties");
  if (!given) return {};  // a question without fields asks for a yes
  if (!given.is_object()) return wrong("requestedSchema.properties is no object");
  const auto properties = json::raw_object::open(given, {}, most_input_fields);
  if (!properties && properties.error().code == errc::limit)
    return fail(errc::limit, "the form has more than " + std::to_string(most_input_fields) + " fields");
  if (!properties) return wrong("requestedSchema.properties: " + properties.error().message);
  std::set<std::string, std::less<>> required;
  json::for_each_element(json::find_member(schema, "required"), [&](const json::raw_json& name) {
    required.insert(name.as_string().value_or(""));
    return required.size() <= most_input_fields;
  });
  result<void> read;
  properties->for_each([&](std::string_view name, const json::raw_json& property) {
    if (!read) return;
    if (to.find(name)) {
      read = wrong("requestedSchema.properties has " + json::json_quoted(cut_utf8(name, most_quoted)) + " twice");
      return;
    }
    auto field = read_field(name, property);
    if (!field) {
      read = std::unexpected(std::move(field.error()));
      return;
    }
    field->required = required.contains(name);
    to.fields.push_back(std::move(*field));
  });
  return read;
}

bool is_option(const input_field& f, std::string_view value) {
  return std::ranges::find(f.options, value, &input_option::value) != f.options.end();
}

std::string options_of(const input_field& f) {
  std::string all;
  for (const auto& one : f.options) {
    if (all.size() > 4 * most_quoted) return all + ", …";
    all += (all.empty() ? "" : ", ") + json::json_quoted(cut_utf8(one.value, most_quoted));
  }
  return all;
}

std::string fault_of_text(const input_field& f, std::string_view text) {
  const auto length = static_cast<std::int64_t>(characters(text));
  if (f.least && length < *f.least)
    return "expected at least " + counted(*f.least, "character") + ", got " + std::to_string(length);
  if (f.most && length > *f.most)
    return "expected at most " + counted(*f.most, "character") + ", got " + std::to_string(length);
  if (const auto form = unmet_format(f.format, text); !form.empty())
    return "expected " + std::string(form) + ", got " + json::json_quoted(cut_utf8(text, most_quoted));
  return {};
}

std::string fault_of_number(const input_field& f, const json::raw_json& value) {
  const bool whole = f.kind == input_kind::integer;
  const auto number = number_of(value);
  if (!number || (whole && std::floor(*number) != *number))
    return std::string("expected ") + (whole ? "a whole number" : "a number") + ", got " + shown(value);
  if (f.minimum && *number < *f.minimum) return "expected at least " + shown(*f.minimum) + ", got " + shown(value);
  if (f.maximum && *number > *f.maximum) return "expected at most " + shown(*f.maximum) + ", got " + shown(value);
  return {};
}

std::string fault_of_choices(const input_field& f, const json::raw_json& value) {
  if (!value.is_array()) return "expected a list of texts, got " + shown(value);
  std::set<std::string> chosen;
  std::string fault;
  json::for_each_element(value, [&](const json::raw_json& one) {
    const auto text = one.as_string();
    if (!text || !is_option(f, *text))
      fault = "expected only " + options_of(f) + ", got " + shown(one);
    else if (!chosen.insert(*text).second)
      fault = "expected each only once, got " + shown(one) + " twice";
    return fault.empty();
  });
  if (!fault.empty()) return fault;
  const auto count = static_cast<std::int64_t>(chosen.size());
  if (f.least && count < *f.least)
    return "expected at least " + std::to_string(*f.least) + " of the list, got " + std::to_string(count);
  if (f.most && count > *f.most)
    return "expected at most " + std::to_string(*f.most) + " of the list, got " + std::to_string(count);
  return {};
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// Finds an option by its number in the list, by the text that people see of it, or by its value, in this order: what
// the list shows always means what it shows, however the server has named the values.
const input_option* option_of(const input_field& f, std::string_view typed) {
  std::size_t number = 0;
  const auto read = std::from_chars(typed.data(), typed.data() + typed.size(), number);
  const bool is_number = read.ec == std::errc() && read.ptr == typed.data() + typed.size();
  if (is_number && number >= 1 && number <= f.options.size()) return &f.options[number - 1];
  const auto wanted = lower(typed);
  const auto shown_as = [](const input_option& one) -> const std::string& {
    return one.label.empty() ? one.value : one.label;
  };
  const auto first = [&](const auto& fits) -> const input_option* {
    const auto found = std::ranges::find_if(f.options, fits);
    return found == f.options.end() ? nullptr : &*found;
  };
  if (const auto* o = first([&](const input_option& one) { return shown_as(one) == typed; })) return o;
  if (const auto* o = first([&](const input_option& one) { return lower(shown_as(one)) == wanted; })) return o;
  if (const auto* o = first([&](const input_option& one) { return one.value == typed; })) return o;
  return first([&](const input_option& one) { return lower(one.value) == wanted; });
}

result<json::raw_json> checked(const input_field& f, json::raw_json value) {
  if (auto fault = fault_of(f, value); !fault.empty()) return wrong(std::move(fault));
  return value;
}

result<json::raw_json> choices_of_words(const input_field& f, std::string_view typed) {
  std::vector<std::string> values;
  while (!typed.empty()) {
    const auto end = std::min(typed.find(','), typed.size());
    const auto word = trimmed(typed.substr(0, end));
    typed.remove_prefix(std::min(end + 1, typed.size()));
    if (word.empty()) continue;
    const auto* option = option_of(f, word);
    if (!option) return wrong("expected some of the list, got " + json::json_quoted(cut_utf8(word, most_quoted)));
    if (std::ranges::find(values, option->value) == values.end()) values.push_back(option->value);
  }
  std::string json;
  json::json_writer w(json);
  w.begin_array();
  for (const auto& v : values) w.value(v);
  w.end_array();
  return checked(f, w.json());
}

}  // namespace

const input_field* input_request::find(std::string_view name) const {
  const auto found = std::ranges::find(fields, name, &input_field::name);
  return found == fields.end() ? nullptr : &*found;
}

result<input_request> read_input_request(const json::raw_json& params) {
  if (params.text().size() > most_input_bytes)
    return fail(errc::limit, "the question has more than " + std::to_string(most_input_bytes) + " bytes");
  input_request r;
  const auto message = json::find_member(params, "message").as_string();
  if (!message) return wrong("message is no text");
  r.message = *message;
  const auto mode = json::find_member(params, "mode");
  if (mode && mode.as_string() != "form" && mode.as_string() != "url") return wrong("the mode is neither form nor url");
  r.is_url = mode.as_string() == "url";
  if (!r.is_url) {
    if (auto read = read_form(json::find_member(params, "requestedSchema"), r); !read)
      return std::unexpected(read.error());
    return r;
  }
  r.url = json::member_text(params, "url");
  r.id = json::member_text(params, "elicitationId");
  r.host = host_of_url(r.url);
  if (r.host.empty()) return wrong("url is no address of http or https");
  return r;
}

std::string fault_of(const input_field& f, const json::raw_json& value) {
  switch (f.kind) {
    case input_kind::text:
      if (const auto text = value.as_string()) return fault_of_text(f, *text);
      return "expected a text, got " + shown(value);
    case input_kind::number:
    case input_kind::integer:
      return fault_of_number(f, value);
    case input_kind::boolean:
      return value.type() == json::raw_json::kind::boolean ? "" : "expected true or false, got " + shown(value);
    case input_kind::choice:
      if (const auto text = value.as_string(); text && is_option(f, *text)) return {};
      return "expected one of " + options_of(f) + ", got " + shown(value);
    case input_kind::choices:
      return fault_of_choices(f, value);
  }
  return {};
}

result<json::raw_json> value_of_words(const input_field& f, std::string_view typed) {
  switch (f.kind) {
    case input_kind::text:
      return checked(f, json::raw_json::string(typed));
    case input_kind::number:
    case input_kind::integer: {
      auto value = json::raw_json::parse(trimmed(typed));
      if (!value || value->type() != json::raw_json::kind::number)
        return wrong(std::string("expected ") + (f.kind == input_kind::integer ? "a whole number" : "a number") +
                     ", got " + json::json_quoted(cut_utf8(typed, most_quoted)));
      return checked(f, std::move(*value));
    }
    case input_kind::boolean: {
      const auto word = lower(trimmed(typed));
      if (word == "y" || word == "yes" || word == "true") return json::raw_json::literal("true");
      if (word == "n" || word == "no" || word == "false") return json::raw_json::literal("false");
      return wrong("expected yes or no, got " + json::json_quoted(cut_utf8(typed, most_quoted)));
    }
    case input_kind::choice: {
      const auto* option = option_of(f, trimmed(typed));
      if (!option) return wrong("expected one of the list, got " + json::json_quoted(cut_utf8(typed, most_quoted)));
      return json::raw_json::string(option->value);
    }
    case input_kind::choices:
      return choices_of_words(f, typed);
  }
  return wrong("expected a value");
}

result<void> check_content(const input_request& form, const json::raw_json& content) {
  if (!content.is_object())
    return wrong("content: expected an object with the fields of the form, got " + shown(content));
  const auto given = json::raw_object::open(content, {}, most_input_fields);
  if (!given) return wrong("content: " + given.error().message);
  const auto place = [](std::string_view name) { return "content." + std::string(cut_utf8(name, most_quoted)) + ": "; };
  result<void> right;
  given->for_each([&](std::string_view name, const json::raw_json& value) {
    if (!right) return;
    const auto* field = form.find(name);
    if (!field) {
      std::vector<std::string_view> known;
      for (const auto& f : form.fields) known.push_back(f.name);
      right = wrong(place(name) + "the form has no such field" + did_you_mean(name, known));
      return;
    }
    if (auto fault = fault_of(*field, value); !fault.empty()) right = wrong(place(name) + fault);
  });
  if (!right) return right;
  for (const auto& f : form.fields)
    if (f.required && !given->contains(f.name)) return wrong(place(f.name) + "expected a value, got nothing");
  return {};
}

result<json::raw_json> usual_content(const input_request& form) {
  std::string json, missing;
  json::json_writer w(json);
  w.begin_object();
  for (const auto& f : form.fields) {
    if (f.usual) w.member(f.name, f.usual);
    if (f.required && !f.usual)
      missing += (missing.empty() ? "" : ", ") + json::json_quoted(cut_utf8(f.name, most_quoted));
  }
  w.end_object();
  if (!missing.empty()) return wrong("the form has no default for " + missing);
  return w.json();
}

json::raw_json input_answer(std::string_view action, const json::raw_json& content) {
  std::string json;
  json::json_writer w(json);
  w.begin_object().member("action", action).given("content", content).end_object();
  return w.json();
}

}  // namespace mcpbx::mcp::questions

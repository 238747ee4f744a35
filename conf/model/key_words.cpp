// Phrases for errors, one per shape of a value, so that the same fault reads the same under every key.
#include "conf/model/key_words.hpp"

namespace mcpbx::conf::model {
namespace {

std::string number_text(double v) {
  auto s = std::to_string(v);
  while (s.ends_with('0')) s.pop_back();
  if (s.ends_with('.')) s.pop_back();
  return s;
}

}  // namespace

std::string expected(const key_spec& k) {
  switch (k.kind) {
    case shape::boolean:
      return "true or false";
    case shape::whole:
      return std::string("a whole number") + (k.in_milliseconds ? " of milliseconds" : "") + " from " +
             std::to_string(k.low) + " to " + std::to_string(k.high);
    case shape::real:
      return "a number from " + number_text(k.real_low) + " to " + number_text(k.real_high);
    case shape::word:
      return "one of " + listed(k.words);
    case shape::text:
    case shape::plain:
      return "a string";
    case shape::texts:
    case shape::plains:
      return "a list of strings";
    case shape::entries:
      return "a list of strings and objects";
    case shape::text_map:
    case shape::plain_map:
      return "an object of strings";
    case shape::whole_map:
      return std::string("an object of whole numbers") + (k.in_milliseconds ? " of milliseconds" : "") + " from " +
             std::to_string(k.low) + " to " + std::to_string(k.high);
    case shape::switch_or_text:
      return "true, false or a string";
    case shape::any_object:
    case shape::section:
    case shape::named:
      return "an object";
  }
  return "";
}

std::string mend_kind(const key_spec& k, const documents::node& n) {
  const std::string instead = k.default_json.empty() ? "" : " (the default is " + k.default_json + ")";
  if (n.is(documents::node::kind::null)) return "take the key out if you mean the default" + instead;
  switch (k.kind) {
    case shape::boolean:
      return n.text == "true" || n.text == "false" ? "write " + n.text + " without quotes"
                                                   : "write true or false" + instead;
    case shape::whole:
    case shape::real:
      if (n.is(documents::node::kind::string)) return "write it as a number without quotes" + instead;
      return "write a " + std::string(k.kind == shape::whole ? "whole " : "") + "number in this range" + instead;
    case shape::word:
      return "write one of these words in quotes" + instead;
    case shape::text:
    case shape::plain:
      if (n.is(documents::node::kind::array))
        return k.name == "command" ? "write the program here and its arguments in \"args\"" : "write one string";
      return "write it in quotes" + instead;
    case shape::texts:
    case shape::plains:
    case shape::entries:
      return "write [\"…\"]";
    case shape::text_map:
    case shape::plain_map:
      return "write {\"NAME\": \"…\"}";
    case shape::whole_map:
      return "write {\"GLOB\": NUMBER}";
    case shape::switch_or_text:
      return "write true, false or a text in quotes" + instead;
    case shape::any_object:
    case shape::section:
    case shape::named:
      return "write { … }";
  }
  return "";
}

}  // namespace mcpbx::conf::model

// Words of a question and of a tool's name and description, and how well they go together.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers::rehearsal {

/// Lower-case words of `text`, split at everything that is no letter or digit and at humps (listFiles → list, file),
/// with plural and -ing endings taken off.
std::vector<std::string> words_of(std::string_view text);
/// Words that say nothing about a tool ("the", "what").
bool is_filler(std::string_view word);
/// Whether two words have the same stem (calculate, calculator).
bool alike(std::string_view a, std::string_view b);
/// What tools usually call what people call `word` (find → search); "" if nothing is known.
std::string_view tool_word(std::string_view word);
/// A tool's own name without its server's prefix (`server__tool`).
std::string_view own_name(std::string_view exposed);
/// Parts of a question that ask for one thing each: cut at "and", "then", full stops and question marks, but not inside
/// quotes.
std::vector<std::string> clauses_of(std::string_view question);
/// How well a clause fits a tool by name and description; 0: not at all.
double fit(std::string_view clause, std::string_view tool_name, std::string_view description);

std::string lower(std::string_view text);

}  // namespace mcpbx::providers::rehearsal

// Splits questions and tool descriptions into words and compares them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers::rehearsal {

/// Returns the words of `text` in lower case, without plural and -ing endings. Splits at all characters but letters and
/// digits, and at humps (listFiles → list, file).
std::vector<std::string> words_in(std::string_view text);
/// Returns true for words that say nothing about a tool ("the", "what").
bool is_filler(std::string_view word);
/// Returns true if two words have the same stem (calculate, calculator).
bool alike(std::string_view a, std::string_view b);
/// Translates a word of people into the usual word of tools (find → search); "" if none is known.
std::string_view tool_word(std::string_view word);
/// Returns a tool's own name without its server's prefix (`server__tool`).
std::string_view own_name(std::string_view exposed);
/// Cuts a question into parts that ask for one thing each: at "and", "then", full stops and question marks outside of
/// quotes.
std::vector<std::string> clauses_of(std::string_view question);
/// Rates the match between a clause and a tool's name and description; 0: none.
double fit(std::string_view clause, std::string_view tool_name, std::string_view description);

std::string lower(std::string_view text);

}  // namespace mcpbx::providers::rehearsal

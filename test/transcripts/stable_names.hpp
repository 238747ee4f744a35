// Names for what varies between two runs of the same conversation: folders, ids, times, sizes. The only place that
// decides which parts of a transcript are not compared.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::transcripts {

/// The names of one transcript. Places are given beforehand; ids get a name with a number when they are first seen.
class names {
 public:
  /// Lets `name`, such as @DIR@, stand for a text that this test has chosen.
  void place(std::string_view name, std::string_view value);
  /// Returns the text with names in place of:
  /// - places;
  /// - ids of runs, sessions and questions (run_, ses_, q_ and 16 hexadecimal digits): @RUN1@, @SESSION1@, @QUESTION1@;
  /// - the numbers and hashes that are the values of the JSON members listed in names.cpp: @MS@, @TIME@, @BYTES@, …;
  /// - numbers of events that come from the clock: @SEQ@; the header Date of HTTP: @DATE@; `(N ms)` at a line's end.
  std::string hide(std::string_view text);
  /// The same for an event of a request without texts (`"stream":false`): its number depends on whether the texts had
  /// numbers before they were left out.
  std::string hide_with_number(std::string_view event);
  /// Returns the text with places and ids in place of their names.
  std::string fill(std::string_view text) const;

 private:
  std::string hide_ids(std::string_view text);

  std::vector<std::pair<std::string, std::string>> places_;  // name, value; longer values first
  std::map<std::string, std::string, std::less<>> ids_;      // value -> name
  std::map<std::string_view, int> counts_;                   // of ids, by the word in their names
};

}  // namespace mcpbx::transcripts

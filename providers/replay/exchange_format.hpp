// Text form of a recording: a header line, then one line for each exchange with a model. Each line is one JSON object.
#pragma once
#include "mcp/support/error.hpp"
#include "providers/model/message.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace mcpbx::providers::replay {

/// "v" of the header. It rises only if an older reader would misread the new form.
inline constexpr int format_version = 1;
/// Largest size of a line and of a whole recording, in bytes.
inline constexpr std::size_t max_line = std::size_t{16} << 20, max_file = std::size_t{64} << 20;

/// Properties that all exchanges of a recording share.
struct header {
  std::string api;     ///< API of the recorded model; tools are adapted for it
  std::string system;  ///< system prompt for runs that bring none, or ""
  std::string id;      ///< random id, which distinguishes two files at one path; or ""
  friend bool operator==(const header&, const header&) = default;
};
/// Returns the header line with its line break, without secrets.
std::string to_line(const header& h);
/// Reads the header at the beginning of `text`. errc::parse: no recording; errc::config: written by a newer mcpbx. The
/// error's sentence continues the name of the file ("is no recording …").
result<header> header_from(std::string_view text);

/// One streamed piece of text or reasoning.
struct piece {
  bool reasoning = false;
  std::string text;
  friend bool operator==(const piece&, const piece&) = default;
};

/// Collects the streamed pieces of a reply; those beyond 4,096 are joined to the last.
class pieces {
 public:
  void add(bool reasoning, std::string_view delta);
  /// Returns the pieces without secrets. Text with a secret, which may span pieces, becomes a single piece.
  std::vector<piece> take();

 private:
  std::vector<piece> all_;
};

/// The content of one line: one exchange with a model.
struct exchange {
  std::uint64_t after = 0;               ///< the key of the conversation that `messages` go on from; 0: the beginning
  std::vector<json::raw_json> messages;  ///< canonical messages of the request behind `after`
  std::vector<std::pair<std::string, std::uint64_t>> tools;  ///< offered tools: name and definition_hash()
  std::vector<piece> stream;
  model_reply reply;                      ///< without a message if there is an error
  std::optional<model_error> error = {};  ///< the error in place of a reply; `said` is not kept
};
/// Returns the line with its line break. `e` must have a reply message or an error, and must be free of secrets.
std::string to_line(const exchange& e);
/// Reads a line. errc::parse: the fault, as a continuation of the line's place ("is no JSON …").
result<exchange> exchange_from(std::string_view line);

/// Returns names and hashes of the tools that a request offers.
std::vector<std::pair<std::string, std::uint64_t>> tools_of(const model_request& request);

/// Makes the lines of one recording. Each holds only those messages of its conversation that the file lacks.
class exchange_writer {
 public:
  /// A line, and the conversation keys that the file knows once the line is written.
  struct entry {
    std::string line;
    std::vector<std::uint64_t> keys;
  };
  entry make(const model_request& request, const model_reply& reply, std::vector<piece> stream) const;
  entry make(const model_request& request, model_error error, std::vector<piece> stream) const;
  void written(const entry& e);
  /// Forgets all keys. Call it when the file was replaced.
  void forget() { keys_.clear(); }

 private:
  exchange begin(const model_request& request, std::vector<piece> stream, std::vector<std::uint64_t>& keys) const;

  std::unordered_set<std::uint64_t> keys_;
};

}  // namespace mcpbx::providers::replay

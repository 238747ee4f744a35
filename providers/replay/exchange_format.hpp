// A recording as text: a header line, then one line per exchange with a model. Each line is one JSON object.
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

/// "v" of the header. It rises only when an older reader would misread what is written.
inline constexpr int format_version = 1;
/// The bounds of a line and of a whole recording.
inline constexpr std::size_t max_line = std::size_t{16} << 20, max_file = std::size_t{64} << 20;

/// What holds for all exchanges of a recording.
struct header {
  std::string api;     ///< the API that the recorded model spoke: tools are shown as for it
  std::string system;  ///< the system prompt of runs that brought none, or ""
  std::string id;      ///< tells two files in one place apart, or ""
  friend bool operator==(const header&, const header&) = default;
};
/// With its line break, without secrets.
std::string to_line(const header& h);
/// The header at the beginning of `text`, which may go on behind it. errc::parse when it is no recording, errc::config
/// when a newer mcpbx wrote it; the sentence goes on from the name of the file ("is no recording …").
result<header> header_from(std::string_view text);

/// Text or reasoning as it was told at once.
struct piece {
  bool reasoning = false;
  std::string text;
  friend bool operator==(const piece&, const piece&) = default;
};

/// Gathers the pieces of a reply; those beyond 4,096 are joined to the last.
class pieces {
 public:
  void add(bool reasoning, std::string_view delta);
  /// Without secrets: text that holds one, perhaps over several pieces, becomes a single piece.
  std::vector<piece> take();

 private:
  std::vector<piece> all_;
};

/// One exchange as a line holds it.
struct exchange {
  std::uint64_t after = 0;         ///< the key of the conversation that `messages` go on from; 0: the beginning
  std::vector<raw_json> messages;  ///< canonical; what the request had beyond `after`
  std::vector<std::pair<std::string, std::uint64_t>> tools;  ///< that were offered: name and definition_hash
  std::vector<piece> stream;
  model_reply reply;                      ///< without a message when there is an error
  std::optional<model_error> error = {};  ///< what came in place of a reply; `said` is not kept
};
/// `e.reply.message` or `e.error` must be there and without secrets, as must be everything else. With its line break.
std::string to_line(const exchange& e);
/// errc::parse with what is wrong, going on from the place of the line ("is no JSON …").
result<exchange> exchange_from(std::string_view line);

/// The names and hashes of the tools that a request offers.
std::vector<std::pair<std::string, std::uint64_t>> tools_of(const model_request& request);

/// Makes the exchanges of one recording, each holding only the part of its conversation that the file has not yet.
class exchange_writer {
 public:
  /// A line, and the keys that the file has when it is written.
  struct entry {
    std::string line;
    std::vector<std::uint64_t> keys;
  };
  entry make(const model_request& request, const model_reply& reply, std::vector<piece> stream) const;
  entry make(const model_request& request, model_error error, std::vector<piece> stream) const;
  void written(const entry& e);
  /// The file was replaced: nothing is known of it any more.
  void forget() { keys_.clear(); }

 private:
  exchange begin(const model_request& request, std::vector<piece> stream, std::vector<std::uint64_t>& keys) const;

  std::unordered_set<std::uint64_t> keys_;
};

}  // namespace mcpbx::providers::replay

// Reads recordings from files and appends lines to them. All functions block, so call them on a lane; only the header
// is short enough for the speaking thread.
#pragma once
#include "mcp/support/error.hpp"
#include "providers/replay/recording.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::providers::call {

/// Runs `work` on a lane and then `done` on the speaking thread, never inside the call. If the daemon ends before,
/// `done` is not called.
using offload = std::function<void(std::function<void()> work, std::function<void(result<void> ran)> done)>;

/// Identity of a file's content; it changes when the file is written or replaced.
struct file_stamp {
  std::uint64_t device = 0, inode = 0;
  std::int64_t size = -1, changed_ns = 0;
  friend bool operator==(const file_stamp&, const file_stamp&) = default;
};

// Errors of the functions below are sentences that name the path and the fix. errc::not_found: no file, or no folder
// for it; errc::limit: too large; errc::config: all else.

/// Reads the header of a recording.
result<replay::header> read_recording_header(const std::string& path);

struct loaded_recording {
  std::shared_ptr<const replay::recording> recording;  ///< null: the file is still the one of `known`
  file_stamp stamp;
};
/// Reads the whole recording, unless the file is still the one of `known`.
result<loaded_recording> load_recording(const std::string& path, const file_stamp& known);

/// Identity of a recording that is appended to: the id in its header, and its length in bytes.
struct growing_recording {
  std::string id;
  std::int64_t size = 0;
};
/// Makes sure that lines can be appended to a recording with this header. Makes a missing file (mode 0600) and cuts off
/// a last line that a crash left unfinished. A recording of another API or system prompt is an error.
result<growing_recording> prepare_recording(const std::string& path, const replay::header& header);
/// Appends one line with its line break, as a whole or not at all, and returns the new state. Returns nullopt and
/// writes nothing if the path is no longer the file that was `prepared`.
result<std::optional<growing_recording>> append_to_recording(const std::string& path, const growing_recording& prepared,
                                                             std::string_view line);

}  // namespace mcpbx::providers::call

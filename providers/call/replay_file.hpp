// The file of a recording: read whole, or added to line by line. Everything here blocks, so it belongs on a lane; only
// the header is short enough for the speaking thread.
#pragma once
#include "mcp/support/error.hpp"
#include "providers/replay/recording.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::providers {

/// Runs `work` on a lane and then `done` on the speaking thread, never inside the call. `done` does not come when the
/// daemon ends before.
using offload = std::function<void(std::function<void()> work, std::function<void(result<void> ran)> done)>;

/// Which bytes a path meant: changes when the file is written or replaced.
struct file_stamp {
  std::uint64_t device = 0, inode = 0;
  std::int64_t size = -1, changed_ns = 0;
  friend bool operator==(const file_stamp&, const file_stamp&) = default;
};

// The errors below are sentences that name the path and the mend: errc::not_found where there is no file (or no folder
// for it), errc::limit for what is too large, errc::config for all else.

result<replay::header> read_recording_header(const std::string& path);

struct loaded_recording {
  std::shared_ptr<const replay::recording> recording;  ///< null: the file still is what `known` says
  file_stamp stamp;
};
result<loaded_recording> load_recording(const std::string& path, const file_stamp& known);

/// A recording that is added to: the id in its header, and its length.
struct growing_recording {
  std::string id;
  std::int64_t size = 0;
};
/// Makes sure that a recording with this header can be added to: a missing or empty file is made (mode 0600), one of
/// another API or system prompt is an error; what a crash left of a last line is cut off. Returns what is there now.
result<growing_recording> prepare_recording(const std::string& path, const replay::header& header);
/// Appends one line with its line break, in one write and as a whole or not at all; returns what is there then.
/// Nothing, and nothing was written, when the path does not mean what was `prepared` any more.
result<std::optional<growing_recording>> append_to_recording(const std::string& path, const growing_recording& prepared,
                                                             std::string_view line);

}  // namespace mcpbx::providers

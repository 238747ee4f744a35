// Converts MCP tool results for a model's API (docs/requirements.md, F9): text, media if the API has a place for them,
// and a line of text in place of media that it cannot take.
#pragma once
#include "providers/model/message.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers::wire {

/// Place of a kind of media in tool results of an API.
enum class media_place : std::uint8_t {
  none,    ///< nowhere: a line of text names the file that is left out
  beside,  ///< in a message of its own behind the results; the result's text says so
  inside   ///< in the result itself
};
struct result_rules {
  media_place images = media_place::none;          ///< PNG, JPEG, GIF and WebP
  media_place documents = media_place::none;       ///< PDF
  media_place others = media_place::none;          ///< any other image, audio and blob
  bool (*takes)(std::string_view mime) = nullptr;  ///< filter for the types that the API accepts; null: all
  bool error_prefix = true;                        ///< the API has no flag for errors: the text begins with "Error: "
};

/// One piece of a result: text, or base64 data of a type.
struct result_part {
  std::string text;
  std::string mime, data, name;  ///< `mime` is "" for text; `name` is a file's, or ""
  bool is_text() const { return mime.empty(); }
};
struct converted_result {
  std::vector<result_part> parts;   ///< in the order of the content; neighbouring texts are one, with a line each
  std::vector<result_part> beside;  ///< media for the message behind the results
  bool structured_alone = false;    ///< no error, and nothing but structured content, which became the text
  /// Returns the text of all parts, each from a new line on.
  std::string text() const;
};
converted_result convert_result(const tool_result_block& block, const result_rules& rules);

/// Media of all results of a turn for the message behind them, with the names of their tools.
class media_beside {
 public:
  /// Moves `converted.beside` here; the result is one of `tool`.
  void take(converted_result& converted, std::string_view tool);
  bool empty() const { return parts_.empty(); }
  const std::vector<result_part>& parts() const { return parts_; }
  /// Returns "Images of the tool results above: 2 from camera, 1 from chart" if `what` is "Images".
  std::string words(std::string_view what) const;

 private:
  std::vector<result_part> parts_;
  std::string from_;
};

/// Returns the registered name of a media type ("image/jpeg" for "image/jpg"), without parameters. APIs refuse a whole
/// request because of a name that they do not know.
std::string_view media_type(std::string_view mime);
/// Returns true for images that models accept: PNG, JPEG, GIF, WebP.
bool is_shown_image(std::string_view mime);
/// Returns `mime` and the decoded size of `base64`: "audio/wav, 12 bytes".
std::string media_words(std::string_view mime, std::string_view base64);

}  // namespace mcpbx::providers::wire

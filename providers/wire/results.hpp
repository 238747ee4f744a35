// MCP tool results as a model's API takes them (docs/requirements.md, F9): text, media where the API has a place for
// them, and text that says so where it has none.
#pragma once
#include "providers/model/message.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers {

/// Where an API has room for a kind of media in a tool's result.
enum class media_place : std::uint8_t {
  none,    ///< nowhere: a line of text says what was left out
  beside,  ///< in a message of its own behind the results; the result's text says so
  inside   ///< in the result itself
};
struct result_rules {
  media_place images = media_place::none;          ///< PNG, JPEG, GIF and WebP
  media_place documents = media_place::none;       ///< PDF
  media_place others = media_place::none;          ///< any other image, audio and blob
  bool (*takes)(std::string_view mime) = nullptr;  ///< of these, the types that it takes at all; null: all
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
  bool structured_alone = false;    ///< no error, and all that there is is structured content: it is the text
  /// All text of the parts, a line each.
  std::string text() const;
};
converted_result convert_result(const tool_result_block& block, const result_rules& rules);

/// The media of all results of a turn that stand behind them, and from which tools they are.
class media_beside {
 public:
  /// Takes over `converted.beside`, of a result of `tool`.
  void take(converted_result& converted, std::string_view tool);
  bool empty() const { return parts_.empty(); }
  const std::vector<result_part>& parts() const { return parts_; }
  /// "Images of the tool results above: 2 from camera, 1 from chart", where `what` is "Images".
  std::string words(std::string_view what) const;

 private:
  std::vector<result_part> parts_;
  std::string from_;
};

/// The registered name of a media type that tools and callers call otherwise ("image/jpg"), without parameters; APIs
/// refuse the whole request for one that they do not know.
std::string_view media_type(std::string_view mime);
/// Whether `mime` is an image that models look at: PNG, JPEG, GIF, WebP.
bool is_shown_image(std::string_view mime);
/// `mime` and the size of what `base64` holds: "audio/wav, 12 bytes".
std::string media_words(std::string_view mime, std::string_view base64);

}  // namespace mcpbx::providers

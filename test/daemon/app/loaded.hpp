// A configuration from text, for tests that need one.
#pragma once
#include "conf/load.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

namespace mcpbx::daemon::test {

inline conf::model::configuration loaded(const std::string& text) {
  const std::array files{conf::source_text{"config.json", text}};
  auto made = conf::load(files, {});
  INFO(made.error_text());
  REQUIRE(made.ok());
  return std::move(made.config);
}

}  // namespace mcpbx::daemon::test

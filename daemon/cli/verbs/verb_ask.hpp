// The question of `mcpbx ask`, which `mcpbx sessions resume` asks too.
#pragma once
#include "daemon/cli/base/context.hpp"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace mcpbx::cli::verbs {

struct ask_options {
  std::string text, model, profile, system, status, approve, input;
  std::vector<std::string> words;  ///< those that `text` was made of
  std::string prompt;              ///< a prompt of a tool server to begin with; words key=value in front are for it
  std::vector<std::string> resources;
  bool input_follows = false;  ///< `-` stands behind the text: wait for standard input
  std::string session;         ///< to go on with
  bool latest = false;         ///< go on with the last session of this terminal or folder
  bool resumed = false;        ///< without a text: let the model answer what waits for an answer in the session
  std::string globs;           ///< patterns of tools, with commas between them
  std::vector<std::string> files;
  int max_rounds = -1;
  bool no_stream = false;
  bool no_input = false;     ///< do not read piped standard input
  std::string run;           ///< the run's name, "": the daemon gives one
  bool detach = false;       ///< begin the run and leave it to itself
  bool editor = false;       ///< the question is written in an editor, which begins with `text`
  bool dry_run = false;      ///< only tell how the run would begin
  std::string schema;        ///< the form of the answer: JSON, or a file that has it
  std::string client_tools;  ///< a file with definitions of the caller's own tools
  std::string results;       ///< a file with the results of such tools, "-": standard input; `run` goes on with them
};

/// Adds the argument TEXT: its words, joined by blanks, become `o.text`.
void add_words(CLI::App& page, const std::string& description, ask_options& o);

/// Adds the options that a question takes whether it begins a session or goes on with one. `usual_model` ends the
/// description of --model.
void add_question_options(CLI::App& page, ask_options& o, const std::string& usual_model);

/// Asks the question. Returns the exit status.
int ask(context& c, const ask_options& o);

}  // namespace mcpbx::cli::verbs

// SPDX-License-Identifier: BSD-3-Clause
#include "insights/array_engine.hpp"

#include "core/os/program_output.hpp"
#include "insights/text_file.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace gputest::insights {

namespace fs = std::filesystem;

ArrayEngine::ArrayEngine(const std::string& program) : name_{program}, command_{program} {
  std::error_code error;
  if (const auto target = fs::read_symlink(program, error); !error) {
    command_ = {target.string()};
  } else {
    command_ = {"bash", "-c", read_text(program), program};
  }
}

ArrayEngine::Answer ArrayEngine::ask(const std::vector<std::string>& arguments, bool in_a_minute) const {
  // The status is its last line. Ctrl-C in a terminal is not for the engine: whether it has submitted would not be
  // known. Other signals to the process group may end it, and the shell says so. Tasks may inherit its environment.
  std::vector<std::string> words{
      "/bin/sh", "-c", R"(trap "" INT; trap : HUP TERM; unset GPUTEST_TASK SLURM_ARRAY_TASK_ID; "$@" 2>&1; echo " $?")",
      "sh"};
  if (in_a_minute) {
    words.insert(words.end(), {"timeout", "60"});
  }
  words.insert(words.end(), command_.begin(), command_.end());
  words.insert(words.end(), arguments.begin(), arguments.end());
  auto text = os::output_of(words).value_or("the shell that started it was killed 137");
  const auto last = text.rfind(' ');
  const auto status = std::atoi(text.c_str() + last);
  text.resize(last);
  text.erase(text.find_last_not_of(" \n") + 1);
  return {status, text.erase(0, text.find_first_not_of(" \n"))};
}

std::string ArrayEngine::submit(const std::string& script, std::size_t count) const {
  const auto answer = ask({"submit", script, std::to_string(count)}, false);
  auto id = answer.text.substr(answer.text.rfind('\n') + 1);
  if (answer.status > 128 && answer.status <= 192) { // a signal
    throw Interrupted{name_ + " was killed while it submitted an array" +
                      (answer.text.empty() ? "" : " (" + answer.text + ")")};
  }
  if (answer.status != 0) {
    throw Error{"the array could not be submitted: " +
                (answer.text.empty() ? fmt::format("{} ended with status {}", name_, answer.status) : answer.text)};
  }
  if (id.empty()) {
    throw Interrupted{name_ + " ended with status 0 and printed no id of the array that it submitted"};
  }
  return id;
}

std::optional<std::map<std::size_t, ArrayEngine::Task>> ArrayEngine::state(const std::string& id,
                                                                           std::string& why) const {
  const auto answer = ask({"state", id}, true);
  if (answer.status != 0) {
    why = answer.status == 124 && answer.text.empty() ? name_ + " did not answer within a minute" : answer.text;
    return std::nullopt;
  }
  std::map<std::size_t, Task> tasks;
  std::istringstream lines{answer.text};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::size_t task = 0;
    std::string state;
    std::string note;
    if (!(words >> task)) { // a remark on stderr
      continue;
    }
    words >> state;
    if (state != "running" && state != "waiting") {
      why = name_ + " printed '" + line + "', and not '<task> running' or '<task> waiting'";
      return std::nullopt;
    }
    std::getline(words >> std::ws, note);
    tasks[task] = {state == "running", note};
  }
  return tasks;
}

void ArrayEngine::cancel(const std::string& id) const {
  const auto answer = ask({"cancel", id}, true);
  if (answer.status != 0) {
    throw Error{"the array " + id + " could not be cancelled: " + answer.text};
  }
}

} // namespace gputest::insights

// SPDX-License-Identifier: BSD-3-Clause
#include "insights/array_engine.hpp"

#include "core/os/program_output.hpp"

#include <gputest/error.hpp>

#include <cstdlib>
#include <sstream>
#include <utility>

namespace gputest::insights {

namespace {

std::string without_newlines(std::string text) {
  text.erase(text.find_last_not_of(" \n") + 1);
  return text.erase(0, text.find_first_not_of(" \n"));
}

} // namespace

ArrayEngine::Answer ArrayEngine::ask(std::vector<std::string> words) const {
  // The status is its last line. Ctrl-C in a terminal is not for it: whether it has submitted would not be known.
  words.insert(words.begin(), {"/bin/sh", "-c", R"(trap "" INT; "$@" 2>&1; echo " $?")", "sh"});
  auto text = os::output_of(words).value_or("cannot be started 127");
  const auto last = text.rfind(' ');
  const auto status = std::atoi(text.c_str() + last);
  text.resize(last);
  return {status, without_newlines(std::move(text))};
}

std::string ArrayEngine::submit(const std::string& script, std::size_t count) const {
  const auto answer = ask({program_, "submit", script, std::to_string(count)});
  auto id = answer.text.substr(answer.text.rfind('\n') + 1);
  if (answer.status > 128) { // a signal
    throw Interrupted{program_ + " was killed while it submitted an array"};
  }
  if (answer.status != 0 || id.empty()) {
    throw Error{"the array could not be submitted: " +
                (answer.text.empty() ? program_ + " printed no id" : answer.text)};
  }
  return id;
}

std::optional<std::map<std::size_t, ArrayEngine::Task>> ArrayEngine::state(const std::string& id,
                                                                           std::string& why) const {
  const auto answer = ask({"timeout", "60", program_, "state", id});
  if (answer.status != 0) {
    why = answer.status == 124 && answer.text.empty() ? program_ + " did not answer within a minute" : answer.text;
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
      why = program_ + " printed '" + line + "', and not '<task> running' or '<task> waiting'";
      return std::nullopt;
    }
    std::getline(words >> std::ws, note);
    tasks[task] = {state == "running", note};
  }
  return tasks;
}

void ArrayEngine::cancel(const std::string& id) const {
  const auto answer = ask({"timeout", "60", program_, "cancel", id});
  if (answer.status != 0) {
    throw Error{"the array " + id + " could not be cancelled: " + answer.text};
  }
}

} // namespace gputest::insights

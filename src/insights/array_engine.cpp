// SPDX-License-Identifier: BSD-3-Clause
#include "insights/array_engine.hpp"

#include "core/os/program_output.hpp"

#include <gputest/error.hpp>

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
  // The status is its last line.
  words.insert(words.begin(), {"/bin/sh", "-c", R"("$@" 2>&1; echo " $?")", "sh", program_});
  auto text = os::output_of(words).value_or("cannot be started 1");
  const auto status = text.rfind(' ');
  const bool done = without_newlines(text.substr(status)) == "0";
  text.resize(status);
  return {done, without_newlines(std::move(text))};
}

std::string ArrayEngine::submit(const std::string& script, std::size_t count) const {
  const auto answer = ask({"submit", script, std::to_string(count)});
  auto id = answer.text.substr(answer.text.rfind('\n') + 1);
  if (!answer.done || id.empty()) {
    throw Error{"the array could not be submitted: " +
                (answer.text.empty() ? program_ + " printed no id" : answer.text)};
  }
  return id;
}

std::optional<std::map<std::size_t, ArrayEngine::Task>> ArrayEngine::state(const std::string& id,
                                                                           std::string& why) const {
  const auto answer = ask({"state", id});
  if (!answer.done) {
    why = answer.text;
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
  const auto answer = ask({"cancel", id});
  if (!answer.done) {
    throw Error{"the array " + id + " could not be cancelled: " + answer.text};
  }
}

} // namespace gputest::insights

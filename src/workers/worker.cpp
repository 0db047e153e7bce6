// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/worker.hpp>

#include "core/devices/cuda/cuda_driver_library.hpp"
#include "core/devices/device_list.hpp"
#include "core/os/environment.hpp"
#include "core/os/process.hpp"
#include "core/os/process_end.hpp"
#include "core/os/shared_library.hpp"
#include "core/os/test_status_page.hpp"
#include "core/policy/report_target.hpp"
#include "core/session/allowed_devices.hpp"
#include "core/session/gate.hpp"
#include "core/session/messages.hpp"
#include "core/settings/settings.hpp"
#include "workers/process_snapshot.hpp"
#include "workers/worker_channel.hpp"
#include "workers/worker_message.hpp"

#include <gputest/device.hpp>
#include <gputest/error.hpp>
#include <gputest/outcome.hpp>
#include <gputest/test_run.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <filesystem>
#include <iostream>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace gputest::detail {

namespace {

namespace fs = std::filesystem;

/// The report that GoogleTest writes at this path for every case, by the argument with which a worker is started.
std::string report_of_worker() {
  const std::string option = "--gtest_output=";
  std::string path;
  for (const auto& argument : os::command_line_of(os::own_pid())) {
    if (argument.compare(0, option.size(), option) == 0) {
      path = argument.substr(argument.find(':') + 1);
    }
  }
  return path;
}

void move_report(const std::string& from, const std::string& to) {
  if (from.empty() || to.empty()) {
    return;
  }
  std::error_code error;
  if (const auto folder = fs::path{to}.parent_path(); !folder.empty()) {
    fs::create_directories(folder, error);
  }
  if (!fs::copy_file(from, to, fs::copy_options::overwrite_existing, error)) {
    session::tell("the report cannot be written to " + to + ": " + error.message());
  }
  fs::remove(from, error);
}

/// Sets the variables of this case, in place of those of the one before.
void set_variables(const std::vector<std::string>& assignments) {
  for (const char* const start : workers::variables_of_case) {
    for (const auto& name : os::variables_with(start)) {
      os::remove_variable(name.c_str());
    }
  }
  for (const auto& assignment : assignments) {
    const auto equals = assignment.find('=');
    os::set_variable(assignment.substr(0, equals).c_str(), assignment.substr(equals + 1));
  }
  session::renumber_allocation();
}

/// Whether ctest is known to run several tests at a time.
bool runs_in_parallel() {
  try {
    return session::observed_run_mode(settings::of_process().run_mode).mode == policy::RunMode::parallel;
  } catch (const Error&) {
    return false; // the case fails by itself
  }
}

/// How far this process has come with devices: it knows none, it has looked for some, it has chosen some, or it uses
/// them. With each step the ledger or a driver opens files and starts threads, which stay.
int steps_to_devices() {
  try {
    const auto gate = session::gate_of_process();
    return (gate && gate->place().machine() ? 1 : 0) + (current_devices().empty() ? 0 : 1) +
           (devices::this_process(settings::of_process()).in_use() ? 1 : 0);
  } catch (const Error&) {
    return 0; // the case fails by itself
  }
}

/// What this process has of its devices, apart from memory.
devices::DeviceState device_state() {
  try {
    return devices::this_process(settings::of_process()).state();
  } catch (const Error&) {
    return {}; // the case fails by itself
  }
}

/// Whether the driver of CUDA is loaded, with which every use of a device begins.
bool has_tried_cuda() {
  const auto libraries = os::loaded_libraries();
  return std::any_of(libraries.begin(), libraries.end(), [](const std::string& path) {
    const auto driver = devices::cuda::driver_file();
    const auto name = driver.substr(0, driver.rfind('.'));
    return fs::path{path}.filename().string().compare(0, name.size(), name) == 0;
  });
}

/// What a failure or a skip may come from, if others share their errors with this process.
workers::WorkerMessage::Device device_of_process() {
  using Device = workers::WorkerMessage::Device;
  try {
    auto& process = devices::this_process(settings::of_process());
    return !process.in_use()                              ? has_tried_cuda() ? Device::did_not_start : Device::works
           : process.synchronize_and_trim().error.empty() ? Device::works
                                                          : Device::has_sticky_error;
  } catch (const Error&) {
    return Device::works;
  }
}

/// What the process is like after a case. The kernel lists a thread for a moment after it was joined.
workers::ProcessSnapshot snapshot_after(const workers::ProcessSnapshot& before) {
  auto after = workers::take_snapshot();
  for (int looks_left = 20; after.threads > before.threads && looks_left > 0; --looks_left) {
    std::this_thread::sleep_for(std::chrono::microseconds{100});
    after = workers::take_snapshot();
  }
  return after;
}

/// Where this process tells that exit() has come to its end; null: nowhere.
const os::TestStatusPage* page_of_exit = nullptr;
int process_of_exit = 0;

/// Runs after all exit handlers, and after the destructors of static objects. Not in what ends earlier, nor after exec.
[[gnu::destructor(101)]] void tell_that_exit_has_ended() noexcept {
  if (page_of_exit != nullptr && process_of_exit == os::own_pid()) {
    page_of_exit->set_exit_has_ended();
  }
}

} // namespace

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// A worker is kept until it has worked so many times as long as its start took.
constexpr int worth_of_a_start = 4;
/// What it waited for in its first case is no part of its start.
constexpr milliseconds longest_start{1'000};
/// For how long it is kept without a case, if its start did not take longer. To start another worker would cost that
/// much.
constexpr milliseconds shortest_patience{100};

struct Worker::State {
  std::optional<workers::WorkerChannel> channel; ///< none: the cases are those of a list
  std::deque<std::string> list;
  std::optional<std::string> entry_of_list; ///< GPUTEST_ENTRY, if somebody watches all cases of the list
  std::shared_ptr<os::TestStatusPage> page; ///< of this process, not of a case
  std::string report;                       ///< where GoogleTest writes it
  os::FileStates files;

  std::string wanted_report;                      ///< where this case's goes
  std::optional<workers::ProcessSnapshot> before; ///< this case, which is after the one before it
  devices::DeviceState devices_before;
  int steps_before = 0;
  const int pid = os::own_pid();
  int exit_code = EXIT_SUCCESS;
  bool has_ended = false;
  Clock::time_point since = Clock::now(); ///< this case runs; before the first one, the process
  std::optional<milliseconds> start;      ///< what it took, with the first case, in which CUDA starts
  milliseconds worked{0};                 ///< in later cases
  bool keeps = false;                     ///< whether it may be kept (is_kept())
  bool has_returned = false;              ///< to main(), because there are no more cases

  /// Why the case that has run is the last one here; empty: it is not. Then this process is idle before others hear
  /// that the case has ended: they may need its devices.
  std::string why_last(std::string change) {
    if (exit_code != EXIT_SUCCESS && exit_code != skipped_exit_code) {
      return "it failed";
    }
    auto folders = workers::folders_of_devices();
    if (const auto& folder = settings::of_process().folder; !folder.empty()) {
      folders.push_back(folder);
    }
    if (change.empty()) {
      auto after = snapshot_after(*before);
      change = change_between(*before, after, {steps_before != steps_to_devices(), std::move(folders)});
      before = change.empty() ? std::move(after) : std::move(before);
    }
    if (change.empty()) {
      change = devices::change_between(devices_before, device_state());
    }
    if (const auto gate = session::gate_of_process(); gate && change.empty()) {
      change = gate->memory_left();
    }
    return !change.empty() ? "it changed its process: " + change : is_kept() ? "" : why_not_idle();
  }

  /// Whether this process stays in the ledger as one that has work, although it has no case. The next one comes in a
  /// moment, and whoever made it leave would make it start again, before it was of any use. Where tests do not run in
  /// parallel, or nobody knows, a large test must not be skipped because of it.
  bool is_kept() const { return keeps && start && worked < worth_of_a_start * *start; }

  void count_case() {
    const auto time = std::chrono::duration_cast<milliseconds>(Clock::now() - since);
    if (start) {
      worked += time;
    } else {
      start = std::min(time, longest_start);
      keeps = runs_in_parallel();
    }
  }

  static void set_idle(session::Gate* gate) {
    if (gate != nullptr) {
      gate->set_idle();
    }
  }

  /// Makes this process idle in the ledger, if it is in one. Why it cannot be.
  static std::string why_not_idle() {
    try {
      set_idle(session::gate_of_process().get());
      return {};
    } catch (const LedgerError& error) {
      return error.what();
    }
  }

  /// The next case, in which this process is not idle any more. nullopt if it ends: there are no more, or another
  /// process waits for what it has of a device. Whoever was given a case that does not begin gives it to another
  /// worker.
  std::optional<workers::WorkerJob> receive() try {
    const auto gate = session::gate_of_process();
    for (;;) {
      if (!is_kept() || !channel->wait_for(std::max(shortest_patience, *start))) {
        set_idle(gate.get());
      }
      auto job = channel->receive(gate ? gate->leave_descriptor() : std::nullopt);
      if (!job || !is_unchanged() || (gate && !gate->resume())) {
        return std::nullopt;
      }
      const auto request = request_of(*job);
      if (!request || !gate || gate->may_wait_for(*request)) {
        return job;
      }
      channel->ask_for_own_process(
          "it asks for " + to_string(*request) +
          ", and beside the other processes on its device this worker may not wait for so much");
    }
  } catch (const LedgerError&) { // it has lost its place in the ledger: nobody could tell it to leave
    return std::nullopt;
  }

  /// What the entry of the case says that it asks for; nullopt: nothing.
  static std::optional<Request> request_of(const workers::WorkerJob& job) try {
    bool says_any = false;
    const auto entry = settings::parse_entry([&](const char* name) -> std::optional<std::string> {
      const auto start = std::string{name} + "=";
      for (const auto& variable : job.variables) {
        if (variable.compare(0, start.size(), start) == 0) {
          says_any = says_any || start == "GPUTEST_MEMORY=";
          return variable.substr(start.size());
        }
      }
      return std::nullopt;
    });
    return says_any && !entry.no_gpu ? std::optional{entry.request} : std::nullopt;
  } catch (const Error&) { // the case fails by itself
    return std::nullopt;
  }

  /// Whether the files of the program are those that it was started with. If not, the case runs in a process of its
  /// own.
  bool is_unchanged() {
    const auto changed = os::change_of(files);
    if (!changed.empty()) {
      channel->ask_for_own_process(changed + " has been built anew");
    }
    return changed.empty();
  }
};

Worker::Worker() : state_{std::make_shared<State>()} {}

Worker* Worker::of_process() {
  static Worker* const worker = []() -> Worker* {
    const auto request = settings::parse_worker(os::read_variable);
    os::remove_variable("GPUTEST_WORKER");
    os::remove_variable("GPUTEST_CASES");
    if (request.channel.empty() && request.cases.empty()) {
      return nullptr;
    }
    auto* const made = new Worker; // NOLINT(cppcoreguidelines-owning-memory): used until the process ends
    made->state_->channel = request.channel.empty() ? std::nullopt : workers::WorkerChannel::open(request.channel);
    made->state_->list = {request.cases.begin(), request.cases.end()};
    made->state_->entry_of_list = os::read_variable("GPUTEST_ENTRY");
    made->state_->page = os::TestStatusPage::open(
        made->state_->channel ? made->state_->channel->page()
                              : policy::parse_report_target(made->state_->entry_of_list.value_or("")).page);
    page_of_exit = made->state_->page.get();
    process_of_exit = made->state_->pid;
    made->state_->report = report_of_worker();
    static_cast<void>(TestRun::of_process()); // begins to read entries here, not with the first case's
    made->state_->files = os::states_of_program();
    if (!request.channel.empty() && !made->state_->channel) {
      session::tell("GPUTEST_WORKER=" + request.channel +
                    " is of another version of gputest. No test runs. Build this executable again with the gputest "
                    "that ctest runs");
      made->state_->exit_code = EXIT_FAILURE;
      made->state_->has_ended = true;
    } else if (made->state_->channel) {
      os::set_ctest_of_process(made->state_->channel->ctest(), made->state_->channel->why_started());
      if (session::process_has_had_gate()) {
        made->state_->channel->ask_for_own_process(
            "it has a gputest::Session before its tests, and what gputest finds there counts for each case");
        made->state_->has_ended = true;
      } else {
        made->state_->channel->tell_ready();
      }
    }
    return made;
  }();
  return worker;
}

std::optional<std::string> Worker::next_case() {
  auto& state = *state_;
  if (state.has_returned) {
    session::tell(
        "failed: main() calls gputest::run_all_tests() more than once, and only the first call runs tests in a "
        "process that runs one case after another. Register the cases with ISOLATION process, or set "
        "GPUTEST_ISOLATION=process");
    os::write_what_was_printed();
    os::end_now(EXIT_FAILURE);
  }
  if (state.has_ended || (!state.channel && state.list.empty())) {
    TestRun::of_process().begin_next_case(); // what follows belongs to no case
    state.has_returned = true;
    return std::nullopt;
  }
  std::string filter;
  if (state.channel) {
    const auto job = state.receive();
    if (!job) {
      state.channel->hang_up();
      state.has_ended = true;
      return next_case();
    }
    filter = job->filter;
    state.wanted_report = job->report.empty() ? "" : fs::absolute(job->report); // the case may leave this folder
    set_variables(job->variables);
    state.channel->begin(*job);
  } else {
    filter = state.list.front();
    state.list.pop_front();
    if (state.entry_of_list) {
      os::set_variable("GPUTEST_ENTRY", *state.entry_of_list);
    }
  }
  TestRun::of_process().begin_next_case();
  state.since = state.start ? Clock::now() : state.since;
  if (state.before) {
    workers::renew_what_is_given(*state.before);
  } else if (state.channel) {
    state.before = workers::take_snapshot();
  }
  state.devices_before = device_state();
  state.steps_before = steps_to_devices();
  return filter;
}

bool Worker::announces_each_case() const { return state_->channel.has_value(); }

void Worker::ask_for_own_process(const std::string& why) {
  if (state_->channel) {
    state_->channel->drop_streams();
    state_->channel->ask_for_own_process(why);
  }
}

bool Worker::end_case(int exit_code, const std::string& changed) noexcept try {
  auto& state = *state_;
  if (state.pid != os::own_pid()) {
    state.exit_code = exit_code;
    return false;
  }
  state.exit_code = exit_code;
  os::write_what_was_printed();
  if (!state.channel) {
    return true;
  }
  state.count_case();
  move_report(state.report, state.wanted_report);
  const auto why = state.why_last(changed);
  state.has_ended = !why.empty();
  if (state.has_ended && !workers::change_of_signals(*state.before, workers::take_snapshot()).empty()) {
    page_of_exit = nullptr; // they may hide what fails at the end of an earlier case
  }
  if (!why.empty() && (exit_code == EXIT_SUCCESS || exit_code == skipped_exit_code)) {
    session::tell("the next case runs in another process than this one, because " + why);
  }
  if (!state.has_ended) { // else what it writes at its end is the case's, as of a process of the case's own
    state.channel->drop_streams();
  }
  const auto device = exit_code != EXIT_SUCCESS && state.channel->shares_errors()
                          ? device_of_process()
                          : workers::WorkerMessage::Device::works;
  if (!state.channel->tell_verdict(exit_code, why, device)) {
    os::end_now(exit_code == skipped_exit_code ? EXIT_SUCCESS : exit_code); // the case has closed the socket
  }
  return true;
} catch (const std::exception& error) {
  session::tell(error.what());
  os::end_now(EXIT_FAILURE);
}

int Worker::exit_code() const {
  const bool results_are_sent = state_->channel && state_->pid == os::own_pid(); // what came out of each case
  return results_are_sent ? EXIT_SUCCESS : state_->exit_code;
}

} // namespace gputest::detail

// SPDX-License-Identifier: BSD-3-Clause
// The interface for C: gputest::Session behind opaque handles, with codes in place of exceptions.
#include <gputest/gputest.h>

#include "core/devices/device_list.hpp"
#include "core/os/cancellation.hpp"
#include "core/os/environment.hpp"
#include "core/os/mutex.hpp"
#include "core/os/process.hpp"
#include "core/os/test_status_page.hpp"
#include "core/session/allowed_devices.hpp"
#include "core/session/messages.hpp"
#include "core/settings/settings.hpp"

#include <gputest/error.hpp>
#include <gputest/session.hpp>
#include <gputest/simulated_buffer.hpp>
#include <gputest/test_run.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// NOLINTBEGIN(readability-identifier-naming): the names of the header for C.
struct gputest_session {
  gputest_session(gputest::Settings settings, gputest::Entry entry)
      : session{std::move(settings), std::move(entry)}, wait_limit{session.entry().wait_limit} {}

  pid_t pid = gputest::os::own_pid();
  gputest::Session session;
  std::chrono::seconds wait_limit; ///< where a wait has none of its own
  std::mutex waiting;              ///< one wait at a time has its limit and its on_wait
  std::mutex examining;            ///< of what gputest_end() and gputest_explain_out_of_memory() return
  gputest::Lease lease;
  gputest::Findings findings;
  std::vector<const char*> problems;
  std::string explanation;
  std::optional<std::string> parent_lease = gputest::os::read_variable("GPUTEST_LEASE_OF"); ///< before gputest_enter()
};

struct gputest_simulated_buffer {
  gputest::SimulatedBuffer buffer;
};
// NOLINTEND(readability-identifier-naming)

namespace gputest {

namespace {

/// on_wait has ended the wait.
struct Stopped {};

thread_local std::string message;
thread_local const char* said_last = "";

/// The session that this thread is in a call with.
thread_local std::atomic<const gputest_session*> called{nullptr};

/// The open session: a process has one at most. A program may have kept a pointer to one that it has closed.
std::atomic<gputest_session*> opened{nullptr};

/// Its process.
std::atomic<pid_t> opened_by{0};

/// The process that has closed a session with devices. If it has used them, its slot in the ledger stays until it
/// exits.
std::atomic<pid_t> closed_by{0};

int said(gputest_result result, std::string text) {
  message = std::move(text);
  said_last = message.c_str();
  return result;
}

/// What `call` returns, if anything, or the code for what it throws. Not noexcept: glibc ends a thread by unwinding its
/// stack, also in on_wait, such as Python's daemon threads when the program ends.
template <class Call>
int guarded(const Call& call) try {
  const os::CancellationHeldBack held_back;
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    return GPUTEST_OK;
  } else {
    return call();
  }
} catch (const Stopped&) {
  return said(GPUTEST_STOPPED, "the wait was ended");
} catch (const InvalidSetting& error) {
  return said(GPUTEST_INVALID, error.what());
} catch (const LedgerError& error) {
  return said(GPUTEST_LEDGER, error.what());
} catch (const NestedLease& error) {
  return said(GPUTEST_NESTED, error.what());
} catch (const OutOfMemory& error) {
  return said(GPUTEST_OUT_OF_MEMORY, error.what());
} catch (const std::exception& error) {
  return said(GPUTEST_ERROR, error.what());
}

int result_of(const Outcome& outcome) {
  using Kind = Outcome::Kind;
  return outcome.kind == Kind::granted ? GPUTEST_OK
                                       : said(outcome.kind == Kind::skip ? GPUTEST_SKIP : GPUTEST_FAIL, outcome.reason);
}

std::string text_of(const char* text) { return text == nullptr ? std::string{} : std::string{text}; }

/// Refuses a struct that is none, or whose size was not set.
template <class Struct>
const Struct& checked(const Struct* argument, const char* name) {
  if (argument == nullptr || argument->size < sizeof(std::size_t)) {
    throw InvalidSetting{std::string{name} + (argument == nullptr ? " is NULL" : ".size is not set") +
                         ": fill the struct with zeros, and set size to sizeof(" + name + ")"};
  }
  if (argument->size != sizeof(Struct)) {
    throw InvalidSetting{std::string{name} + ".size is " + std::to_string(argument->size) +
                         ", and this library knows one of " + std::to_string(sizeof(Struct)) +
                         " bytes: build the program with the header of the library that it loads"};
  }
  return *argument;
}

/// Refuses a pointer that is NULL, as the place for a result.
template <class Result>
Result& place_of(Result* result, const char* name) {
  if (result == nullptr) {
    throw InvalidSetting{std::string{name} + " is NULL: pass the address of a variable for the result"};
  }
  return *result;
}

Session& session_of(const gputest_session* given) {
  if (given == nullptr) {
    throw InvalidSetting{"the gputest_session is NULL: gputest_open() makes one"};
  }
  auto* const session = opened.load();
  if (given != session) {
    throw InvalidSetting{"the gputest_session is not open: gputest_close() has freed it, or gputest_open() has not "
                         "made it"};
  }
  if (session->pid != os::own_pid()) {
    throw Error{"this process was forked from the one that opened the gputest_session, and must not use it: open its "
                "own, or leave the lease to its parent"};
  }
  return session->session;
}

/// Whether a call of this thread goes on only after this one.
bool is_in_call(const gputest_session* session) {
  return os::Mutex::any_of_this_thread() || (session != nullptr && session == called);
}

/// guarded(), for a call with the session.
template <class Call>
int with(const gputest_session* session, const Call& call) {
  if (is_in_call(session)) {
    said_last = // without memory, of which the interrupted call may be making some
        "this thread is in another call with the gputest_session: a signal handler, and on_wait, must not use it";
    return GPUTEST_ERROR;
  }
  struct InCall {
    explicit InCall(const gputest_session* session) : before{called.exchange(session)} {}
    ~InCall() { called = before; }
    InCall(const InCall&) = delete;
    InCall& operator=(const InCall&) = delete;
    const gputest_session* before;
  };
  return guarded([&] {
    const InCall in_call{session};
    return call(session_of(session));
  });
}

/// What the struct says in place of a variable.
struct Member {
  const char* name;
  const char* value; ///< or NULL
};

std::map<std::string_view, Member> members_of(const gputest_settings* given) {
  if (given == nullptr) {
    return {};
  }
  const auto& all = checked(given, "gputest_settings");
  return {{"GPUTEST_DEVICES", {"devices", all.devices}},
          {"GPUTEST_DIR", {"folder", all.folder}},
          {"GPUTEST_LOG", {"log", all.log}},
          {"GPUTEST_TEST", {"name", all.name}},
          {"GPUTEST_MEMORY", {"memory", all.memory}},
          {"GPUTEST_LARGE", {"large", all.large}},
          {"GPUTEST_RUN_MODE", {"run_mode", all.run_mode}},
          {"GPUTEST_WAIT_LIMIT", {"wait_limit", all.wait_limit}},
          {"GPUTEST_FORBID_SKIP", {"forbid_skip", all.forbid_skip}},
          {"GPUTEST_OVERUSE", {"overuse", all.overuse}},
          {"GPUTEST_LEAKS", {"leaks", all.leaks}},
          {"GPUTEST_METER", {"meter", all.meter}}};
}

/// What `parse` reads in the environment, and in the struct where that says something. No watcher can run a process of
/// this library again, so what nobody declares is small here. A message names the member that is wrong.
template <class Parsed>
Parsed parsed(const gputest_settings* given, Parsed (*parse)(const settings::ReadVariable&)) {
  const auto members = members_of(given);
  const auto said = [&](std::string_view variable) {
    const auto member = members.find(variable);
    return member != members.end() && member->second.value != nullptr ? &member->second : nullptr;
  };
  try {
    return parse([&](const char* name) {
      const auto* const member = said(name);
      const auto value = member != nullptr ? std::optional<std::string>{member->value} : os::read_variable(name);
      return !value && std::string_view{name} == "GPUTEST_MEMORY" ? std::optional<std::string>{"small"} : value;
    });
  } catch (const InvalidSetting& error) {
    const std::string text = error.what();
    const auto end = std::min(text.find_first_of("= "), text.size());
    if (const auto* const member = said(std::string_view{text}.substr(0, end))) {
      throw InvalidSetting{"gputest_settings." + std::string{member->name} + text.substr(end)};
    }
    throw;
  }
}

Settings settings_of(const gputest_settings* given) {
  static_cast<void>(settings_from_environment()); // refuses unknown variables
  return parsed(given, settings::parse_settings);
}

detail::Notation notation_of(const gputest_settings* given) {
  const auto word = given == nullptr ? std::string{} : text_of(given->notation);
  constexpr std::array words{"annotations", "tags", "marks"};
  const auto* const found = std::find(words.begin(), words.end(), word);
  if (!word.empty() && found == words.end()) {
    throw InvalidSetting{"gputest_settings.notation is '" + word + "'; allowed are annotations, tags and marks"};
  }
  return word.empty() ? detail::Notation::annotations : static_cast<detail::Notation>(found - words.begin());
}

int allowed_gpus(int gpus, const char* name) {
  if (gpus < 1 || gpus > max_gpus) {
    throw InvalidSetting{std::string{name} + " is " + std::to_string(gpus) + "; allowed are 1 to " +
                         std::to_string(max_gpus)};
  }
  return gpus;
}

/// Reads what a request says of its memory. No watcher runs a test of this library again that has too little, so a test
/// of which nothing is known takes its turn with half of the device.
Request memory_of(std::string_view text) {
  constexpr std::string_view nothing_declared = "auto";
  if (text != nothing_declared && text != "auto alone") {
    return parse_request(text, "gputest_request.memory");
  }
  Request request{MemoryClass::medium};
  request.alone = text != nothing_declared;
  request.memory_by = SaidBy::estimate;
  return request;
}

Request request_of(const gputest_request& given, const Entry& entry) {
  Request request = entry.request;
  if (given.memory != nullptr) {
    const auto memory = memory_of(given.memory);
    request.memory_class = memory.memory_class;
    request.bytes = memory.bytes;
    request.alone = request.alone || memory.alone;
    request.memory_by = memory.is_estimated() ? SaidBy::estimate : SaidBy::test;
  }
  if (given.bytes != 0) {
    request.bytes = Bytes{given.bytes};
    request.memory_by = given.memory != nullptr && request.is_estimated() ? SaidBy::estimate : SaidBy::test;
  }
  if (given.gpus != 0) {
    request.gpus = allowed_gpus(given.gpus, "gputest_request.gpus");
  }
  if (given.capabilities != nullptr) {
    request.capabilities =
        request.capabilities | parse_capabilities(given.capabilities, "gputest_request.capabilities");
  }
  if (given.heap != nullptr) {
    request.heap = parse_bytes(given.heap, "gputest_request.heap");
  }
  if (given.keeps != nullptr) {
    request.keeps = parse_bytes(given.keeps, "gputest_request.keeps");
    request.keeps_by = SaidBy::test;
  }
  return request;
}

/// Waits as `wait` says, as long as it lives.
class WaitingAs {
public:
  WaitingAs(gputest_session& session, const gputest_wait* wait) : session_{session}, guard_{session.waiting} {
    auto limit = session.wait_limit;
    if (wait != nullptr) {
      const auto& all = checked(wait, "gputest_wait");
      if (all.limit != nullptr) {
        limit = settings::parse_duration(all.limit, "gputest_wait.limit");
      }
      if (all.on_wait != nullptr) {
        session.session.while_waiting([call = all.on_wait, data = all.data](const std::string& text) {
          if (call(text.c_str(), data) != 0) {
            throw Stopped{};
          }
        });
      }
    }
    if (auto entry = session.session.entry(); entry.wait_limit != limit) {
      entry.wait_limit = limit;
      session.session.set_entry(std::move(entry));
    }
  }
  ~WaitingAs() {
    if (session_.pid == os::own_pid()) { // else on_wait has forked, and left the parent's wait
      session_.session.while_waiting({});
    }
  }
  WaitingAs(const WaitingAs&) = delete;
  WaitingAs& operator=(const WaitingAs&) = delete;

private:
  gputest_session& session_;
  std::lock_guard<std::mutex> guard_;
};

int lease(gputest_session* session, const gputest_request* request, const char* who, const gputest_wait* wait,
          bool test_begins) {
  return with(session, [&](Session& own) {
    const auto asked = request_of(checked(request, "gputest_request"), own.entry());
    const auto test = text_of(who);
    const WaitingAs waiting{*session, wait};
    if (test_begins) {
      if (!session->lease) { // else this one is refused, and the test that holds it goes on
        detail::TestRun::of_process().running(test);
      }
      own.count_unleased(test);
    }
    session->lease = own.lease(asked, test);
    return result_of(session->lease.outcome());
  });
}

std::int64_t bytes_of(const std::optional<Bytes>& bytes) {
  return bytes ? static_cast<std::int64_t>(bytes->count()) : -1;
}

const char* word_of(Claimant::Stage stage) {
  constexpr std::array words{"entering", "inside", "waiting", "holding", "idle"};
  return words.at(static_cast<std::size_t>(stage));
}

/// How many processes of the ledger use each of these devices.
std::map<std::string, int> uses_of(const Settings& settings) {
  std::map<std::string, int> uses;
  for (const auto& claimant : status(settings)) {
    for (const auto& uuid : claimant.devices) {
      ++uses[uuid];
    }
  }
  return uses;
}

Bytes choose(const Settings& settings, std::size_t gpus, std::size_t turn) {
  std::string why_none;
  const auto machine = devices::open_devices(settings, why_none);
  const auto allowed = session::allowed_devices(*machine, settings);
  auto indices = allowed.indices;
  if (indices.empty()) {
    return {}; // gputest_enter() says so
  }
  const auto& devices = machine->devices();
  auto uses = uses_of(settings);
  std::stable_sort(indices.begin(), indices.end(),
                   [&](std::size_t a, std::size_t b) { return uses[devices[a].uuid] < uses[devices[b].uuid]; });
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < std::min(gpus, indices.size()); ++i) {
    chosen.push_back(indices[(turn * gpus + i) % indices.size()]);
  }
  std::sort(chosen.begin(), chosen.end());
  std::vector<std::string> uuids;
  Bytes smallest{UINT64_MAX};
  for (const std::size_t index : chosen) {
    smallest = std::min(smallest, machine->usable_bytes(index));
    uuids.push_back(devices[index].uuid);
  }
  session::show_only(uuids, allowed.counted);
  return smallest;
}

/// Before the program reads a setting itself, as the plugin for pytest does.
[[gnu::constructor]] void when_loaded() {
  static_cast<void>(guarded([] { settings::forget_entry_above_ctest(); }));
}

} // namespace

} // namespace gputest

using namespace gputest;

extern "C" {

const char* gputest_version(void) { return GPUTEST_VERSION; }

const char* gputest_message(void) { return said_last; }

int gputest_parse_bytes(const char* text, uint64_t* bytes) {
  return guarded([&] { place_of(bytes, "bytes") = parse_bytes(text_of(text)).count(); });
}

int gputest_open(const gputest_settings* settings, gputest_session** session) {
  return guarded([&] {
    auto& place = place_of(session, "session");
    auto chosen = settings_of(settings);
    auto entry = parsed(settings, settings::parse_entry);
    const auto notation = notation_of(settings);
    if (opened_by == os::own_pid()) {
      throw Error{
          "this process has a gputest_session already, and the ledger knows one claim of a process: use that "
          "one for all tests" +
          (session::advice_notation() == detail::Notation::marks
               ? ". Under pytest it is the plugin's, and memory is leased " + session::advised(policy::Advice::lease)
               : std::string{})};
    }
    if (closed_by == os::own_pid()) {
      throw Error{"this process has closed its gputest_session, and has its devices until it exits: open one session, "
                  "and use it for all tests"};
    }
    place = new gputest_session{std::move(chosen), std::move(entry)};
    opened = place;
    opened_by = os::own_pid();
    session::write_advice_in(notation);
  });
}

void gputest_close(gputest_session* session) {
  if (session == nullptr || session != opened || session->pid != os::own_pid() || is_in_call(session)) {
    return;
  }
  if (std::unique_lock nobody_waits{session->waiting, std::try_to_lock};
      !nobody_waits || !opened.compare_exchange_strong(session, nullptr)) {
    return;
  }
  opened_by = 0;
  // Processes that start from now on are not under this session's lease.
  static_cast<void>(guarded([&] {
    if (session->parent_lease) {
      os::set_variable("GPUTEST_LEASE_OF", *session->parent_lease);
    } else {
      os::remove_variable("GPUTEST_LEASE_OF");
    }
    if (!session->session.devices().empty()) {
      closed_by = session->pid;
    }
  }));
  delete session;
}

int gputest_choose(const gputest_settings* settings, int gpus, unsigned turn, uint64_t* usable_bytes) {
  return guarded([&] {
    const auto count = static_cast<std::size_t>(allowed_gpus(gpus, "gpus"));
    const auto all = settings_of(settings);
    const Bytes usable = all.lease_of == settings::lease_above ? choose(all, count, turn) : Bytes{};
    if (usable_bytes != nullptr) {
      *usable_bytes = usable.count();
    }
  });
}

int gputest_check(const gputest_request* request) {
  return guarded([&] { static_cast<void>(request_of(checked(request, "gputest_request"), {})); });
}

int gputest_enter(gputest_session* session, const gputest_request* requests, size_t count, const gputest_wait* wait) {
  return with(session, [&](Session& own) {
    Plan plan;
    for (std::size_t i = 0; i < count; ++i) {
      plan.requests.push_back(request_of(checked(requests + i, "gputest_request"), own.entry()));
      plan.capabilities = plan.capabilities | plan.requests.back().capabilities;
    }
    plan.open_ended = count == 0;
    const WaitingAs waiting{*session, wait};
    return result_of(own.enter(plan));
  });
}

size_t gputest_device_count(const gputest_session* session) {
  std::size_t count = 0;
  static_cast<void>(with(session, [&](const Session& own) { count = own.devices().size(); }));
  return count;
}

int gputest_get_device(const gputest_session* session, size_t index, gputest_device* device) {
  return with(session, [&](const Session& own) {
    const auto& devices = own.devices();
    auto& place = place_of(device, "gputest_device");
    if (index >= devices.size()) {
      throw InvalidSetting{"there is no device " + std::to_string(index) + " of " + std::to_string(devices.size())};
    }
    place = {devices[index].uuid.c_str(), devices[index].name.c_str(), devices[index].total.count(),
             devices[index].simulated ? 1 : 0};
  });
}

int gputest_begin(gputest_session* session, const gputest_request* request, const char* who, const gputest_wait* wait) {
  return lease(session, request, who, wait, true);
}

int gputest_test_begins(gputest_session* session, const char* who) {
  return with(session, [&](Session& /*own*/) { detail::TestRun::of_process().running(text_of(who)); });
}

int gputest_count_unleased(gputest_session* session, const char* where) {
  return with(session, [&](Session& own) { own.count_unleased(text_of(where)); });
}

int gputest_lease(gputest_session* session, const gputest_request* request, const char* who, const gputest_wait* wait) {
  return lease(session, request, who, wait, false);
}

void gputest_release(gputest_session* session) {
  static_cast<void>(with(session, [](Session& own) { own.release(); }));
}

int64_t gputest_allocated(gputest_session* session) {
  int64_t bytes = -1;
  static_cast<void>(with(session, [&](const Session& own) { bytes = bytes_of(own.allocated()); }));
  return bytes;
}

int gputest_end(gputest_session* session, const char* who, gputest_findings* findings) {
  const int released = with(session, [&](Session& own) {
    static_cast<void>(checked(findings, "gputest_findings"));
    own.release();
  });
  const int result = released == GPUTEST_OK ? gputest_examine(session, who, findings) : released;
  if (released == GPUTEST_OK) {
    detail::TestRun::of_process().running("");
  }
  return result;
}

int gputest_examine(gputest_session* session, const char* who, gputest_findings* findings) {
  return with(session, [&](Session& own) {
    const auto size = checked(findings, "gputest_findings").size;
    const std::lock_guard guard{session->examining};
    session->findings = own.examine(text_of(who));
    session->problems.clear();
    for (const auto& problem : session->findings.problems) {
      session->problems.push_back(problem.c_str());
    }
    const auto& found = session->findings;
    *findings = {size,
                 bytes_of(found.peak),
                 bytes_of(found.left),
                 found.evidence.c_str(),
                 found.overuse.c_str(),
                 session->problems.data(),
                 session->problems.size()};
  });
}

const char* gputest_explain_out_of_memory(gputest_session* session, const char* who) {
  const int result = with(session, [&](Session& own) {
    const std::lock_guard guard{session->examining};
    session->explanation = own.explain_out_of_memory(text_of(who));
  });
  return result == GPUTEST_OK ? session->explanation.c_str() : "";
}

int gputest_status(const gputest_settings* settings, void (*each)(const gputest_claimant* claimant, void* data),
                   void* data) {
  return guarded([&] {
    if (each == nullptr) {
      throw InvalidSetting{"the function for gputest_status() is NULL"};
    }
    for (const auto& one : status(settings_of(settings))) {
      std::string devices;
      for (const auto& uuid : one.devices) {
        devices += (devices.empty() ? "" : " ") + uuid;
      }
      const gputest_claimant claimant{one.who.c_str(),   one.pid,           word_of(one.stage),
                                      one.lease.count(), one.whole_devices, one.overhead.count(),
                                      devices.c_str()};
      each(&claimant, data);
    }
  });
}

int gputest_test_ended(gputest_session* session, const gputest_test_end* end) {
  return with(session, [&](Session& /*own*/) {
    const auto& given = checked(end, "gputest_test_end");
    const auto result = text_of(given.result);
    constexpr std::array words{"passed", "failed", "skipped"};
    const auto* const found = std::find(words.begin(), words.end(), result);
    if (found == words.end()) {
      throw InvalidSetting{"gputest_test_end.result is '" + result + "'; allowed are passed, failed and skipped"};
    }
    detail::TestRun::TestEnd test;
    test.suite = text_of(given.suite);
    test.name = text_of(given.name);
    test.result = *found;
    test.seconds = given.seconds;
    test.reason = text_of(given.reason);
    test.file = text_of(given.file);
    test.line = given.line;
    detail::TestRun::of_process().ended(test);
  });
}

int gputest_report_end(int exit_code) { return report_end(exit_code); }

int gputest_may_write_notes() {
  static_cast<void>(detail::TestRun::of_process()); // which reads it
  return os::has_notes(os::output_of_process()) ? 1 : 0;
}

int gputest_simulated_take(uint64_t bytes, int device, gputest_simulated_buffer** buffer) {
  return guarded([&] {
    auto& place = place_of(buffer, "buffer");
    place = new gputest_simulated_buffer{SimulatedBuffer{Bytes{bytes}, device}};
  });
}

void gputest_simulated_give_back(gputest_simulated_buffer* buffer) { delete buffer; }
}

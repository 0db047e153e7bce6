#include "gtest/current_session.hpp"

#include "memory/lease_scope.hpp"
#include "policy/resolve_requirement.hpp"
#include "session/messages.hpp"
#include "system/environment.hpp"
#include "system/process.hpp"
#include "gtest/annotations.hpp"

#include <gputest/device.hpp>
#include <gputest/error.hpp>

#include <algorithm>
#include <filesystem>

namespace gputest {

namespace detail {

using session::Outcome;

namespace {

/// A threadsafe death test starts the executable again, for one statement of a test whose parent holds what it needs.
bool is_death_test_child() {
  const auto arguments = system::command_line_of(system::own_pid());
  return std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument.find("gtest_internal_run_death_test=") != std::string::npos;
  });
}

std::string program_name() {
  return std::filesystem::path{system::executable_of(system::own_pid()).value_or("this executable")}
      .filename()
      .string();
}

std::string name_of(const ::testing::TestInfo& test) { return std::string{test.test_suite_name()} + "." + test.name(); }

/// A separate function, since the macros return from it.
void apply(const Outcome& outcome) {
  switch (outcome.kind) {
  case Outcome::Kind::granted:
    return;
  case Outcome::Kind::skip:
    GTEST_SKIP() << outcome.reason;
  case Outcome::Kind::fail:
    GTEST_FAIL() << outcome.reason;
  }
}

} // namespace

CurrentSession& CurrentSession::instance() {
  static CurrentSession current;
  return current;
}

void CurrentSession::begin(const ::testing::UnitTest& unit_test) {
  if (begun_ || unit_test.test_to_run_count() == 0) {
    return;
  }
  begun_ = true;
  memory::Account::instance().guard();
  death_test_child_ = is_death_test_child();
  try {
    session_.emplace(policy::parse_settings(system::read_variable), program_name());
    if (const auto nothing = annotations_of_nothing(unit_test); !nothing.empty()) {
      throw InvalidSetting{nothing + " names no test of this executable; write the suite and the test as in TEST()"};
    }
    session_->enter(plan_for(unit_test));
    if (!death_test_child_ && !devices().empty() && devices().front().simulated) {
      session::tell("the devices are simulated: memory only, no kernels (GPUTEST_DEVICES)");
    }
  } catch (const Error& error) {
    session_.reset();
    unusable_ = error.what();
  }
}

session::Plan CurrentSession::plan_for(const ::testing::UnitTest& unit_test) const {
  const Requirement& entry = session_->settings().requirement;
  session::Plan plan;
  plan.requirements.push_back(entry);
  for (int s = 0; s < unit_test.total_test_suite_count(); ++s) {
    const auto& suite = *unit_test.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const auto& test = *suite.GetTestInfo(t);
      if (!test.should_run()) {
        continue;
      }
      plan.capabilities = plan.capabilities | capabilities_of(test);
      const bool annotated = annotation_of(test).has_value();
      if (annotated || heap_annotation_of(test) > Bytes{}) {
        plan.requirements.push_back(requirement_of(test, std::nullopt));
      }
      if (!annotated && !entry.bytes) {
        plan.open_ended = true; // its fixture is known only when it is built
      }
    }
  }
  return plan;
}

Requirement CurrentSession::requirement_of(const ::testing::TestInfo& test, std::optional<MemoryClass> fixture) const {
  auto requirement = policy::resolve_requirement(annotation_of(test), fixture,
                                                 session_ ? session_->settings().requirement : Requirement{});
  if (const Bytes heap = heap_annotation_of(test); heap > Bytes{}) {
    requirement.heap = heap;
  }
  return requirement;
}

void CurrentSession::take(const Requirement& requirement, const ::testing::TestInfo& test) {
  if (held_ && *held_ == requirement) {
    return;
  }
  if (held_) {
    release(test);
  }
  Outcome outcome;
  try {
    outcome = acquire(requirement, test);
  } catch (const Error& error) {
    outcome = {Outcome::Kind::fail, error.what()};
  }
  apply(outcome);
}

void CurrentSession::require_usable(const ::testing::TestInfo& test) {
  if (!session_) {
    apply({Outcome::Kind::fail, unusable_});
  } else if (!death_test_child_) {
    apply(session_->check_devices(with_capabilities({}, test), name_of(test)));
  }
}

/// A requirement with all that the test's annotations and its CTest entry say its devices must have.
Requirement CurrentSession::with_capabilities(Requirement requirement, const ::testing::TestInfo& test) const {
  requirement.capabilities =
      requirement.capabilities | capabilities_of(test) | session_->settings().requirement.capabilities;
  return requirement;
}

Outcome CurrentSession::acquire(const Requirement& requirement, const ::testing::TestInfo& test) {
  if (!session_) {
    return {Outcome::Kind::fail, unusable_};
  }
  if (death_test_child_) {
    memory::Account::instance().open({name_of(test), session_->bytes_of(requirement)});
    return {};
  }
  if (held_) {
    throw NestedLease{name_of(test) + " asked for a lease of " + to_string(requirement) + " while it has one of " +
                      to_string(*held_) +
                      "; waiting for a second one could deadlock. Give the first back before, or, to lease only around "
                      "the GPU sections of a test, derive its fixture from gputest::ScopedTest"};
  }
  if (!broken_by_.empty()) {
    return session_->skip(name_of(test) + " cannot use a GPU in this process: " + broken_by_ + ". Run it by itself");
  }
  auto wanted = with_capabilities(requirement, test);
  wanted.heap = requirement_of(test, std::nullopt).heap; // a lease in the middle of a test says nothing of it
  auto outcome = session_->acquire(wanted, name_of(test));
  if (outcome.kind == Outcome::Kind::granted) {
    outcome = session_->prepare_heap(wanted, name_of(test));
  }
  if (outcome.kind == Outcome::Kind::granted) {
    held_ = requirement;
    memory::Account::instance().open({name_of(test), session_->bytes_of(requirement)});
    ::testing::Test::RecordProperty("gputest_memory", to_string(requirement));
    ::testing::Test::RecordProperty("gputest_devices", session::describe(devices()));
  }
  return outcome;
}

void CurrentSession::release(const ::testing::TestInfo& test) {
  if (held_) {
    give_back(test);
  }
  const std::string loss = session_ ? session_->loss() : "";
  if (!loss.empty() && broken_by_.empty()) {
    broken_by_ = name_of(test) + " left it without its place on the ledger";
    ADD_FAILURE_AT(test.file(), test.line())
        << name_of(test) << " left this process without its place on the ledger: " << loss
        << ". The tests after it are skipped; run them without it";
  }
}

void CurrentSession::finish(const ::testing::TestInfo& test) {
  release(test);
  if (!session_ || death_test_child_) {
    return;
  }
  for (const auto& problem : session_->stray_contexts(name_of(test))) {
    ADD_FAILURE_AT(test.file(), test.line()) << problem;
  }
}

void CurrentSession::give_back(const ::testing::TestInfo& test) {
  held_.reset();
  const auto memory = memory::close_lease();
  if (!memory.kinds.empty()) {
    ::testing::Test::RecordProperty("gputest_memory_resource", memory.kinds);
  }
  if (!memory.spilled.empty()) {
    ::testing::Test::RecordProperty("gputest_spilled", memory.spilled);
  }
  const std::string error = session_->release(memory.managed);
  if (!error.empty() && broken_by_.empty()) {
    broken_by_ = name_of(test) + " left it with " + error;
    ADD_FAILURE_AT(test.file(), test.line())
        << name_of(test) << " left CUDA unusable for the rest of this process: " << error
        << ". The tests after it are skipped; run them without it";
  }
}

const std::vector<Device>& CurrentSession::devices() const {
  static const std::vector<Device> none;
  return session_ ? session_->devices() : none;
}

} // namespace detail

const std::vector<Device>& current_devices() { return detail::CurrentSession::instance().devices(); }

} // namespace gputest

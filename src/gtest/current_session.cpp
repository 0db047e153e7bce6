#include "gtest/current_session.hpp"

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
      if (annotation_of(test)) {
        plan.requirements.push_back(requirement_of(test, std::nullopt));
      } else if (!entry.bytes) {
        plan.open_ended = true; // its fixture is known only when it is built
      }
    }
  }
  return plan;
}

Requirement CurrentSession::requirement_of(const ::testing::TestInfo& test, std::optional<MemoryClass> fixture) const {
  return policy::resolve_requirement(annotation_of(test), fixture,
                                     session_ ? session_->settings().requirement : Requirement{});
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

void CurrentSession::require_usable() {
  apply(session_ ? session_->entered() : Outcome{Outcome::Kind::fail, unusable_});
}

Outcome CurrentSession::acquire(const Requirement& requirement, const ::testing::TestInfo& test) {
  if (!session_) {
    return {Outcome::Kind::fail, unusable_};
  }
  if (death_test_child_) {
    return {};
  }
  if (held_) {
    throw NestedLease{name_of(test) + " asked for a lease of " + to_string(requirement) + " while it has one of " +
                      to_string(*held_) +
                      "; waiting for a second one could deadlock. Give the first back before, or, to lease only around "
                      "the GPU sections of a test, derive its fixture from gputest::ScopedTest"};
  }
  if (!broken_by_.empty()) {
    return session_->skip(name_of(test) + " cannot use CUDA in this process: " + broken_by_ + ". Run it by itself");
  }
  auto outcome = session_->acquire(requirement, name_of(test));
  if (outcome.kind == Outcome::Kind::granted) {
    held_ = requirement;
    ::testing::Test::RecordProperty("gputest_memory", to_string(requirement));
    ::testing::Test::RecordProperty("gputest_devices", session::describe(devices()));
  }
  return outcome;
}

void CurrentSession::release(const ::testing::TestInfo& test) {
  if (!held_) {
    return;
  }
  held_.reset();
  const std::string error = session_->release();
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

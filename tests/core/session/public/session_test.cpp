// SPDX-License-Identifier: BSD-3-Clause
// The public interface of the core, as a program without a test framework uses it. Each test is a process of its own.

#include "core/os/host.hpp"
#include "core/os/test_status_page.hpp"
#include "core/session/account.hpp"
#include "core/session/gate.hpp"
#include "core_test.hpp"
#include "support/close_files.hpp"
#include "support/in_child.hpp"
#include "support/message_of.hpp"

#include <gputest/error.hpp>
#include <gputest/memory_resource.hpp>
#include <gputest/session.hpp>
#include <gputest/simulated_buffer.hpp>
#include <gputest/test_run.hpp>

#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>

namespace gputest {
namespace {

using namespace literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Kind = Outcome::Kind;
using Stage = Claimant::Stage;

class CoreSession : public tests::CoreTest {
protected:
  CoreSession() : CoreTest{"0"} {
    // What the environment says must not count.
    setenv("GPUTEST_DEVICES", "none", 1);
    setenv("GPUTEST_DIR", "/proc/nobody-can-write-here", 1);
    setenv("GPUTEST_FORBID_SKIP", "1", 1);
  }

  Session& enter(std::vector<Request> requests = {3_GiB}) { return CoreTest::enter(std::move(requests)); }

  [[nodiscard]] Claimant own() const { return status(settings_).at(0); }

  /// Starts another process, which has a lease of 2 GiB until it is killed.
  [[nodiscard]] pid_t start_holder() const {
    return tests::start_keeper([&] {
      auto other = std::make_unique<Session>(settings_, entry_);
      static_cast<void>(other->enter({}));
      auto held = other->lease(2_GiB, "Sort.Keys");
      return std::pair{std::move(other), std::move(held)};
    });
  }
};

TEST_F(CoreSession, goes_by_its_structs_and_not_by_the_environment) {
  testing::internal::CaptureStderr();
  auto& session = enter();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("gputest: the devices are simulated: memory only, no kernels (GPUTEST_DEVICES)\n"));
  ASSERT_EQ(session.devices().size(), 1U);
  EXPECT_EQ(session.devices().front().uuid, "SIM-2x4096MiB-0");
  EXPECT_EQ(current_devices().front().uuid, "SIM-2x4096MiB-0");
  EXPECT_STREQ(std::getenv("CUDA_VISIBLE_DEVICES"), "SIM-2x4096MiB-0");
  EXPECT_TRUE(devices_are_simulated());
  const SimulatedBuffer buffer{1_GiB};
  EXPECT_EQ(session.lease(100_GiB, "Sort").outcome().kind, Kind::skip) << "GPUTEST_FORBID_SKIP is not its setting";
}

TEST_F(CoreSession, leases_until_the_lease_ends) {
  auto& session = enter();
  EXPECT_EQ(own().stage, Stage::inside);
  {
    const auto lease = session.lease(3_GiB, "Sort.Keys");
    EXPECT_TRUE(lease);
    EXPECT_EQ(lease.reason(), "");
    EXPECT_EQ(own().stage, Stage::holding);
  }
  EXPECT_EQ(own().stage, Stage::inside);
  EXPECT_TRUE(session.examine("Sort.Keys").problems.empty());
}

TEST_F(CoreSession, says_why_nothing_is_granted) {
  auto& session = enter();
  const auto lease = session.lease(100_GiB, "Sort.Keys");
  EXPECT_FALSE(lease);
  EXPECT_FALSE(lease.must_fail());
  EXPECT_THAT(lease.reason(), HasSubstr("Sort.Keys needs 100 GiB of a device"));
  EXPECT_EQ(own().stage, Stage::inside);
}

TEST_F(CoreSession, tells_the_watcher_of_its_entry_what_gputest_has_failed) {
  settings_.forbid_skip = ForbidSkip::all;
  const auto refusal_of = [&](auto ask) {
    const os::TestStatusPage page;
    setenv("GPUTEST_ENTRY", page.path().c_str(), 1);
    EXPECT_EQ(tests::in_child([&] {
                Session session{settings_, entry_};
                ask(session);
                return report_end(1);
              }),
              1);
    unsetenv("GPUTEST_ENTRY");
    EXPECT_EQ(page.report().ended, 1U);
    return page.report().failed_by_gputest;
  };
  const auto enter = [](Session& session) { EXPECT_EQ(session.enter({}).kind, Kind::granted); };
  EXPECT_EQ(refusal_of(enter), "") << "the failure is the program's own";
  const auto ask_for_too_much = [&](Session& session) {
    enter(session);
    static_cast<void>(session.lease(100_GiB, "Sort.Keys"));
  };
  EXPECT_NE(refusal_of(ask_for_too_much), "");
  settings_.devices = "none";
  EXPECT_NE(refusal_of([](Session& session) { static_cast<void>(session.enter({})); }), "");
}

TEST_F(CoreSession, fails_where_its_lease_has_to_grow_and_the_ledger_cannot_be_asked) {
  const os::TestStatusPage page;
  setenv("GPUTEST_ENTRY", page.path().c_str(), 1);
  entry_.request = 256_MiB;
  entry_.request.memory_by = SaidBy::estimate;
  EXPECT_EQ(tests::in_child([&] {
              Session session{settings_, entry_};
              Plan plan;
              plan.requests = {entry_.request};
              EXPECT_EQ(session.enter(plan).kind, Kind::granted);
              const auto lease = session.lease(entry_.request, "Sort.Keys");
              for (const auto& file : std::filesystem::directory_iterator{settings_.folder}) {
                if (file.path().filename().string().rfind("ledger-", 0) == 0) {
                  EXPECT_GE(tests::close_files(file.path() / "mutex"), 0);
                }
              }
              const SimulatedBuffer buffer{1_GiB};
              return report_end(0);
            }),
            0);
  EXPECT_THAT(page.report().failed_by_gputest, HasSubstr("the ledger cannot be asked"));
}

TEST_F(CoreSession, fails_after_a_test_has_taken_more_where_it_cannot_be_stopped) {
  settings_.overuse = Consequence::stop;
  settings_.log = folder_.path() + "/log";
  entry_.name = "sort";
  auto& session = enter();
  auto lease = session.lease(1_GiB, "Sort.Keys");
  {
    const SimulatedBuffer within{1_GiB};
    const SimulatedBuffer beyond{1_GiB};
  }
  lease.release();
  EXPECT_THAT(session.examine("Sort.Keys").problems, ElementsAre(AllOf(HasSubstr("2 GiB"), Not(HasSubstr("stopped")))));
  EXPECT_EQ(tests::count_events(settings_.log, "overuse"), 1);
}

TEST_F(CoreSession, leases_of_a_whole_device_what_external_processes_leave) {
  const auto available = os::read_host_memory().value_or(os::HostMemory{}).available_bytes;
  settings_.devices = "simulated:1x" + std::to_string(available / 2 * 3 >> 20U) + "MiB,integrated,context=0";
  entry_.large = LargePolicy::wait;
  auto& session = enter({MemoryClass::large});
  const auto lease = session.lease(MemoryClass::large, "Sort.Keys");
  ASSERT_TRUE(lease);
  auto& account = session::Account::instance();
  account.reserve({MemoryKind::pool, 0, Bytes{available / 4 * 3}});
  EXPECT_THROW(account.reserve({MemoryKind::pool, 0, Bytes{available / 2}}), LeaseExceeded) << "a third is others'";
}

TEST_F(CoreSession, reads_the_environment_where_it_is_told_to) {
  setenv("GPUTEST_DEVICES", "simulated:1x2GiB,context=0", 1);
  setenv("GPUTEST_DIR", settings_.folder.c_str(), 1);
  setenv("GPUTEST_GPUS", "1", 1);
  setenv("GPUTEST_MEMORY", "1GiB", 1);
  setenv("GPUTEST_RUN_MODE", "serial", 1);
  auto session = Session::from_environment();
  EXPECT_EQ(session.entry().request.bytes, 1_GiB);
  EXPECT_EQ(session.enter({}).kind, Kind::granted);
  EXPECT_EQ(session.devices().at(0).uuid, "SIM-1x2048MiB-0");
}

TEST_F(CoreSession, enters_once) {
  auto& session = enter();
  EXPECT_THAT(tests::message_of<Error>([&] { static_cast<void>(session.enter({})); }),
              HasSubstr("enter() was called a second time"));
  EXPECT_TRUE(session.lease(3_GiB, "Sort.Keys")) << "the first outlives the refusal of the second";
}

TEST_F(CoreSession, is_the_only_one_of_its_process) {
  auto& session = enter();
  EXPECT_THAT(tests::message_of<Error>([&] {
                const Session second{settings_, entry_};
              }),
              HasSubstr("has a gputest::Session already"));
  EXPECT_THAT(tests::message_of<Error>([&] {
                const Session third{settings_, entry_};
              }),
              HasSubstr("has a gputest::Session already"));
  EXPECT_TRUE(session.lease(3_GiB, "Sort.Keys"));
  session_.reset();
  EXPECT_EQ(tests::message_of<Error>([&] { const Session next{settings_, entry_}; }), "done");
}

TEST_F(CoreSession, refuses_numbers_of_gpus_that_no_test_can_have) {
  Request request = 1_GiB;
  auto& session = enter();
  request.gpus = 16;
  EXPECT_EQ(session.check(request, "Sort.Keys").kind, Kind::skip) << "another machine may have them";
  for (const int gpus : {-1, 0, 17}) {
    request.gpus = gpus;
    EXPECT_THROW(static_cast<void>(session.lease(request, "Sort.Keys")), InvalidSetting) << gpus;
    EXPECT_THROW(static_cast<void>(session.check(request, "Sort.Keys")), InvalidSetting) << gpus;
  }
  EXPECT_THAT(tests::message_of<Error>([&] { static_cast<void>(session.lease(request, "Sort.Keys")); }),
              testing::StrEq("Sort.Keys asks for 17 GPUs (Request::gpus); allowed are 1 to 16"));
  session_.reset();
  Plan plan;
  plan.requests = {request};
  session_.emplace(settings_, entry_);
  EXPECT_THROW(static_cast<void>(session_->enter(plan)), InvalidSetting);
  session_.reset();
  entry_.request = request;
  EXPECT_THROW(session_.emplace(settings_, entry_), InvalidSetting);
}

TEST_F(CoreSession, in_place_of_its_parent_holds_and_finds_nothing_that_is_its_parents) {
  session_.emplace(settings_, entry_);
  testing::internal::CaptureStderr();
  Plan plan;
  plan.in_place_of_parent = true;
  ASSERT_EQ(session_->enter(plan).kind, Kind::granted);
  EXPECT_EQ(testing::internal::GetCapturedStderr().find("simulated"), std::string::npos) << "its parent has said it";
  EXPECT_EQ(session_->check(100_GiB, "Sort.Keys").kind, Kind::granted);
  EXPECT_EQ(session_->foresee(100_GiB, "Sort.Keys").kind, Kind::granted);
  auto lease = session_->lease(100_GiB, "Sort.Keys");
  EXPECT_TRUE(lease);
  EXPECT_EQ(own().stage, Stage::inside) << "its parent holds the bytes";
  EXPECT_THROW(static_cast<void>(session_->lease(1_GiB, "Sort.Keys")), NestedLease);
  memory_resource resource;
  resource.deallocate(resource.allocate((3_GiB).count()), (3_GiB).count());
  lease.release();
  EXPECT_FALSE(lease);
  EXPECT_THROW(static_cast<void>(resource.allocate(1)), LeaseExceeded);
  const SimulatedBuffer buffer{1_GiB};
  session_->count_unleased("Sort");
  session_->watch_unleased("Sort.Keys");
  EXPECT_EQ(session_->explain_out_of_memory("Sort.Keys"), "");
  EXPECT_TRUE(session_->examine("Sort.Keys").problems.empty());
  EXPECT_EQ(own().overhead, 0_B);
}

TEST_F(CoreSession, says_of_a_second_lease_which_two_there_are) {
  Request two = 1_GiB;
  two.gpus = 2;
  two.capabilities = {capabilities::sm(80)};
  auto& session = enter({3_GiB});
  const auto lease = session.lease(3_GiB, "Sort.Keys");
  EXPECT_EQ(
      tests::message_of<NestedLease>([&] { static_cast<void>(session.lease(1_GiB, "Sort.Keys")); }),
      "Sort.Keys asked for a lease of 1 GiB while it has one of 3 GiB; waiting for a second one could deadlock. Give "
      "the first back before");
  EXPECT_EQ(tests::message_of<NestedLease>([&] { static_cast<void>(session.lease(two, "Sort.Pairs")); }),
            "Sort.Pairs asked for a lease of 2 x 1 GiB while Sort.Keys has one of 3 GiB; waiting for a "
            "second one could deadlock. Give the first back before");
}

TEST_F(CoreSession, finds_the_most_of_any_lease_and_all_that_they_have_left) {
  auto& session = enter();
  std::vector<std::unique_ptr<SimulatedBuffer>> left;
  for (const auto& [taken, kept] : {std::pair{1_GiB, 100_MiB}, {2_GiB, 50_MiB}, {512_MiB, 0_B}}) {
    const auto lease = session.lease(3_GiB, "Sort.Keys");
    const SimulatedBuffer buffer{taken};
    if (kept != 0_B) {
      left.push_back(std::make_unique<SimulatedBuffer>(kept));
    }
  }
  const auto findings = session.examine("Sort.Keys");
  EXPECT_EQ(findings.evidence, "exact");
  ASSERT_TRUE(findings.peak);
  EXPECT_EQ(*findings.peak, 2_GiB + 50_MiB);
  ASSERT_TRUE(findings.left);
  EXPECT_EQ(*findings.left, 150_MiB);
  EXPECT_EQ(findings.overuse, "");
  const auto next = session.examine("Sort.Pairs");
  EXPECT_FALSE(next.peak || next.left) << "each is said of one test";
}

TEST(CoreLease, that_holds_nothing_does_not_say_granted) {
  const Lease none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.outcome().kind, Kind::fail);
  EXPECT_TRUE(none.must_fail());
  EXPECT_THAT(none.reason(), HasSubstr("nothing was asked for"));
}

TEST_F(CoreSession, gives_devices_for_requests_of_several) {
  Request two = 1_GiB;
  two.gpus = 2;
  auto& session = enter({two});
  EXPECT_EQ(session.devices().size(), 2U);
  EXPECT_EQ(session.check(two, "Sort").kind, Kind::granted);
  two.gpus = 3;
  EXPECT_THAT(session.check(two, "Sort").reason, HasSubstr("needs 3 GPUs and may use 2"));
  two.gpus = 1;
  two.capabilities = {capabilities::sm(8)};
  EXPECT_EQ(tests::message_of<InvalidSetting>([&] { static_cast<void>(session.check(two, "Sort")); }),
            "Sort asks for sm(8); the compute capability is written without its point, as sm(80) for 8.0");
}

TEST_F(CoreSession, under_the_lease_of_another_process_has_no_place_in_which_it_is_idle) {
  const auto lease = enter().lease(3_GiB, "Sort.Keys");
  settings_.lease_of = std::getenv("GPUTEST_LEASE_OF");
  EXPECT_EQ(tests::in_child([&] {
              Session below{settings_, entry_};
              const bool entered = below.enter({}).kind == Kind::granted;
              session::gate_of_process()->set_idle();
              return entered && own().stage == Stage::holding ? 0 : 1;
            }),
            0);
}

TEST_F(CoreSession, leaves_a_forked_process_alone_also_while_another_thread_waits_for_a_lease) {
  settings_.devices = "simulated:1x4GiB,context=0";
  const pid_t holder = start_holder();
  auto& session = enter();
  std::promise<void> waits;
  std::promise<void> has_forked;
  bool is_told = false; // by the thread
  session.while_waiting([&](const std::string&) {
    if (!std::exchange(is_told, true)) {
      waits.set_value();
      has_forked.get_future().wait();
    }
  });
  std::thread thread{[&] { EXPECT_TRUE(session.lease(3_GiB, "Sort.Pairs")); }};
  waits.get_future().wait();
  const pid_t child = tests::start_child([&] {
    const std::string said = tests::message_of<Error>([&] { static_cast<void>(session.lease(1_GiB, "Sort.Odd")); });
    EXPECT_THAT(said, HasSubstr("this process was forked from the one that made the gputest::Session"));
    EXPECT_THROW(static_cast<void>(session.check(1_GiB, "Sort.Odd")), Error);
    memory_resource resource;
    EXPECT_THROW(static_cast<void>(resource.allocate(1)), LeaseExceeded);
    const SimulatedBuffer buffer{1_MiB};
    session.count_unleased("Sort.Odd");
    session.watch_unleased("Sort.Odd");
    EXPECT_EQ(session.allocated(), std::nullopt);
    EXPECT_EQ(session.explain_out_of_memory("Sort.Odd"), "");
    session.release();
    EXPECT_TRUE(session.examine("Sort.Odd").problems.empty());
    session_.reset();
    EXPECT_EQ(tests::message_of<Error>([&] { const Session own{settings_, entry_}; }), "done");
    return HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(tests::end_of(child), 0);
  ::kill(holder, SIGKILL);
  EXPECT_EQ(tests::end_of(holder), -SIGKILL);
  has_forked.set_value();
  thread.join();
}

TEST_F(CoreSession, writes_to_no_file_by_a_number_that_a_test_may_have_chosen) {
  const auto open_below = [](int limit) { // for writing
    std::set<int> open;
    for (int number = 0; number < limit; ++number) {
      const int flags = ::fcntl(number, F_GETFL);
      if (flags >= 0 && (flags & O_PATH) == 0 && (flags & O_ACCMODE) != O_RDONLY) {
        open.insert(number);
      }
    }
    return open;
  };
  const auto before = open_below(700);
  auto& session = enter();
  const auto lease = session.lease(2_GiB, "Sort.Keys");
  const SimulatedBuffer buffer{1_MiB};
  EXPECT_EQ(open_below(700), before);
  EXPECT_GT(open_below(1000).size(), before.size()) << "the ledger's";
}

TEST_F(CoreSession, lets_a_signal_handler_exit_while_its_thread_waits_for_a_lease) {
  settings_.devices = "simulated:1x4GiB,context=0";
  settings_.log = folder_.path() + "/log";
  const pid_t holder = start_holder();
  EXPECT_EQ(tests::in_child([&] {
              static Session session{settings_, entry_}; // which exit() ends
              static_cast<void>(session.enter({}));
              struct sigaction action {};
              action.sa_handler = [](int) {
                const auto said = tests::message_of<Error>([] { static_cast<void>(session.check(1_GiB, "Sort.Odd")); });
                session.release();
                std::exit(said.find("a signal handler") == std::string::npos ? 4 : 3); // NOLINT
              };
              ::sigaction(SIGUSR1, &action, nullptr);
              session.while_waiting([](const std::string&) { ::raise(SIGUSR1); });
              static_cast<void>(session.lease(3_GiB, "Sort.Pairs"));
              return 1;
            }),
            3);
  ::kill(holder, SIGKILL);
  EXPECT_EQ(tests::end_of(holder), -SIGKILL);
}

TEST_F(CoreSession, lets_a_thread_exit_while_another_one_waits_for_a_lease) {
  settings_.devices = "simulated:1x4GiB,context=0";
  const pid_t holder = start_holder();
  EXPECT_EQ(tests::in_child([&] {
              static Session session{settings_, entry_}; // which exit() ends, and with it:
              static Lease lease;
              static_cast<void>(session.enter({}));
              lease = session.lease(1_GiB, "Sort.Odd");
              session.release();
              std::promise<void> waits;
              session.while_waiting([&, is_told = false](const std::string&) mutable {
                if (!std::exchange(is_told, true)) {
                  waits.set_value();
                }
              });
              std::thread{[&] {
                waits.get_future().wait();
                session.release();
                std::exit(lease ? 4 : 3); // NOLINT
              }}.detach();
              static_cast<void>(session.lease(3_GiB, "Sort.Pairs"));
              return 1;
            }),
            3);
  ::kill(holder, SIGKILL);
  EXPECT_EQ(tests::end_of(holder), -SIGKILL);
}

TEST_F(CoreSession, gives_nothing_of_its_lease_back_in_a_forked_process) {
  settings_.log = folder_.path() + "/log";
  auto& session = enter();
  const auto lease = session.lease(3_GiB, "Sort.Keys");
  EXPECT_EQ(tests::in_child([&] {
              const bool is_held = bool{lease};
              session_.reset();
              return is_held ? 0 : 1;
            }),
            0);
  EXPECT_EQ(tests::count_events(settings_.log, "release"), 0);
  EXPECT_TRUE(lease);
  EXPECT_EQ(own().stage, Stage::holding);
}

TEST_F(CoreSession, follows_a_lease_that_is_moved) {
  auto& session = enter();
  auto first = session.lease(3_GiB, "Sort.Keys");
  Lease second = std::move(first);
  EXPECT_FALSE(first); // NOLINT(bugprone-use-after-move): that is the claim
  EXPECT_THAT(first.reason(), HasSubstr("moved from"));
  EXPECT_EQ(second.reason(), "");
  EXPECT_TRUE(second);
  first.release();
  EXPECT_EQ(own().stage, Stage::holding) << "the one that was moved from has nothing to give back";
  auto& same = second;
  second = std::move(same);
  EXPECT_TRUE(second);
}

TEST_F(CoreSession, lets_an_old_lease_give_nothing_of_a_new_one_back) {
  auto& session = enter();
  auto old = session.lease(3_GiB, "Sort.Keys");
  session.release();
  EXPECT_FALSE(old);
  EXPECT_THAT(old.reason(), HasSubstr("given back"));
  const auto lease = session.lease(1_GiB, "Sort.Pairs");
  EXPECT_FALSE(old) << "the lease that is held is another one";
  old.release();
  EXPECT_TRUE(lease);
  EXPECT_EQ(own().stage, Stage::holding);
}

TEST_F(CoreSession, may_end_before_its_lease_does) {
  auto lease = enter().lease(3_GiB, "Sort.Keys");
  session_.reset();
  EXPECT_FALSE(lease);
  lease.release();
}

TEST_F(CoreSession, measures_nothing_of_a_test_whose_device_heap_it_cannot_set) {
  settings_.log = folder_.path() + "/log";
  Request with_heap = 1_GiB;
  with_heap.heap = 64_MiB;
  auto& session = enter({with_heap});
  EXPECT_EQ(session.lease(with_heap, "Sort.Keys").outcome().kind, Kind::granted);
  EXPECT_EQ(tests::count_events(settings_.log, "need"), 1);
  with_heap.heap = 128_MiB;
  EXPECT_EQ(session.lease(with_heap, "Sort.Pairs").outcome().kind, Kind::fail);
  EXPECT_EQ(tests::count_events(settings_.log, "release"), 2);
  EXPECT_EQ(tests::count_events(settings_.log, "need"), 1);
}

TEST_F(CoreSession, leaves_a_list_of_devices_as_it_was_when_the_next_session_enters) {
  enter();
  const auto& first = current_devices();
  session_.reset();
  unsetenv("CUDA_VISIBLE_DEVICES");
  unsetenv("GPUTEST_LEASE_OF");
  settings_.devices = "simulated:1x8GiB,context=0";
  enter();
  EXPECT_EQ(first.front().uuid, "SIM-2x4096MiB-0");
  EXPECT_EQ(current_devices().front().uuid, "SIM-1x8192MiB-0");
}

} // namespace
} // namespace gputest

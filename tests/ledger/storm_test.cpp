#include "support/in_child.hpp"
#include "support/private_folder.hpp"
#include "support/storm_oracle.hpp"

#include "ledger/ledger.hpp"

#include <gtest/gtest.h>

#include <poll.h>

#include <array>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>

namespace gputest::tests {
namespace {

/// Keeps a number of processes running on one ledger, and kills some of them at any instruction.
class Storm {
public:
  Storm(unsigned seed, std::size_t starts) : random_{seed}, starts_left_{starts} {
    EXPECT_EQ(::pipe2(steps_.data(), O_CLOEXEC), 0);
    while (running_.size() < 24) {
      start_one();
    }
  }
  ~Storm() {
    ::close(steps_[0]);
    ::close(steps_[1]);
  }
  Storm(const Storm&) = delete;
  Storm& operator=(const Storm&) = delete;

  void run() {
    while (!running_.empty() || !gone_.empty()) {
      if (starts_left_ > 0 && !running_.empty() && up_to(11) == 0) {
        kill_one();
      } else {
        wait_for_a_step();
      }
      reap();
      give_back_memory();
      while (running_.size() < 24 && starts_left_ > 0) {
        start_one();
      }
    }
  }

  int finished = 0; ///< ended by themselves, with 0
  int killed = 0;
  std::string failed; ///< ended in any other way
  StormOracle& oracle() { return oracle_; }
  [[nodiscard]] std::string folder() const { return folder_.path() + "/ledgers"; }
  [[nodiscard]] std::string oracle_file() const { return folder_.path() + "/oracle"; }

private:
  unsigned up_to(unsigned most) { return std::uniform_int_distribution<unsigned>{0, most}(random_); }

  void start_one() {
    --starts_left_;
    const std::string number = std::to_string(next_number_);
    const std::string seed = std::to_string(random_());
    const std::string tests = std::to_string(1 + up_to(7));
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::dup2(steps_[1], STDOUT_FILENO);
      ::execl(GPUTEST_STORM_PROCESS, "storm_process", folder().c_str(), oracle_file().c_str(), number.c_str(),
              seed.c_str(), tests.c_str(), nullptr);
      ::_exit(125);
    }
    running_[pid] = next_number_++;
  }

  /// Blocks until some process has done something, so that kills come in the midst of what they do.
  void wait_for_a_step() {
    pollfd step{steps_[0], POLLIN, 0};
    // A process that ends says nothing: look for those from time to time.
    if (::poll(&step, 1, 20) > 0) {
      std::array<char, 8> bytes{};
      static_cast<void>(!::read(steps_[0], bytes.data(), bytes.size()));
    }
  }

  void kill_one() {
    const auto victim = std::next(running_.begin(), up_to(static_cast<unsigned>(running_.size()) - 1));
    ::kill(victim->first, SIGKILL);
  }

  /// The devices show the memory of the dead as free only some time after they have ended.
  void give_back_memory() {
    while (gone_.size() > 3 || (!gone_.empty() && up_to(9) == 0)) {
      oracle_.clear(gone_.front());
      gone_.pop_front();
    }
  }

  void reap() {
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      const std::size_t number = running_.at(pid);
      running_.erase(pid);
      if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        ++killed;
        gone_.push_back(number);
      } else if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        ++finished;
      } else {
        failed += " " + std::to_string(number) + " with status " + std::to_string(status);
      }
    }
  }

  PrivateFolder folder_;
  StormOracle oracle_{oracle_file()};
  std::mt19937 random_;
  std::size_t starts_left_;
  std::size_t next_number_ = 0;
  std::array<int, 2> steps_{};
  std::map<pid_t, std::size_t> running_; ///< number of each by pid
  std::deque<std::size_t> gone_;         ///< numbers of those that were killed and whose memory is not back yet
};

TEST(LedgerStorm, never_goes_over_the_budget_and_everybody_who_is_not_killed_finishes) {
  Storm storm{20250731, 300};
  storm.run();
  EXPECT_EQ(storm.oracle().violations(), 0U);
  EXPECT_EQ(storm.failed, "");
  EXPECT_EQ(storm.finished + storm.killed, 300);
  EXPECT_GT(storm.killed, 20);
  EXPECT_GT(storm.finished, 20);
  // What the storm leaves on the ledger are only the lines of those who have ended, which the next who enters clears.
  ledger::Ledger ledger{storm.folder(), std::make_shared<StormOracle>(storm.oracle_file())};
  for (const auto& entry : ledger.entries()) {
    EXPECT_FALSE(entry.alive) << entry.who;
  }
  ledger::Ledger::EnterRequest whole;
  whole.who = "0";
  whole.candidates = 3;
  whole.gpus = 2;
  whole.whole_devices = true;
  ledger::Patience at_once;
  at_once.may_wait = false;
  EXPECT_EQ(ledger.enter(whole, at_once).kind, ledger::Result::Kind::granted);
  EXPECT_EQ(ledger.entries().size(), 1U);
}

} // namespace
} // namespace gputest::tests

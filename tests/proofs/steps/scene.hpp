// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "proofs/steps/actor.hpp"
#include "proofs/steps/scenario.hpp"
#include "proofs/steps/tracee.hpp"
#include "proofs/storm/board.hpp"
#include "support/private_folder.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace gputest::tests {

/// Where trials are played, one after the other on the same ledger: each has to leave it as good as new.
class Stage {
public:
  explicit Stage(bool with_ledger);

  [[nodiscard]] Actor::Client place(std::size_t number) { return {folder(), &*board_, number}; }

  /// What is really in use, by what the processes say and whoever kills them.
  [[nodiscard]] storm::Board& board() { return *board_; }

  /// A process that never enters the ledger, and tells what stands on it.
  Actor& observer();

  [[nodiscard]] std::string folder() const { return folder_.path() + "/ledgers"; }

private:
  PrivateFolder folder_;
  storm::SharedBoard board_;
  std::unique_ptr<Actor> observer_;
};

/// One run of a scenario: its processes, brought to where the subject is about to begin with its operation.
class Scene {
public:
  Scene(Stage& stage, const Scenario& scenario);

  [[nodiscard]] Tracee& subject() { return *tracee_; }
  [[nodiscard]] std::size_t others() const { return actors_.size() - 1; }

  /// The subject goes on to the next boundary. Where it is about to sleep, the others do what they do meanwhile.
  Tracee::Stop advance();

  /// Before the subject makes a system call. Where it sleeps, the others do what they do meanwhile, and then a limit of
  /// its request passes. There, and where it tries the mutex, the others come to rest first. So the mutex is free and
  /// whoever notifies the subject has done so: it makes the same calls in the survey and in each trial, however busy
  /// the machine is.
  void before(const SystemCall& call);

  /// After it. An idle process that was notified has left, or waits for the mutex that the subject has: what the
  /// subject sees of it would be a matter of luck otherwise.
  void after_call();

  /// The others do what they do while the subject sleeps, if they have not yet.
  void meanwhile();

  /// At the operation's last breakpoint: what came of it.
  std::string outcome();

  /// Lets the subject begin with its operation again.
  void begin();

  /// Whether the ledger has the subject as one that lives: it has entered, and has not lost its place.
  [[nodiscard]] bool is_on_the_ledger();

  /// Whether the ledger says of it that it waits.
  [[nodiscard]] bool is_asking();

  /// Whether it uses more than the ledger says.
  [[nodiscard]] bool is_beyond_its_claim();

  /// Kills a process; its memory is still in use until show_free().
  void kill(std::size_t number);
  void show_free(std::size_t number);

  /// Brings all that wait to where nothing happens any more. Throws if somebody sleeps who could go on.
  void quiesce();

  /// Throws unless all that wait get what they wait for, as soon as the memory of the dead is free and others give back
  /// what they have; and unless a new process then gets all there is.
  void finish();

private:
  void rest_of_the_others();
  [[nodiscard]] bool observes(const std::string& what);
  void direct(const std::string& line);
  void obey(std::size_t number, const std::string& command);
  void hear(std::size_t number);
  void look_who_has_left();
  Actor& actor(std::size_t number);
  [[nodiscard]] bool give_way();
  void start_anew();

  Stage* stage_;
  const Scenario* scenario_;
  std::map<std::size_t, std::unique_ptr<Actor>> actors_;
  std::unique_ptr<Tracee> tracee_;
  std::map<std::size_t, std::string> waits_; ///< what each has asked for and not got
  std::set<std::size_t> inside_;
  std::set<std::size_t> holding_;
  std::set<std::size_t> idle_;
  std::set<std::size_t> dead_;
  std::set<std::size_t> memory_out_; ///< of these, those whose memory is still in use
  std::set<std::size_t> stopped_;
  bool meanwhile_done_ = false;
  std::string mutex_; ///< the file of the lock that the subject tried last
};

} // namespace gputest::tests

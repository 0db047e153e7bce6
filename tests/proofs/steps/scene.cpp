// SPDX-License-Identifier: BSD-3-Clause
#include "proofs/steps/scene.hpp"

#include "proofs/lock_holder.hpp"
#include "proofs/steps/actor_program.hpp"
#include "proofs/storm/oracle.hpp"

#include <filesystem>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace gputest::tests {

namespace {

constexpr std::size_t subject_number = 0;
constexpr std::size_t observer_number = 6; // more than any scenario has
constexpr std::size_t newcomer_number = 7;

bool begins_with(const std::string& text, const std::string& with) { return text.compare(0, with.size(), with) == 0; }

void expect(bool holds, const std::string& otherwise) {
  if (!holds) {
    throw std::runtime_error{otherwise};
  }
}

void expect_answer(Actor& actor, const std::string& command, const std::string& answer) {
  const std::string said = actor.ask(command);
  expect(said == answer, "process " + std::to_string(actor.number()) + " was told `" + command + "` and answers `" +
                             said + "`, not `" + answer + "`");
}

} // namespace

Stage::Stage(bool with_ledger) {
  board_->devices = scenario_devices;
  board_->row_count = newcomer_number + 1;
  if (with_ledger) {
    observer();
  }
}

Actor& Stage::observer() {
  if (!observer_) {
    observer_ = std::make_unique<Actor>(place(observer_number));
    observer_->ask("open");
  }
  return *observer_;
}

Scene::Scene(Stage& stage, const Scenario& scenario) : stage_{&stage}, scenario_{&scenario} {
  actor(subject_number);
  for (const auto& line : scenario.before) {
    direct(line);
  }
  begin();
}

Actor& Scene::actor(std::size_t number) {
  auto& actor = actors_[number];
  if (!actor) {
    const bool is_subject = number == subject_number;
    actor = std::make_unique<Actor>(stage_->place(number),
                                    is_subject ? Actor::Tracing::by_this_process : Actor::Tracing::none);
    if (is_subject) {
      tracee_ = std::make_unique<Tracee>(actor->pid());
    }
  }
  return *actor;
}

void Scene::direct(const std::string& line) {
  std::istringstream words{line};
  std::size_t number = 0;
  std::string command;
  words >> number >> std::ws;
  std::getline(words, command);
  if (command == "vanishes") {
    show_free(number);
    return;
  }
  if (dead_.count(number) != 0) {
    return; // a trial has killed it before
  }
  if (command == "dies" || command == "dies leaving memory") {
    kill(number);
    if (command == "dies") {
      show_free(number);
    }
  } else if (command == "stops") {
    actor(number).stop();
    stopped_.insert(number);
  } else if (command == "hears") {
    hear(number);
  } else if (command == "idle") {
    actor(number).say(command);
    idle_.insert(number);
    look_who_has_left();
  } else if (waits_.count(number) == 0) {
    obey(number, command);
  }
}

void Scene::obey(std::size_t number, const std::string& command) {
  actor(number).say(command);
  waits_[number] = command;
  holding_.erase(number);
  hear(number);
}

void Scene::hear(std::size_t number) {
  const auto waits = waits_.find(number);
  if (waits == waits_.end() || stopped_.count(number) != 0) {
    return;
  }
  if (const auto answer = actor(number).hear()) {
    const bool granted = begins_with(*answer, "granted");
    expect(granted || *answer == "done",
           "process " + std::to_string(number) + " was told `" + waits->second + "` and answers `" + *answer + "`");
    if (granted) {
      (begins_with(waits->second, "lease") ? holding_ : inside_).insert(number);
    }
    waits_.erase(waits);
  }
}

/// Those who are idle sleep, or have ended because they had to leave.
void Scene::look_who_has_left() {
  for (const std::size_t number : std::set<std::size_t>{idle_}) {
    if (const auto answer = actor(number).hear()) {
      expect(false, "process " + std::to_string(number) + " is idle and answers `" + *answer + "`");
    }
    if (actor(number).has_ended()) {
      kill(number);
      show_free(number);
    }
  }
}

Tracee::Stop Scene::advance() {
  const auto stop = tracee_->to_boundary();
  if (stop == Tracee::Stop::entry) {
    before(tracee_->system_call());
  } else if (stop == Tracee::Stop::exit) {
    after_call();
  }
  return stop;
}

void Scene::after_call() {
  if (!idle_.empty()) {
    rest_of_the_others();
  }
}

void Scene::before(const SystemCall& call) {
  if (is_sleep(call)) {
    meanwhile();
    rest_of_the_others();
    if (!sleeps_until_woken(call) && scenario_->operation.find(" briefly") != std::string::npos) {
      tracee_->set_word(address_of_limit(), 0);
      tracee_->set_word(call.arguments[2], 0); // ppoll()'s time-out: its seconds, and the rest
      tracee_->set_word(call.arguments[2] + sizeof(long), 0);
    }
  } else if (sets_a_lock(call)) {
    mutex_ = tracee_->file(call.arguments[0]);
    if (!holds_mutex(actor(subject_number).pid(), mutex_)) {
      rest_of_the_others();
    }
  }
}

void Scene::rest_of_the_others() {
  const bool mutex_is_taken = !mutex_.empty() && holds_mutex(actor(subject_number).pid(), mutex_);
  for (const auto& [number, actor] : actors_) {
    if (number != subject_number && dead_.count(number) == 0) {
      actor->rest(!memory_out_.empty(), mutex_is_taken);
    }
  }
}

void Scene::meanwhile() {
  if (!meanwhile_done_) {
    meanwhile_done_ = true;
    for (const auto& line : scenario_->meanwhile) {
      direct(line);
      rest_of_the_others(); // else it would depend on the machine how far they have come when the next one happens
    }
  }
}

std::string Scene::outcome() {
  tracee_->let_go();
  const auto outcome = actor(subject_number).hear();
  expect(outcome.has_value(), "the subject says nothing");
  return *outcome;
}

void Scene::begin() {
  actor(subject_number).say("traced " + scenario_->operation);
  expect(tracee_->await_breakpoint() == Tracee::Stop::breakpoint, "the subject does not begin");
}

bool Scene::is_on_the_ledger() { return observes("alive"); }
bool Scene::is_asking() { return observes("asking"); }
bool Scene::is_beyond_its_claim() { return observes("beyond"); }

bool Scene::observes(const std::string& what) {
  if (scenario_->on_a_new_folder) {
    return false; // it is about to be made, or the subject to enter it: looking would make it
  }
  std::istringstream seen{stage_->observer().ask(what).substr(what.size())};
  const std::set<std::size_t> numbers{std::istream_iterator<std::size_t>{seen}, {}};
  return numbers.count(subject_number) != 0;
}

void Scene::kill(std::size_t number) {
  actor(number).kill();
  dead_.insert(number);
  memory_out_.insert(number);
  stopped_.erase(number);
  waits_.erase(number);
  inside_.erase(number);
  holding_.erase(number);
  idle_.erase(number);
}

void Scene::show_free(std::size_t number) {
  storm::Oracle{stage_->board(), number}.use({});
  memory_out_.erase(number);
}

void Scene::quiesce() {
  for (std::size_t before = waits_.size() + idle_.size() + 1; waits_.size() + idle_.size() < before;) {
    before = waits_.size() + idle_.size();
    look_who_has_left();
    for (const auto& [number, actor] : actors_) {
      hear(number);
    }
  }
  if (!waits_.empty()) {
    std::istringstream could{stage_->observer().ask("admissible").substr(10)};
    for (std::size_t number = 0; could >> number;) {
      // A subject that has failed does not sleep, whatever its record says.
      expect(waits_.count(number) == 0 || stopped_.count(number) != 0,
             "process " + std::to_string(number) + " sleeps although it could go on");
    }
  }
}

/// One of those who have something gives it back. Whether there was one.
bool Scene::give_way() {
  if (!holding_.empty()) {
    obey(*holding_.begin(), "release");
    return true;
  }
  for (const std::size_t number : std::set<std::size_t>{inside_}) {
    if (waits_.count(number) == 0) {
      kill(number);
      show_free(number);
      return true;
    }
  }
  return false;
}

void Scene::finish() {
  for (const std::size_t number : stopped_) {
    actor(number).go_on();
  }
  stopped_.clear();
  for (const auto& [number, waiting] : waits_) {
    actor(number).settle(); // they have looked, and memory of the dead is still in use
  }
  for (const std::size_t number : dead_) {
    show_free(number);
  }
  for (quiesce(); !waits_.empty(); quiesce()) {
    expect(give_way(), "process " + std::to_string(waits_.begin()->first) + " was told `" + waits_.begin()->second +
                           "` and waits for nobody");
  }
  for (const auto& [number, actor] : actors_) {
    kill(number);
    show_free(number);
  }
  start_anew();
  expect(stage_->board().violations() == 0, stage_->board().first.data());
}

void Scene::start_anew() {
  const bool simulated = scenario_->operation == "simulated" || begins_with(scenario_->operation, "allocate") ||
                         begins_with(scenario_->operation, "free");
  Actor newcomer{stage_->place(newcomer_number)};
  if (simulated) {
    expect_answer(newcomer, "simulated", "done");
    expect_answer(newcomer, "used", "0");
    expect_answer(newcomer, "allocate 900", "done");
  } else if (scenario_->operation == "store") {
    expect_answer(newcomer, "store", "done");
  } else {
    expect_answer(newcomer, "open", "done");
    expect_answer(newcomer, "enter 3 2 100 900 whole at-once", "granted 3");
    expect_answer(newcomer, "lease 3 0 exclusive at-once", "granted 3");
    expect_answer(stage_->observer(), "alive", "alive " + std::to_string(newcomer_number));
  }
  newcomer.kill();
  show_free(newcomer_number);
  for (const auto& file : std::filesystem::directory_iterator{stage_->folder()}) {
    const std::string name = file.path().filename().string();
    expect(begins_with(name, "ledger-") || begins_with(name, "simulated-") || name == "store",
           "left behind: " + file.path().string());
  }
}

} // namespace gputest::tests

// SPDX-License-Identifier: BSD-3-Clause
// The ledger's file, as any process of its user can write it, checksums and all. An input, of tokens: used slots, then
// `D` <overhead> <UUID, rest of the line> of a device, or `R` and a record: stage, flags, ticket, identity, candidates,
// devices, wanted, overhead, largest, lease, since, pid, uid, gpus, <name, rest of the line>.

#include "core/ledger/ledger.hpp"
#include "core/ledger/stored_record.hpp"
#include "core/os/kernel_clock.hpp"
#include "core/session/messages.hpp"
#include "proofs/fuzz/fuzzer.hpp"
#include "proofs/fuzz/tokens.hpp"
#include "support/observed.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <cstring>
#include <fstream>

using namespace gputest;
using ledger::Ledger;
using ledger::Record;
using ledger::StoredRecord;
using tests::require;

namespace {

/// Devices of 100 bytes that give back at once what the dead had.
class GenerousProbe : public ledger::DeviceProbe {
public:
  [[nodiscard]] std::shared_ptr<const ledger::Observation> observe(const std::string& /*uuid*/) const override {
    return std::make_shared<tests::Observed>(
        [] {
          return policy::Capacity{100, 0};
        },
        [](const Record& /*ended*/) { return true; });
  }
};

template <std::size_t N>
void copy_text(std::array<char, N>& to, std::string_view from) {
  from.remove_prefix(std::min(from.find_first_not_of(' '), from.size()));
  std::copy_n(from.begin(), std::min(from.size(), N), to.begin()); // without a terminator, where it is long enough
}

ledger::DeviceRow read_row(tests::Tokens& tokens) {
  ledger::DeviceRow row;
  row.overhead_bytes = tokens.number();
  copy_text(row.uuid, tokens.line());
  return row;
}

StoredRecord read_record(tests::Tokens& tokens) {
  StoredRecord record;
  record.stage = static_cast<std::uint32_t>(tokens.number());
  record.flags = static_cast<std::uint32_t>(tokens.number());
  record.ticket = tokens.number();
  record.identity = tokens.number();
  record.candidates = tokens.number();
  record.devices = tokens.number();
  record.wanted = tokens.number();
  record.overhead_bytes = tokens.number();
  record.largest_bytes = tokens.number();
  record.lease_bytes = tokens.number();
  record.since_ns = static_cast<std::int64_t>(tokens.number());
  record.pid = static_cast<std::int64_t>(tokens.number());
  record.uid = static_cast<std::uint32_t>(tokens.number());
  record.gpus = static_cast<std::uint32_t>(tokens.number());
  copy_text(record.who, tokens.line());
  return record;
}

/// A ledger's file that is rewritten for each input, with the checksums that a process of this user could write.
class LedgerFile {
public:
  void write(tests::Tokens tokens) {
    for (std::size_t row = 0; row < ledger::max_devices; ++row) {
      store_.write_row(row, ledger::DeviceRow{});
    }
    for (std::size_t slot = 0; slot < written_; ++slot) {
      store_.write(slot, StoredRecord{});
    }
    const auto used = static_cast<std::uint32_t>(tokens.number());
    const std::array<std::uint32_t, 2> twice{used, ~used};
    std::fstream file{store_.path() + "/ledger", std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(used_slots_offset).write(reinterpret_cast<const char*>(twice.data()), sizeof twice);
    file.close();
    std::size_t rows = 0;
    written_ = 0;
    while (!tokens.done()) {
      if (tokens.letter() == 'D') {
        store_.write_row(rows++ % ledger::max_devices, read_row(tokens));
      } else {
        store_.write(written_, read_record(tokens));
        written_ = std::min<std::size_t>(written_ + 1, ledger::slots_of_a_user - 1);
      }
    }
  }

  [[nodiscard]] const std::string& folder() const { return folder_.path(); }

private:
  static constexpr std::size_t used_slots_offset = 4096 + ledger::ledger_layout.table_bytes;

  tests::PrivateFolder folder_;
  os::SlotStore store_{folder_.path(), ledger::ledger_name, ledger::ledger_layout};
  std::size_t written_ = ledger::slots_of_a_user; ///< slots that may not be empty
};

void check(const Record& entry) {
  require(entry.slot < ledger::ledger_layout.slots, "a slot that there is");
  require(entry.claim.stage <= policy::Stage::idle, "a stage that there is");
  require(entry.since.time_since_epoch().count() >= 0, "a time that can be taken off now");
  require(tests::is_printable(entry.who), "a name that a terminal shows as it is", entry.who);
  require(!entry.alive, "nobody has a wake-up FIFO");
  const StoredRecord again = ledger::to_stored(entry);
  const StoredRecord twice = ledger::to_stored(ledger::to_record(entry.slot, again));
  require(std::memcmp(&again, &twice, sizeof again) == 0, "what was read is written and read as itself");
  require(tests::is_printable(session::describe(entry)), "what is said of it is one line");
}

void check(ledger::DeviceTable& table) {
  for (std::size_t index = 0; index < ledger::max_devices; ++index) {
    const std::string uuid = table.uuid(index);
    require(tests::is_printable(uuid) && uuid.size() < 96, "a UUID that a terminal shows as it is", uuid);
  }
  static_cast<void>(table.overhead_bytes(~policy::DeviceMask{0}));
}

/// Nobody on the ledger lives, and the device shows all memory free: whatever they left there, nobody is kept out.
void check_that_the_dead_keep_nobody_out(Ledger& ledger, policy::DeviceMask device) {
  const ledger::Patience none{false, os::KernelClock::now(), {}, {}, {}};
  const auto entered = ledger.enter({"fuzzer", device, 1, 10, 50, false}, none);
  require(entered.kind == ledger::Result::Kind::granted && entered.devices == device, "the dead keep nobody out");
  const auto leased = ledger.lease({"fuzzer", device, 50, false, true}, none);
  require(leased.kind == ledger::Result::Kind::granted, "the dead keep nobody from a lease");
  const auto own = ledger.holder_of(ledger.credential());
  require(own && own->alive && own->claim.lease_bytes == 50, "its own record is what it wrote");
  ledger.release();
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static LedgerFile file;
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  file.write(tests::Tokens{input});
  try {
    Ledger ledger{file.folder(), std::make_shared<GenerousProbe>()};
    for (const Record& entry : ledger.records()) {
      check(entry);
    }
    check(ledger.devices());
    require(!ledger.holder_of(std::string{input}), "a credential of nobody");
    const auto device = ledger.devices().bit_of("GPU-mine");
    require(device == ledger.devices().bit_of("GPU-mine"), "a device keeps its bit");
    check_that_the_dead_keep_nobody_out(ledger, device);
  } catch (const LedgerError& error) {
    const std::string said = error.what();
    require(tests::contains(said, "knows 64 devices already") || tests::contains(said, "that no gputest writes") ||
                tests::contains(said, " slots are used"),
            "an error says what is wrong", said);
  }
  return 0;
}

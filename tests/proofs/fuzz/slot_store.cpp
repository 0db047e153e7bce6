// SPDX-License-Identifier: BSD-3-Clause
// The file of a slot store. An input is its length in pages (the first byte), less the second byte, and how it begins;
// the rest is zeros.

#include "core/ledger/storage/slot_store.hpp"
#include "proofs/fuzz/fuzzer.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <array>
#include <fstream>

#include <unistd.h>

using namespace gputest;
using os::SlotStore;
using tests::require;

namespace {

constexpr os::Layout layout{1, 4096, 256, 16};

struct StoredRecord {
  std::array<char, layout.record_bytes - sizeof(SlotStore::Checksum)> bytes{};
};

std::string make_store(const std::string& folder) {
  const SlotStore store{folder, "store", layout};
  return store.path() + "/ledger";
}

std::size_t write_file(const std::string& path, const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t page = 4096;
  constexpr std::size_t most_pages = 4;
  const std::size_t pages = size > 0 ? data[0] % (most_pages + 1) * page : 0;
  const std::size_t length = pages - std::min<std::size_t>(pages, size > 1 ? data[1] : 0);
  const std::size_t beginning = std::min(length, size > 2 ? size - 2 : 0);
  require(::truncate(path.c_str(), 0) == 0 && ::truncate(path.c_str(), static_cast<off_t>(length)) == 0,
          "a file can be given a length");
  if (beginning > 0) {
    std::fstream{path, std::ios::in | std::ios::out | std::ios::binary}.write(reinterpret_cast<const char*>(data) + 2,
                                                                              static_cast<std::streamsize>(beginning));
  }
  return length;
}

void use(SlotStore& store) {
  std::size_t seen = 0;
  store.for_each<StoredRecord>([&](std::size_t slot, const StoredRecord&) { require(slot == seen++, "in order"); });
  require(seen <= store.slots(), "no more slots are used than there are");
  const auto last = store.take([&](std::size_t slot) { return slot == store.slots() - 1; });
  require(last.slot == store.slots() - 1, "the slot that was accepted is taken");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tests::PrivateFolder folder;
  static const std::string file = make_store(folder.path());
  const std::size_t length = write_file(file, data, size);
  try {
    SlotStore store{folder.path(), "store", layout};
    require(length == 4096 + layout.table_bytes + (1 + layout.slots) * layout.record_bytes,
            "only a whole file is opened");
    use(store);
  } catch (const LedgerError& error) {
    require(tests::contains(error.what(), file), "a refusal names the file", error.what());
  }
  return 0;
}

#include "platform/slot_store.hpp"

#include "platform/file_system.hpp"
#include "platform/reason.hpp"
#include "platform/user_name.hpp"
#include "policy/file_systems.hpp"

#include <gputest/error.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <mutex>
#include <optional>
#include <utility>

namespace gputest::platform {

namespace {

constexpr std::array<char, 8> magic{'g', 'p', 'u', 't', 'e', 's', 't', '\n'};

struct Header {
  std::array<char, 8> magic;
  Layout layout;
};

/// How many slots have ever had an owner. Twice, so that no single damage is taken for a smaller number.
struct Used {
  std::uint32_t slots = 0;
  std::uint32_t complement = UINT32_MAX;
};

constexpr mode_t own_folder = 0700;
constexpr mode_t shared_folder = 02750; // setgid: what is made in it is of the group
constexpr mode_t own_file = 0600;
constexpr mode_t readable_file = 0640;
constexpr mode_t fifo_for_all = 0660;

/// Members may leave what they like in a shared folder: how much of it is looked through, and how many of them can be
/// on one ledger.
constexpr std::size_t most_entries = 4096;
constexpr std::size_t most_parts = 256;

LedgerError failure(const std::string& what, const std::string& path, int error) {
  return LedgerError{"cannot " + what + " " + path + ": " + reason(error)};
}

/// Over whole words, and 0 for zeros. Against damage, not against forgery: a process that can write a record can
/// compute its checksum.
SlotStore::Checksum checksum(const std::byte* bytes, std::size_t size) {
  constexpr std::size_t lanes = 4; // a multiplication takes the time of several that do not need each other's result
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15;
  std::array<std::uint64_t, lanes> sums{};
  for (std::size_t word = 0; word < size / sizeof(std::uint64_t); ++word) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes + word * sizeof value, sizeof value);
    auto& sum = sums[word % lanes];
    sum = (sum ^ value) * odd;
    sum ^= sum >> 29U;
  }
  std::uint64_t all = 0;
  for (const std::uint64_t sum : sums) {
    all = (all ^ sum) * odd;
    all ^= all >> 32U;
  }
  return all;
}

/// Of `size` bytes with the checksum at their end.
bool is_sound(const std::byte* bytes, std::size_t size) {
  SlotStore::Checksum stored = 0;
  std::memcpy(&stored, bytes + size - sizeof stored, sizeof stored);
  return stored == checksum(bytes, size - sizeof stored);
}

void refuse_network(const LedgerFolder& folder) {
  const auto name = policy::network_file_system(file_system_type(folder.number()));
  if (!name.empty()) {
    throw LedgerError{"a ledger cannot be in " + folder.path() + ", which is on " + std::string{name} +
                      ": locks and FIFOs there need not hold between machines; set GPUTEST_DIR to a folder of your own "
                      "on a local file system"};
  }
}

LedgerError damaged(const std::string& file, const std::string& how, uid_t owner) {
  return LedgerError{file + " is damaged: " + how + repair_of(owner)};
}

/// Makes the folder of a part, under another name first, since a umask may take off what others need to read it, and
/// the process may be killed before it has put that right. Whether it is there then, with errno as it is after
/// rename(2). Any step fails with ENOENT if another process of this user has just renamed or removed what both were
/// making.
bool make_folder(const FileAt& place) {
  FileAt beginning = place;
  beginning.name = "beginning." + place.name;
  if (::mkdirat(place.folder, beginning.name.c_str(), place.mode) != 0 && errno != EEXIST) {
    throw failure("make the folder", beginning.path, errno);
  }
  const bool made =
      ::fchmodat(place.folder, beginning.name.c_str(), place.mode, AT_SYMLINK_NOFOLLOW) == 0 &&
      beginning.open(O_RDONLY | O_DIRECTORY, S_IFDIR) &&
      ::renameat2(place.folder, beginning.name.c_str(), place.folder, place.name.c_str(), RENAME_NOREPLACE) == 0;
  if (!made) {
    const int error = errno;
    ::unlinkat(place.folder, beginning.name.c_str(), AT_REMOVEDIR);
    errno = error;
  }
  return made;
}

/// Opens the folder of a part, and makes it if there is none.
Descriptor open_or_make(const FileAt& place) {
  constexpr int max_tries = 1000; // each is in vain only if another process of this user was faster
  for (int tries = 0; tries < max_tries; ++tries) {
    Descriptor folder = place.open(O_RDONLY | O_DIRECTORY, S_IFDIR);
    if (folder) {
      return folder;
    }
    if (errno != ENOENT) {
      throw failure("open the folder", place.path, errno);
    }
    if (!make_folder(place) && errno != EEXIST && errno != ENOENT) {
      throw failure("make the folder", place.path, errno);
    }
  }
  throw failure("make the folder", place.path, ENOENT);
}

} // namespace

SlotStore::SlotStore(const std::string& folder, const std::string& name, const Layout& layout)
    : layout_{layout}, name_{name}, folder_{folder} {
  refuse_network(folder_);
  auto own = std::make_unique<Part>();
  own->owner = ::geteuid();
  own->path = folder_of(own->owner).path;
  parts_.push_back(std::move(own));
  if (folder_.is_shared()) {
    try {
      mutex_ = std::make_unique<FileLock>(folder_.at("mutex", 0, readable_file));
    } catch (const LedgerError& error) {
      throw LedgerError{
          std::string{error.what()} +
          "; in a shared folder it is a regular file of root's with the mode 0660, in the folder's group: "
          "an administrator has to make it anew as the README says"};
    }
    // The first of this user's processes to take a slot creates this user's part, under the mutex.
    static_cast<void>(this->open(*parts_.front()));
    return;
  }
  const FileAt place = folder_of(::geteuid());
  const Descriptor opened = open_or_make(place);
  mutex_ = std::make_unique<FileLock>(FileAt{opened.number(), place.path, "mutex", place.owner, own_file},
                                      FileLock::IfMissing::make);
  if (!this->open(*parts_.front())) {
    const std::lock_guard guard{*mutex_};
    make_own();
  }
}

/// In a private folder there is one part. The version is in the name: one of another version is another store.
FileAt SlotStore::folder_of(uid_t owner) const {
  return folder_.is_shared() ? folder_.at(name_ + "." + std::to_string(owner), owner, shared_folder)
                             : folder_.at(name_, owner, own_folder);
}

/// Makes this user's part, unless it is there. Under the mutex.
void SlotStore::make_own() {
  Part& own = *parts_.front();
  if (own.is_there || this->open(own)) {
    return;
  }
  const FileAt place = folder_of(own.owner);
  const Descriptor folder = open_or_make(place);
  const mode_t mode = folder_.is_shared() ? readable_file : own_file;
  const FileAt beginning{folder.number(), place.path, "beginning", own.owner, mode};
  try {
    SharedFile::create(beginning, file_bytes());
    SharedFile file{beginning};
    const Header header{magic, layout_};
    const Used none;
    file.write(0, &header, sizeof header);
    file.write(used_offset(), &none, sizeof none);
    // Never over another one: it may be in use.
    if (::renameat2(folder.number(), "beginning", folder.number(), "ledger", RENAME_NOREPLACE) != 0) {
      throw failure("rename a new ledger to", place.path + "/ledger", errno);
    }
  } catch (const LedgerError&) {
    ::unlinkat(folder.number(), "beginning", 0);
    throw;
  }
  if (!this->open(own)) {
    throw failure("open the new ledger", own.path + "/ledger", ENOENT);
  }
}

/// Opens a part whose files are there. Whether they are. Throws LedgerError for anything else in their place.
bool SlotStore::open(Part& part) const {
  const FileAt place = folder_of(part.owner);
  Descriptor folder = place.open(O_RDONLY | O_DIRECTORY, S_IFDIR);
  if (!folder) {
    if (errno == ENOENT) {
      return false;
    }
    throw failure("open the folder", place.path, errno);
  }
  const FileAt ledger{folder.number(), place.path, "ledger", part.owner, own_file};
  if (!FileIdentity::at(ledger) && errno == ENOENT) {
    return false;
  }
  SharedFile file{ledger};
  Header header{};
  if (file.size() >= sizeof header) {
    file.read(0, &header, sizeof header);
  }
  const bool right_sizes = header.layout.table_bytes == layout_.table_bytes &&
                           header.layout.record_bytes == layout_.record_bytes && header.layout.slots == layout_.slots;
  if (header.magic != magic || header.layout.version != layout_.version || !right_sizes ||
      file.size() != file_bytes()) {
    const std::string seen =
        file.size() == 0                           ? "empty"
        : header.magic != magic                    ? "something else"
        : header.layout.version != layout_.version ? "layout version " + std::to_string(header.layout.version)
        : file.size() != file_bytes()
            ? "damaged (" + std::to_string(file.size()) + " bytes in place of " + std::to_string(file_bytes()) + ")"
            : "damaged (its sizes are not those of its version)";
    throw LedgerError{ledger.path + " is " + seen + ", and this gputest reads layout version " +
                      std::to_string(layout_.version) + " only" + repair_of(part.owner)};
  }
  part.folder = KeptDescriptor{std::move(folder), place.path};
  part.file = std::move(file);
  part.is_there = true;
  return true;
}

/// Finds the users that have joined or left a shared folder since the last look.
void SlotStore::refresh() {
  struct stat status {};
  if (!folder_.is_shared() || ::fstat(folder_.number(), &status) != 0) {
    return;
  }
  const auto is = [](const std::timespec& a, const std::timespec& b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
  };
  if (is(status.st_mtim, looked_at_)) {
    return;
  }
  looked_at_ = {};
  if (!look_for_parts()) {
    return; // what is made in a part does not change the folder
  }
  // The clock of files goes on in steps of some milliseconds: of a folder that has just changed the next change may
  // have the same time.
  std::timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  if (now.tv_sec > status.st_mtim.tv_sec + 1) {
    looked_at_ = status.st_mtim;
  }
}

/// Whether all of them are complete.
bool SlotStore::look_for_parts() {
  const int copy = ::openat(folder_.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); // with a place of its own in it
  const std::unique_ptr<DIR, int (*)(DIR*)> entries{copy >= 0 ? ::fdopendir(copy) : nullptr, ::closedir};
  if (!entries) {
    throw failure("read the folder", folder_.path(), errno);
  }
  const std::string prefix = name_ + ".";
  std::vector<uid_t> owners;
  std::size_t count = 0;
  for (const dirent* entry = nullptr; (entry = ::readdir(entries.get())) != nullptr;) {
    if (++count > most_entries) {
      throw LedgerError{folder_.path() + " has more than " + std::to_string(most_entries) +
                        " entries, and a shared ledger needs one a user; an administrator has to remove what is not "
                        "called " +
                        prefix + "<uid>"};
    }
    const std::string name = entry->d_name;
    uid_t owner = 0;
    const char* const end = name.data() + name.size();
    if (name.compare(0, prefix.size(), prefix) == 0) {
      const auto number = std::from_chars(name.data() + prefix.size(), end, owner);
      struct stat status {};
      // A part that does not belong to the user of its name is nobody's, and is never used.
      if (number.ec == std::errc{} && number.ptr == end && owner != parts_.front()->owner &&
          name == prefix + std::to_string(owner) &&
          ::fstatat(folder_.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode) &&
          status.st_uid == owner) {
        owners.push_back(owner);
      }
    }
  }
  for (std::size_t i = 1; i < parts_.size(); ++i) {
    Part& part = *parts_[i];
    const auto known = std::find(owners.begin(), owners.end(), part.owner);
    const auto seen = FileIdentity::at(folder_of(part.owner));
    if (part.is_there && known != owners.end() && seen && *seen == part.folder.identity()) {
      owners.erase(known);
    } else { // gone, or made anew: that is another part
      part.is_there = false;
      part.file = SharedFile{};
      part.folder = KeptDescriptor{};
    }
  }
  bool complete = true;
  for (const uid_t owner : owners) {
    auto part = std::make_unique<Part>();
    part->owner = owner;
    part->path = folder_of(owner).path;
    if (!this->open(*part)) {
      complete = false; // just being made
      continue;
    }
    if (parts_.size() >= most_parts) {
      throw LedgerError{folder_.path() + " has had more than " + std::to_string(most_parts) +
                        " users' ledgers since this process began; start it again, or use several shared folders "
                        "(GPUTEST_DIR)"};
    }
    parts_.push_back(std::move(part));
  }
  return complete;
}

std::size_t SlotStore::used_slots(const Part& part, const std::byte* block) const {
  const auto used = from<Used>(block);
  if ((used.slots ^ used.complement) != UINT32_MAX || used.slots > layout_.slots) {
    throw damaged(part.file.path(), "it says that " + std::to_string(used.slots) + " slots are used", part.owner);
  }
  return used.slots;
}

/// All that are used, with one read as long as there are no more than there were.
SlotStore::Records SlotStore::read_records(const Part& part) const {
  const std::size_t size = layout_.record_bytes;
  Records records;
  for (;;) {
    records.bytes.reset(new std::byte[(1 + part.used) * size]); // NOLINT(*-owning-memory): reset() takes it
    part.file.read(used_offset(), records.bytes.get(), (1 + part.used) * size);
    records.count = used_slots(part, records.bytes.get());
    if (records.count <= part.used) {
      break;
    }
    part.used = records.count;
  }
  // The first block is not a record.
  std::memmove(records.bytes.get(), records.bytes.get() + size, records.count * size);
  for (std::size_t slot = 0; slot < records.count; ++slot) {
    if (!is_sound(records.bytes.get() + slot * size, size)) {
      throw damaged(part.file.path(), "record " + std::to_string(slot) + " has not been written by any gputest",
                    part.owner);
    }
  }
  return records;
}

void SlotStore::read_checked(const Part& part, std::size_t offset, void* data, std::size_t size) const {
  part.file.read(offset, data, size);
  if (!is_sound(static_cast<const std::byte*>(data), size)) {
    throw damaged(part.file.path(),
                  "what is at byte " + std::to_string(offset) + " has not been written by any gputest", part.owner);
  }
}

void SlotStore::write_checked(std::size_t offset, std::byte* data, std::size_t size) {
  const Checksum sum = checksum(data, size - sizeof sum);
  std::memcpy(data + size - sizeof sum, &sum, sizeof sum);
  mutex_->require_kept();
  make_own();
  parts_.front()->file.write(offset, data, size);
}

void SlotStore::require_in_place() const {
  const Part& own = *parts_.front();
  if ((own.is_there && own.file.is_removed()) || mutex_->is_removed()) {
    const bool again = FileIdentity::at(path()).has_value(); // the folder may be another one, too
    throw LedgerError{
        "the ledger " + path() + " was removed" + (again ? " and made anew" : "") +
        " while this process used it, so that nobody knows of everybody; let all GPU tests end, and start "
        "them again. A ledger needs no cleaning up: what is in it of dead processes is not counted"};
  }
}

void SlotStore::require_intact() const {
  mutex_->require_kept();
  if (parts_.front()->is_there) {
    parts_.front()->file.require_kept();
  }
}

SlotStore::Taken SlotStore::take(const std::function<bool(std::size_t)>& is_free) {
  make_own();
  Part& own = *parts_.front();
  for (std::size_t slot = 0; slot < slots(); ++slot) {
    if (!is_free(slot)) {
      continue;
    }
    if (auto taken = WakeFifo::take(fifo(slot))) {
      std::array<std::byte, sizeof(Used)> block{};
      own.file.read(used_offset(), block.data(), block.size());
      if (const auto used = static_cast<std::uint32_t>(slot + 1); used > used_slots(own, block.data())) {
        const Used more{used, ~used};
        own.file.write(used_offset(), &more, sizeof more);
      }
      return {slot, std::move(taken)};
    }
  }
  throw LedgerError{"all " + std::to_string(slots()) + " places of " + path() +
                    " are taken by running processes; run fewer GPU tests at once (ctest -j)"};
}

FileAt SlotStore::fifo(std::size_t slot) const {
  const Part& part = part_of(slot);
  const int folder = part.is_there ? part.folder.number() : FileAt::gone;
  return {folder, part.path, "fifo." + std::to_string(slot % layout_.slots), part.owner,
          folder_.is_shared() ? fifo_for_all : own_file};
}

} // namespace gputest::platform

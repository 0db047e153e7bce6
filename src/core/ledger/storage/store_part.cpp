// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/storage/store_part.hpp"

#include "core/os/file.hpp"

#include <gputest/error.hpp>

#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace gputest::os {

namespace {

constexpr std::array<char, 8> magic{'g', 'p', 'u', 't', 'e', 's', 't', '\n'};

struct Header {
  std::array<char, 8> magic;
  Layout layout;
};

constexpr mode_t own_folder = 0700;
constexpr mode_t shared_folder = 02750; // setgid: what is made in it is of the group
constexpr mode_t own_file = 0600;
constexpr mode_t readable_file = 0640;
constexpr mode_t writable_file = 0660;

bool is_shared(const FileAt& place) { return place.mode == shared_folder; }

/// Whether a file system has no RENAME_NOREPLACE: ZFS before 2.2, 9p, and what a sandbox emulates.
bool cannot_rename_without_replacing(int error) { return error == EINVAL || error == ENOSYS; }

std::size_t bytes_of(const Layout& layout, std::size_t header) {
  return header + layout.table_bytes + (std::size_t{1} + layout.slots) * layout.record_bytes;
}

/// To write beyond RLIMIT_FSIZE is not only an error: a signal ends the process, without a word.
void require_size_allowed(std::size_t size, const std::string& path) {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_max != RLIM_INFINITY && limit.rlim_max < size) {
    throw LedgerError{path + " needs " + std::to_string(size) + " bytes, and this process may write files of " +
                      std::to_string(limit.rlim_max) + " bytes only (ulimit -f); raise the limit"};
  }
}

KeptDescriptor open_kept(const FileAt& file) {
  Descriptor opened = file.open(file.is_own() ? O_RDWR : O_RDONLY, S_IFREG);
  if (opened) {
    return {std::move(opened), file.path};
  }
  const bool is_leased = errno == EWOULDBLOCK;
  const auto why = failure(file.is_own() ? "read and write" : "read", file.path, errno);
  throw !is_leased
      ? why
      : LedgerError{std::string{why.what()} + ": a process of its owner's keeps a file lease on it (fcntl F_SETLEASE)" +
                    repair_of(file.owner)};
}

/// Makes the folder of a part, under another name first, since a umask may take off what others need to read it, and
/// the process may be killed before it has put that right. Whether it is there then, with errno as it is after
/// rename(2). Any step fails with ENOENT if another process of this user has just renamed or removed what both were
/// making.
bool make_folder(const FileAt& place) {
  FileAt beginning = place;
  beginning.name = "beginning." + place.name;
  beginning.path.replace(beginning.path.size() - place.name.size(), std::string::npos, beginning.name);
  if (::mkdirat(place.folder, beginning.name.c_str(), place.mode) != 0 && errno != EEXIST) {
    throw failure("make the folder", place.path, errno);
  }
  const auto give_mode = [&](const FileAt& folder) {
    return ::fchmodat(folder.folder, folder.name.c_str(), folder.mode, AT_SYMLINK_NOFOLLOW) == 0;
  };
  give_mode(beginning); // without it a umask may keep this user from opening it
  const bool made =
      beginning.open(O_RDONLY | O_DIRECTORY, S_IFDIR) && // another user may have taken the name
      give_mode(beginning) &&
      ::renameat2(place.folder, beginning.name.c_str(), place.folder, place.name.c_str(), RENAME_NOREPLACE) == 0;
  if (!made) {
    const int error = errno;
    ::unlinkat(place.folder, beginning.name.c_str(), AT_REMOVEDIR);
    if (cannot_rename_without_replacing(error)) {
      return ::mkdirat(place.folder, place.name.c_str(), place.mode) == 0 && give_mode(place);
    }
    errno = error;
  }
  return made;
}

/// Over whole words, and 0 for zeros. Against damage, not against forgery: a process that can write a record can
/// compute its checksum.
StorePart::Checksum checksum(const std::byte* bytes, std::size_t size) {
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
  StorePart::Checksum stored = 0;
  std::memcpy(&stored, bytes + size - sizeof stored, sizeof stored);
  return stored == checksum(bytes, size - sizeof stored);
}

} // namespace

FileAt StorePart::place(const LedgerFolder& folder, const std::string& name, uid_t owner) {
  return folder.is_shared() ? folder.at(name + "." + std::to_string(owner), owner, shared_folder)
                            : folder.at(name, owner, own_folder);
}

Descriptor StorePart::open_or_make_folder(const FileAt& place) {
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

std::optional<StorePart> StorePart::open(const FileAt& place, const Layout& layout) {
  Descriptor folder = place.open(O_RDONLY | O_DIRECTORY, S_IFDIR);
  if (!folder) {
    if (errno == ENOENT) {
      return std::nullopt;
    }
    throw failure("open the folder", place.path, errno);
  }
  const FileAt ledger{folder.number(), place.path, "ledger", place.owner, own_file};
  if (!FileIdentity::at(ledger)) {
    if (errno == ENOENT) {
      return std::nullopt;
    }
    throw failure("look at", ledger.path, errno);
  }
  StorePart part{place, layout, std::move(folder), open_kept(ledger)};
  part.require_layout();
  return part;
}

StorePart StorePart::make(const FileAt& place, const Layout& layout) {
  const Descriptor folder = open_or_make_folder(place);
  const mode_t mode = is_shared(place) ? readable_file : own_file;
  const FileAt beginning{folder.number(), place.path, "beginning", place.owner, mode};
  try {
    create_file(beginning, layout);
    // Never over another one: it may be in use. Only this user's processes make one here, each under the mutex.
    const auto is_missing = [&] { return ::faccessat(folder.number(), "ledger", F_OK, AT_SYMLINK_NOFOLLOW) != 0; };
    if (::renameat2(folder.number(), "beginning", folder.number(), "ledger", RENAME_NOREPLACE) != 0 &&
        !(cannot_rename_without_replacing(errno) && is_missing() &&
          ::renameat(folder.number(), "beginning", folder.number(), "ledger") == 0)) {
      throw failure("rename a new ledger to", place.path + "/ledger", errno);
    }
  } catch (const LedgerError&) {
    ::unlinkat(folder.number(), "beginning", 0);
    throw;
  }
  auto made = open(place, layout);
  if (!made) {
    throw failure("open the new ledger", place.path + "/ledger", ENOENT);
  }
  return std::move(*made);
}

StorePart::StorePart(const FileAt& place, const Layout& layout, Descriptor folder, KeptDescriptor file)
    : owner_{place.owner}, shared_{is_shared(place)}, layout_{layout}, folder_{std::move(folder), place.path},
      file_{std::move(file)} {}

void StorePart::create_file(const FileAt& file, const Layout& layout) {
  const auto size = bytes_of(layout, header_bytes);
  require_size_allowed(size, file.path);
  const WithoutFileSizeLimit unlimited{size};
  const Descriptor created = file.open(O_RDWR | O_CREAT, S_IFREG);
  if (!created || ::ftruncate(created.number(), 0) != 0) { // a killed process's beginning
    throw failure("create", file.path, errno);
  }
  int error = EINTR;
  while (error == EINTR) {
    error = ::posix_fallocate(created.number(), 0, static_cast<off_t>(size));
  }
  if (error != 0) {
    throw failure("allocate " + std::to_string(size) + " bytes for", file.path, error);
  }
  const Header header{magic, layout};
  const Used none;
  write(created.number(), file.path, 0, &header, sizeof header);
  write(created.number(), file.path, header_bytes + layout.table_bytes, &none, sizeof none);
}

void StorePart::require_layout() const {
  const std::size_t seen_size = size();
  if (owner_ == ::geteuid()) {
    require_size_allowed(seen_size, file_.path());
  }
  Header header{};
  if (seen_size >= sizeof header) {
    read(0, &header, sizeof header);
  }
  const std::size_t right_size = bytes_of(layout_, header_bytes);
  const bool right_sizes = header.layout.table_bytes == layout_.table_bytes &&
                           header.layout.record_bytes == layout_.record_bytes && header.layout.slots == layout_.slots;
  if (header.magic == magic && header.layout.version == layout_.version && right_sizes && seen_size == right_size) {
    return;
  }
  const std::string seen =
      seen_size == 0          ? "empty"
      : header.magic != magic ? "no ledger, or overwritten by a program that wrote to a descriptor of gputest's"
      : header.layout.version != layout_.version ? "layout version " + std::to_string(header.layout.version)
      : seen_size != right_size
          ? "damaged (" + std::to_string(seen_size) + " bytes in place of " + std::to_string(right_size) + ")"
          : "damaged (its sizes are not those of its version)";
  throw LedgerError{file_.path() + " is " + seen + ", and this gputest reads layout version " +
                    std::to_string(layout_.version) + " only" + repair_of(owner_)};
}

FileAt StorePart::wake_fifo(std::size_t slot) const {
  return {folder_.number(), folder_.path(), "wake." + std::to_string(slot), owner_, shared_ ? writable_file : own_file};
}

FileAt StorePart::liveness_fifo(std::size_t slot) const {
  return {folder_.number(), folder_.path(), "alive." + std::to_string(slot), owner_,
          shared_ ? readable_file : own_file};
}

LedgerError StorePart::damaged(const std::string& how) const {
  return LedgerError{file_.path() + " is damaged: " + how + repair_of(owner_)};
}

std::size_t StorePart::size() const {
  struct stat status {};
  return ::fstat(file_.unchecked_number(), &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

void StorePart::read(std::size_t offset, void* data, std::size_t size) const {
  auto* const bytes = static_cast<std::byte*>(data);
  for (std::size_t done = 0; done < size;) { // at once, unless the kernel has reason to read less
    const ssize_t count =
        ::pread(file_.unchecked_number(), bytes + done, size - done, static_cast<off_t>(offset + done));
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0) {
      require_kept(); // a file of the test's own may be shorter
      throw damaged("it ends after " + std::to_string(this->size()) + " bytes, and has to have " +
                    std::to_string(offset + size) + " at least");
    } else if (const int error = errno; error != EINTR) {
      require_kept();
      throw failure("read", file_.path(), error);
    }
  }
}

void StorePart::write(int file, const std::string& path, std::size_t offset, const void* data, std::size_t size) {
  const auto* const bytes = static_cast<const std::byte*>(data);
  const WithoutFileSizeLimit unlimited{offset + size};
  for (std::size_t done = 0; done < size;) { // at once, unless the kernel has reason to write less
    const ssize_t written = ::pwrite(file, bytes + done, size - done, static_cast<off_t>(offset + done));
    if (written == 0 || (written < 0 && errno != EINTR)) {
      throw failure("write", path, written < 0 ? errno : ENOSPC);
    }
    done += written > 0 ? static_cast<std::size_t>(written) : 0;
  }
}

std::size_t StorePart::used_slots() const {
  std::byte bytes[sizeof(Used)]; // NOLINT(*-avoid-c-arrays, *-member-init): read at once
  read(used_offset(), bytes, sizeof bytes);
  return used_in(bytes);
}

std::size_t StorePart::used_in(const std::byte* bytes) const {
  const auto used = from<Used>(bytes);
  if ((used.slots ^ used.complement) != UINT32_MAX || used.slots > layout_.slots) {
    throw damaged("it says that " + std::to_string(used.slots) + " slots are used");
  }
  return used.slots;
}

/// How many slots have had an owner, and their records. One call of the kernel's gets all of them, if they are few.
std::unique_ptr<std::byte[]> StorePart::read_records() const { // NOLINT(*-avoid-c-arrays)
  const std::size_t size = layout_.record_bytes;
  const auto read_first = [&](std::size_t slots) {
    std::unique_ptr<std::byte[]> bytes{new std::byte[(1 + slots) * size]}; // NOLINT: without being zeroed first
    read(used_offset(), bytes.get(), (1 + slots) * size);
    return bytes;
  };
  std::size_t room = std::min<std::size_t>(layout_.slots, 16);
  auto bytes = read_first(room);
  std::size_t count = 0;
  while ((count = used_in(bytes.get())) > room) { // without the mutex more may be used now
    room = count;
    bytes = read_first(room);
  }
  for (std::size_t slot = 0; slot < count; ++slot) {
    if (!is_sound(bytes.get() + (1 + slot) * size, size)) {
      throw damaged("record " + std::to_string(slot) + " has not been written by any gputest");
    }
  }
  return bytes;
}

void StorePart::note_use(std::size_t slot) {
  if (const auto used = static_cast<std::uint32_t>(slot + 1); used > used_slots()) {
    const Used more{used, ~used};
    write(file_.number(), file_.path(), used_offset(), &more, sizeof more);
  }
}

void StorePart::read_checked(std::size_t offset, void* data, std::size_t size) const {
  read(offset, data, size);
  if (!is_sound(static_cast<const std::byte*>(data), size)) {
    throw damaged("what is at byte " + std::to_string(offset) + " has not been written by any gputest");
  }
}

void StorePart::write_checked(std::size_t offset, std::byte* data, std::size_t size) {
  const Checksum sum = checksum(data, size - sizeof sum);
  std::memcpy(data + size - sizeof sum, &sum, sizeof sum);
  write(file_.number(), file_.path(), offset, data, size);
}

} // namespace gputest::os

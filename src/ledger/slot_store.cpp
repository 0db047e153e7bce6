#include "ledger/slot_store.hpp"

#include "policy/file_systems.hpp"
#include "system/descriptor.hpp"
#include "system/file_system.hpp"
#include "system/kept_descriptor.hpp"
#include "system/reason.hpp"

#include <gputest/error.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

namespace gputest::ledger {

namespace fs = std::filesystem;

namespace {

constexpr const char* elsewhere =
    "; set GPUTEST_DIR to a folder on a local file system that every user of the GPUs can write to";

constexpr const char* repair =
    "; when no GPU test is running, remove the ledger's folder, or set GPUTEST_DIR to another one";

constexpr std::size_t header_bytes = 4096;
constexpr std::array<char, 8> magic{'g', 'p', 'u', 't', 'e', 's', 't', '\n'};

struct Header {
  std::array<char, 8> magic;
  Layout layout;
};

LedgerError failure(const std::string& what, const std::string& path, int error) {
  return LedgerError{"cannot " + what + " " + path + ": " + system::reason(error)};
}

/// What was seen at a path, or the error if nothing was, for people.
std::string what_is(const std::string& path, const std::optional<system::FileIdentity>& file, int error) {
  if (file) {
    return file->type == S_IFDIR   ? "a folder"
           : file->type == S_IFREG ? "a regular file"
           : file->type == S_IFIFO ? "a FIFO"
                                   : "a special file";
  }
  std::error_code no_link;
  const auto target = fs::read_symlink(path, no_link);
  return !no_link          ? "a symbolic link to " + target.string() + " (" + system::reason(error) + ")"
         : error == ENOENT ? "missing"
                           : "out of reach (" + system::reason(error) + ")";
}

std::string bell_path(const std::string& folder, std::size_t slot) { return folder + "/bell." + std::to_string(slot); }

void make_folder(const std::string& folder) {
  constexpr mode_t everybody_but_not_each_others = 01777;
  std::error_code error;
  if (const auto parent = fs::path{folder}.parent_path(); !parent.empty()) {
    fs::create_directories(parent, error);
    if (error) {
      throw failure("make the folder", parent, error.value());
    }
  }
  // Not mkdir() and then chmod(): whoever is killed between the two would leave a folder that keeps other users out.
  const mode_t umask = ::umask(0);
  const int error_number = ::mkdir(folder.c_str(), everybody_but_not_each_others) == 0 ? 0 : errno;
  ::umask(umask);
  if (error_number != 0 && error_number != EEXIST) {
    throw failure("make the folder", folder, error_number);
  }
  if (error_number == EEXIST) {
    const auto seen = system::FileIdentity::at(folder);
    if (!seen || seen->type != S_IFDIR) {
      throw LedgerError{folder + " is not a folder, but " + what_is(folder, seen, errno)};
    }
  }
}

void refuse_network(const std::string& folder) {
  const auto name = policy::network_file_system(system::file_system_type(folder));
  if (!name.empty()) {
    throw LedgerError{"a ledger cannot be in " + folder + ", which is on " + std::string{name} +
                      ": locks, memory and FIFOs there need not hold between machines, or between their users"};
  }
}

void fill(const std::string& folder, const Layout& layout) {
  constexpr mode_t readable = 0755;
  system::SharedFile::create(folder + "/mutex", 0);
  const std::string file = folder + "/ledger";
  system::SharedFile::create(file, header_bytes + layout.table_bytes + std::size_t{layout.slots} * layout.record_bytes);
  const Header header{magic, layout};
  system::SharedFile{file}.write(0, &header, sizeof header);
  for (std::size_t slot = 0; slot < layout.slots; ++slot) {
    system::Bell::create(bell_path(folder, slot));
  }
  if (::chmod(folder.c_str(), readable) != 0) {
    throw failure("open to all users", folder, errno);
  }
}

constexpr const char* building_prefix = ".building-";

/// Removes what builders left behind that were killed. Only while no other builder can be at work.
void remove_ruins(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator{folder, ignored}) {
    if (entry.path().filename().string().rfind(building_prefix, 0) == 0) {
      fs::remove_all(entry.path(), ignored);
    }
  }
}

/// A private folder to build in: the first name that is free. What is there may be another user's, and stay.
std::string make_building(const std::string& folder) {
  constexpr mode_t private_folder = 0700;
  for (unsigned number = 0;; ++number) {
    std::string path = folder + "/" + building_prefix + std::to_string(number);
    if (::mkdir(path.c_str(), private_folder) == 0) {
      return path;
    }
    if (errno != EEXIST) {
      throw failure("make a folder in", folder, errno);
    }
  }
}

/// Makes the store beside its place and moves it there. One builder at a time; who comes later finds it made.
void build(const std::string& folder, const std::string& path, const Layout& layout) {
  const system::Descriptor builders{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!builders || ::flock(builders.number(), LOCK_EX) != 0) {
    throw failure("open and lock the folder", folder, errno);
  }
  if (::access(path.c_str(), F_OK) == 0) {
    return;
  }
  remove_ruins(folder);
  const std::string building = make_building(folder);
  try {
    fill(building, layout);
    if (::rename(building.c_str(), path.c_str()) != 0) {
      throw failure("rename a new ledger to", path, errno);
    }
  } catch (const LedgerError&) {
    std::error_code ignored;
    fs::remove_all(building, ignored);
    throw;
  }
}

void require(const std::string& path, mode_t type) {
  const auto file = system::FileIdentity::at(path);
  if (!file || file->type != type) {
    throw LedgerError{path + " is " + what_is(path, file, errno) + ", and must be " +
                      (type == S_IFDIR   ? "a folder"
                       : type == S_IFREG ? "a regular file"
                                         : "a FIFO") +
                      repair};
  }
}

/// Only the first bell and the last one of a thousand: the others are looked at when they are opened.
void require_all_parts(const std::string& path, const Layout& layout) {
  require(path, S_IFDIR);
  for (const char* const file : {"/mutex", "/ledger"}) {
    require(path + file, S_IFREG);
    if (::access((path + file).c_str(), R_OK | W_OK) != 0) {
      throw LedgerError{failure("read and write", path + file, errno).what() + std::string{elsewhere}};
    }
  }
  if (std::error_code error; fs::file_size(path + "/ledger", error) == 0) {
    throw LedgerError{path + "/ledger is empty" + repair};
  }
  require(bell_path(path, 0), S_IFIFO);
  require(bell_path(path, layout.slots - 1), S_IFIFO);
}

std::string open_or_build(const std::string& folder, const std::string& name, const Layout& layout) {
  std::string path = folder + "/" + name;
  try {
    const bool is_there = ::access(path.c_str(), F_OK) == 0;
    if (!is_there) {
      make_folder(folder);
    }
    refuse_network(folder);
    if (!is_there) {
      build(folder, path, layout);
    }
  } catch (const LedgerError& error) {
    throw LedgerError{error.what() + std::string{elsewhere}};
  }
  require_all_parts(path, layout);
  return path;
}

} // namespace

SlotStore::SlotStore(const std::string& folder, const std::string& name, const Layout& layout)
    : layout_{layout}, path_{open_or_build(folder, name, layout)}, mutex_{path_ + "/mutex"}, file_{path_ + "/ledger"} {
  const std::size_t size = header_bytes + layout.table_bytes + std::size_t{layout.slots} * layout.record_bytes;
  const auto header = file_.size() < sizeof(Header) ? Header{} : copy<Header>(0);
  if (header.magic != magic || header.layout.version != layout.version ||
      header.layout.table_bytes != layout.table_bytes || header.layout.record_bytes != layout.record_bytes ||
      header.layout.slots != layout.slots || file_.size() != size) {
    const std::string seen =
        header.magic != magic                     ? "something else"
        : header.layout.version != layout.version ? "layout version " + std::to_string(header.layout.version)
        : file_.size() != size
            ? "damaged (" + std::to_string(file_.size()) + " bytes in place of " + std::to_string(size) + ")"
            : "damaged (its sizes are not those of its version)";
    throw LedgerError{path_ + "/ledger is " + seen + ", and this gputest reads layout version " +
                      std::to_string(layout.version) +
                      " only; when no GPU test is running, remove that folder, or set GPUTEST_DIR to another one"};
  }
}

void SlotStore::require_in_place() const {
  if (file_.is_removed()) {
    const bool again = ::access(path_.c_str(), F_OK) == 0;
    throw LedgerError{
        "the ledger " + path_ + " was removed" + (again ? " and made anew" : "") +
        " while this process used it, so that nobody knows of everybody; let all GPU tests end, and start "
        "them again. A ledger needs no cleaning up: what is in it of dead processes is not counted"};
  }
}

void SlotStore::require_intact() const {
  mutex_.require_lockable();
  file_.require_writable();
}

SlotStore::Taken SlotStore::take(const std::function<bool(std::size_t)>& is_free) {
  for (std::size_t slot = 0; slot < slots(); ++slot) {
    if (!is_free(slot)) {
      continue;
    }
    if (auto taken = system::Bell::take(bell(slot))) {
      if (const auto used = static_cast<std::uint32_t>(slot + 1); used > used_slots()) {
        file_.write(used_slots_offset, &used, sizeof used);
      }
      return {slot, std::move(taken)};
    }
  }
  throw LedgerError{"all " + std::to_string(slots()) + " places of " + path_ +
                    " are taken by running processes; run fewer GPU tests at once (ctest -j)"};
}

std::string SlotStore::bell(std::size_t slot) const { return bell_path(path_, slot); }

} // namespace gputest::ledger

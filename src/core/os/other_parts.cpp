// SPDX-License-Identifier: BSD-3-Clause
// What SlotStore does about the parts of other users in a shared folder.

#include "core/os/file.hpp"
#include "core/os/host.hpp"
#include "core/os/slot_store.hpp"

#include <gputest/error.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace gputest::os {

namespace {

/// Members may leave what they like in a shared folder: how much of it is looked through, and how many of them can be
/// on one ledger.
constexpr std::size_t max_entries = 4096;
constexpr std::size_t max_users = 256;

/// Who has how many entries of the folder, apart from the parts of its users: an error that names the one with most.
LedgerError too_many_entries(const LedgerFolder& folder, const std::string& prefix, DIR* entries) {
  std::map<uid_t, std::size_t> counts;
  ::rewinddir(entries);
  std::size_t looked_at = 0;
  for (const dirent* entry = nullptr; looked_at <= max_entries && (entry = ::readdir(entries)) != nullptr;) {
    ++looked_at;
    struct stat status {};
    const std::string name = entry->d_name;
    if (name != "." && name != ".." && ::fstatat(folder.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        name != prefix + std::to_string(status.st_uid)) {
      ++counts[status.st_uid];
    }
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::string text = folder.path() + " has more than " + std::to_string(max_entries) +
                     " entries, and a shared ledger needs one a user, called " + prefix + "<uid>";
  if (most != counts.end()) {
    const std::string uid = std::to_string(most->first);
    const std::string name = user_name(most->first);
    text += ". Of those that are no ledger, " + std::to_string(most->second) + " belong to " + name + " (uid " + uid +
            "). " + name + " or an administrator can remove them: find " + folder.path() +
            " -mindepth 1 -maxdepth 1 -uid " + uid + " ! -name " + prefix + uid + " -exec rm -r {} +";
  }
  return LedgerError{text};
}

/// The other users that have a folder of the right name and owner. A part that does not belong to the user of its name
/// is nobody's, and is never used.
std::vector<uid_t> owners_in(const LedgerFolder& folder, const std::string& store) {
  const int copy = ::openat(folder.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); // with a place of its own in it
  const std::unique_ptr<DIR, int (*)(DIR*)> entries{copy >= 0 ? ::fdopendir(copy) : nullptr, ::closedir};
  if (!entries) {
    throw failure("read the folder", folder.path(), errno);
  }
  const std::string prefix = store + ".";
  std::vector<uid_t> owners;
  std::size_t count = 0;
  for (const dirent* entry = nullptr; (entry = ::readdir(entries.get())) != nullptr;) {
    if (++count > max_entries) {
      throw too_many_entries(folder, prefix, entries.get());
    }
    const std::string name = entry->d_name;
    uid_t owner = 0;
    const char* const end = name.data() + name.size();
    if (name.compare(0, prefix.size(), prefix) == 0) {
      const auto number = std::from_chars(name.data() + prefix.size(), end, owner);
      struct stat status {};
      if (number.ec == std::errc{} && number.ptr == end && owner != ::geteuid() &&
          name == prefix + std::to_string(owner) &&
          ::fstatat(folder.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode) &&
          status.st_uid == owner) {
        owners.push_back(owner);
      }
    }
  }
  return owners;
}

} // namespace

/// Finds the users that have joined or left since the last look, in a shared folder. Throws LedgerError for a part that
/// is damaged, and where there are more entries or users than it looks at.
void SlotStore::find_others() {
  struct stat status {};
  if (!folder_.is_shared() || ::fstat(folder_.number(), &status) != 0) {
    return;
  }
  const auto& changed = status.st_mtim;
  if (changed.tv_sec == looked_at_.tv_sec && changed.tv_nsec == looked_at_.tv_nsec) {
    return;
  }
  looked_at_ = {};
  if (!look_for_others()) {
    return; // what is made in a part does not change the folder
  }
  // The clock of files goes on in steps of some milliseconds: of a folder that has just changed the next change may
  // have the same time.
  std::timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  if (now.tv_sec > changed.tv_sec + 1) {
    looked_at_ = changed;
  }
}

/// Whether all of them are complete. A part that was removed and made anew is another one, with a number of its own.
bool SlotStore::look_for_others() {
  auto owners = owners_in(folder_, name_);
  for (auto part = parts_.upper_bound(0); part != parts_.end();) {
    const StorePart& seen = part->second;
    const auto known = std::find(owners.begin(), owners.end(), seen.owner());
    const auto now = FileIdentity::at(StorePart::place(folder_, name_, seen.owner()));
    if (known != owners.end() && now && *now == seen.folder_identity()) {
      owners.erase(known);
      ++part;
    } else { // gone, or made anew
      part = parts_.erase(part);
    }
  }
  bool complete = true;
  for (const uid_t owner : owners) {
    auto part = StorePart::open(StorePart::place(folder_, name_, owner), layout_);
    if (!part) {
      complete = false; // just being made
      continue;
    }
    if (parts_.size() - parts_.count(0) + 1 >= max_users) {
      throw LedgerError{folder_.path() + " has ledgers of more than " + std::to_string(max_users) +
                        " users; an administrator has to remove those that nobody needs, or use several shared folders "
                        "(GPUTEST_DIR)"};
    }
    parts_.emplace(next_++, std::move(*part));
  }
  return complete;
}

} // namespace gputest::os

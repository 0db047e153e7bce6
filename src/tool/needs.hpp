// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/bytes.hpp>
#include <gputest/device.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gputest::tool {

/// What an entry took in one run of ctest, of the device of which it took the most.
struct Took {
  std::uint64_t run = 0; ///< a hash of the log's name
  Bytes bytes;
  bool exact = false;            ///< else a sample, which is a lower bound
  std::optional<Bytes> declared; ///< what its test may take; nullopt: nothing is declared, or whole devices are
  bool estimated = false;        ///< nothing is declared
  Bytes possible = {};           ///< what it may take where more is free; 0: no more than it took
  Bytes over = {};             ///< what one of its tests took that declares less, which may not be the largest; 0: none
  Bytes declared_by_over = {}; ///< and what that one declares

  /// Whether it took more than it declares, by more than is tolerated in the test itself.
  [[nodiscard]] bool is_over() const;
};

/// What an entry took on devices of one size.
struct Need {
  std::uint64_t at = 0;   ///< when it ran last, in Unix seconds
  Bytes figure;           ///< what to lease for it
  std::vector<Took> took; ///< in the last runs, the newest last
};

/// An entry, by CTest's name, on devices of a size.
struct NeedKey {
  std::string test;
  bool simulated = false;
  std::uint64_t device_gib = 0;

  friend bool operator<(const NeedKey& a, const NeedKey& b);
};

using Needs = std::map<NeedKey, Need>;

/// The memory of a device in whole GiB, by which needs are kept apart: devices of a model differ by some MiB.
[[nodiscard]] std::uint64_t size_of(Bytes device);

/// What the lines `need` of a run log say. `name` is the log's. Other lines, and damaged ones, are left out. Pure.
void add_log(Needs& needs, const std::string& name, const std::string& text);

/// Reads and writes the file of needs: JSON Lines, one for each NeedKey. Lines that cannot be read are left out. Pure.
[[nodiscard]] Needs parse_needs(const std::string& text);
[[nodiscard]] std::string to_text(const Needs& needs);

/// The needs of the entries whose logs are in `folder`: its file `needs`, and the logs that are newer than that file.
/// With `keep` that file is replaced, by a rename, without entries that have not run for 90 days. Several may do so at
/// once: a log that is read twice changes nothing. `folder` may also be one log. Does not throw; what cannot be read is
/// left out.
[[nodiscard]] Needs needs_in(const std::string& folder, bool keep);

/// The log in `folder` of the run of ctest or pytest, or of another one that has measured a test, that began last.
/// `folder` itself if it is one log, has none, or cannot be read.
[[nodiscard]] std::string newest_run(const std::string& folder);

/// Figures that a project has committed, by entry and by size of device: JSON Lines, sorted by name,
/// `{"test":"Sort.keys","needs":{"80GiB":"1984MiB"}}`.
using CommittedNeeds = std::map<std::string, std::map<std::uint64_t, Bytes>>;

/// Throws Error, with the number of the line, for a text that is no such file.
[[nodiscard]] CommittedNeeds parse_committed(const std::string& text);
[[nodiscard]] std::string to_text(const CommittedNeeds& committed);

/// The figure for a device of this size, or for that whose size is nearest to it; nullopt if there is none. Pure.
[[nodiscard]] std::optional<Bytes> figure_for(const std::map<std::uint64_t, Bytes>& figures, std::uint64_t device_gib);

/// What each entry is to ask for where these devices are: as CMake code, a global property `gputest need <entry>` for
/// each, in MiB. An entry that has not run here has the committed figure. Pure.
[[nodiscard]] std::string needs_for_ctest(const Needs& needs, const CommittedNeeds& committed,
                                          const std::vector<Device>& devices);

} // namespace gputest::tool

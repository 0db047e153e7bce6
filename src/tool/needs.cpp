// SPDX-License-Identifier: BSD-3-Clause
#include "tool/needs.hpp"

#include "core/os/file.hpp"
#include "core/os/process.hpp"
#include "core/policy/request.hpp"
#include "core/policy/text.hpp"
#include "tool/table.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>
#include <utility>

namespace gputest::tool {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using namespace literals;

constexpr std::size_t kept_runs = 5;
constexpr std::uint64_t kept_seconds = std::uint64_t{90} * 24 * 3600;
constexpr std::chrono::minutes clocks_may_differ_by{1};

/// `function(line)` for each line of a text that has a word. Only such lines are parsed, which takes most of the time.
template <typename Function>
void for_lines_with(const std::string& text, const char* word, Function function) {
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    try {
      if (line.find(word) != std::string::npos) {
        function(json::parse(line));
      }
    } catch (const json::exception&) { // NOLINT(bugprone-empty-catch): cut by a kill, or damaged
    }
  }
}

/// A sample is a lower bound, so more is asked for.
Bytes figure_of(const Took& took) {
  const auto bytes = took.exact ? took.bytes : took.bytes + Bytes{took.bytes.count() / 4} + 256_MiB;
  return policy::estimate_for(std::max(bytes, 1_B));
}

/// Whether the runs took different bytes, and each of them the same part of what it was told is free. A test that only
/// prints what is free takes the same bytes.
bool takes_a_part_of_what_is_free(const std::vector<Took>& all) {
  const auto by_bytes = [](const Took& a, const Took& b) { return a.bytes < b.bytes; };
  const auto by_part = [](const Took& a, const Took& b) { return a.possible < b.possible; };
  const auto [least, most] = std::minmax_element(all.begin(), all.end(), by_bytes);
  const auto [smallest, largest] = std::minmax_element(all.begin(), all.end(), by_part);
  const auto tolerated = [](Bytes bytes) { return Bytes{bytes.count() / 16}; };
  return least != all.end() && smallest->possible > Bytes{} && most->bytes - least->bytes > tolerated(most->bytes) &&
         largest->possible - smallest->possible <= tolerated(largest->possible);
}

/// The most of the last runs. A figure falls only if they all agree: a test that adapts to what is free needs the most.
void settle(Need& need) {
  Bytes most;
  Bytes least{UINT64_MAX};
  const bool adapts = takes_a_part_of_what_is_free(need.took);
  for (const auto& took : need.took) {
    const auto figure = adapts ? policy::estimate_for(took.possible) : figure_of(took);
    most = std::max(most, figure);
    least = std::min(least, figure);
  }
  if (most > need.figure || (need.took.size() == kept_runs && most == least)) {
    need.figure = most;
  }
}

void add(Need& need, const Took& took) {
  const auto same =
      std::find_if(need.took.begin(), need.took.end(), [&](const Took& each) { return each.run == took.run; });
  if (same == need.took.end()) {
    need.took.push_back(took);
    if (need.took.size() > kept_runs) {
      need.took.erase(need.took.begin());
    }
  } else {
    auto most = took.bytes > same->bytes ? took : *same;
    most.possible = std::max(same->possible, took.possible);
    const auto& over = took.over > same->over ? took : *same;
    most.over = over.over;
    most.declared_by_over = over.declared_by_over;
    *same = most;
  }
}

std::string size_name(std::uint64_t gib) { return std::to_string(gib) + "GiB"; }

std::uint64_t gib_of(const std::string& name) { return parse_bytes(name).count() >> 30U; }

Bytes bytes_in(const json& object, const char* name) { return Bytes{object.at(name).get<std::uint64_t>()}; }

std::optional<Bytes> if_any(const json& object, const char* name) {
  return object.contains(name) ? std::optional{bytes_in(object, name)} : std::nullopt;
}

/// The date, to the second, that the file system gives what is written now. Other machines may date the logs in it.
fs::file_time_type date_of_new(const std::string& file) {
  std::error_code failed;
  std::ofstream{file}.flush();
  const auto date = fs::last_write_time(file, failed);
  return failed ? date : date - std::chrono::seconds{1};
}

/// Nothing is said of a failure: what is in the logs can be read again.
void replace(const std::string& file, const std::string& text, const std::string& by, fs::file_time_type time) {
  std::error_code failed;
  if (std::ofstream{by} << text << std::flush) {
    fs::last_write_time(by, time, failed);
    fs::rename(by, file, failed);
  }
}

} // namespace

bool Took::is_over() const { return declared && !estimated && bytes > *declared + (exact ? 2_MiB : 512_MiB); }

bool operator<(const NeedKey& a, const NeedKey& b) {
  return std::tie(a.test, a.simulated, a.device_gib) < std::tie(b.test, b.simulated, b.device_gib);
}

std::uint64_t size_of(Bytes device) {
  constexpr std::uint64_t gib = std::uint64_t{1} << 30U;
  return std::max<std::uint64_t>(1, (device.count() + gib / 2) / gib);
}

void add_log(Needs& needs, const std::string& name, const std::string& text) {
  std::vector<Need*> changed;
  for_lines_with(text, R"("event":"need")", [&](const json& line) {
    const auto* const whose = line.value("by_test", false) ? "test" : "entry";
    const NeedKey key{line.at(whose).get<std::string>(), line.at("simulated").get<bool>(),
                      size_of(bytes_in(line, "device_bytes"))};
    Took took{policy::fnv1a(name),
              bytes_in(line, "bytes"),
              line.at("evidence") == "exact",
              if_any(line, "declared_bytes"),
              line.at("declared_by") == "estimate",
              if_any(line, "possible_bytes").value_or(Bytes{})};
    if (took.is_over()) {
      took.over = took.bytes;
      took.declared_by_over = *took.declared;
    }
    const double at = line.at("t").get<double>();
    auto& need = needs[key]; // the line has all that is read
    need.at = std::max(need.at, static_cast<std::uint64_t>(std::clamp(at, 0.0, 1e12)));
    add(need, took);
    changed.push_back(&need);
  });
  for (auto* const need : changed) {
    settle(*need);
  }
}

Needs parse_needs(const std::string& text) {
  Needs needs;
  for_lines_with(text, R"("figure":)", [&](const json& line) {
    Need need{line.at("at").get<std::uint64_t>(), bytes_in(line, "figure"), {}};
    for (const auto& took : line.at("took")) {
      need.took.push_back({took.at("run").get<std::uint64_t>(), bytes_in(took, "bytes"), took.at("exact").get<bool>(),
                           if_any(took, "declared_bytes"), took.at("estimated").get<bool>(),
                           if_any(took, "possible_bytes").value_or(Bytes{}),
                           if_any(took, "over_bytes").value_or(Bytes{}),
                           if_any(took, "declared_by_over_bytes").value_or(Bytes{})});
    }
    const NeedKey key{line.at("test").get<std::string>(), line.at("simulated").get<bool>(),
                      line.at("device_gib").get<std::uint64_t>()};
    if (!need.took.empty()) {
      needs[key] = need;
    }
  });
  return needs;
}

std::string to_text(const Needs& needs) {
  std::string text;
  for (const auto& [key, need] : needs) {
    auto all = json::array();
    for (const auto& took : need.took) {
      all.push_back(
          {{"run", took.run}, {"bytes", took.bytes.count()}, {"exact", took.exact}, {"estimated", took.estimated}});
      if (took.declared) {
        all.back()["declared_bytes"] = took.declared->count();
      }
      if (took.over > Bytes{}) {
        all.back()["over_bytes"] = took.over.count();
        all.back()["declared_by_over_bytes"] = took.declared_by_over.count();
      }
      if (took.possible > Bytes{}) {
        all.back()["possible_bytes"] = took.possible.count();
      }
    }
    text += json{{"test", key.test}, {"simulated", key.simulated},    {"device_gib", key.device_gib},
                 {"at", need.at},    {"figure", need.figure.count()}, {"took", all}}
                .dump(-1, ' ', false, json::error_handler_t::replace) +
            "\n";
  }
  return text;
}

Needs needs_in(const std::string& folder, bool keep) try {
  const auto file = folder + "/needs";
  std::error_code none;
  if (fs::is_regular_file(folder, none)) {
    Needs of_log;
    add_log(of_log, folder, os::contents_of(folder).value_or(""));
    return of_log;
  }
  const auto other = file + "." + std::to_string(os::own_pid());
  const auto begun = keep ? date_of_new(other) : fs::file_time_type{}; // before the logs are read
  auto known = fs::last_write_time(file, none);
  if (known > fs::file_time_type::clock::now() + clocks_may_differ_by) { // the clock was ahead then
    known = fs::file_time_type::min();
  }
  auto needs = parse_needs(os::contents_of(file).value_or(""));
  std::multimap<fs::file_time_type, fs::path> logs; // the oldest first
  for (const auto& entry : fs::directory_iterator{folder, none}) {
    const auto time = entry.last_write_time(none);
    if (entry.path().extension() == ".jsonl" && entry.is_regular_file(none) && time >= known) { // a FIFO would block
      logs.emplace(time, entry.path());
    }
  }
  for (const auto& [time, path] : logs) {
    add_log(needs, path.filename().string(), os::contents_of(path.string()).value_or(""));
  }
  if (keep && !logs.empty()) {
    const auto now = static_cast<std::uint64_t>(std::time(nullptr));
    for (auto each = needs.begin(); each != needs.end();) {
      each = each->second.at + kept_seconds < now ? needs.erase(each) : std::next(each);
    }
    replace(file, to_text(needs), other, begun);
  }
  fs::remove(other, none);
  return needs;
} catch (const std::exception&) { // a folder that cannot be read, or no memory
  return {};
}

std::string newest_run(const std::string& folder) {
  std::error_code none;
  std::pair<double, std::string> newest{0, folder};
  const auto latest =
      std::chrono::duration<double>{(std::chrono::system_clock::now() + clocks_may_differ_by).time_since_epoch()}
          .count();
  for (const auto& entry : fs::directory_iterator{folder, none}) {
    if (entry.path().extension() != ".jsonl" || !entry.is_regular_file(none)) {
      continue;
    }
    const auto text = os::contents_of(entry.path().string()).value_or("");
    for_lines_with(text, R"("event":"run")", [&](const json& line) {
      const auto begun = line.at("t").get<double>();
      if (begun <= latest && // the clock was ahead then
          (line.contains("ctest_pid") || line.at("entry") == "pytest" ||
           text.find(R"("event":"need")") != std::string::npos)) { // no other command of 'gputest run'
        newest = std::max(newest, {begun, entry.path().string()});
      }
    });
  }
  return newest.second;
}

CommittedNeeds parse_committed(const std::string& text) {
  CommittedNeeds committed;
  std::size_t number = 0;
  std::istringstream lines{text};
  for (std::string text_of_line; std::getline(lines, text_of_line);) {
    ++number;
    try {
      if (!text_of_line.empty()) {
        const auto line = json::parse(text_of_line);
        for (const auto& [device, size] : line.at("needs").items()) {
          committed[line.at("test").get<std::string>()][gib_of(device)] = parse_bytes(size.get<std::string>());
        }
      }
    } catch (const std::exception& error) {
      throw Error{fmt::format("line {} is not such as {}: {}", number,
                              R"({"test":"Sort.keys","needs":{"80GiB":"1984MiB"}})", error.what())};
    }
  }
  return committed;
}

std::string to_text(const CommittedNeeds& committed) {
  std::string text;
  for (const auto& [test, figures] : committed) {
    json sizes = json::object();
    for (const auto& [device, bytes] : figures) {
      sizes[size_name(device)] = std::to_string(bytes.count() >> 20U) + "MiB";
    }
    const nlohmann::ordered_json line{{"test", test}, {"needs", sizes}};
    text += line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  }
  return text;
}

std::optional<Bytes> figure_for(const std::map<std::uint64_t, Bytes>& figures, std::uint64_t device_gib) {
  const auto distance = [&](const auto& figure) {
    return std::max(figure.first, device_gib) - std::min(figure.first, device_gib);
  };
  const auto nearest = std::min_element(figures.begin(), figures.end(),
                                        [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  return nearest == figures.end() ? std::nullopt : std::optional{nearest->second};
}

std::string needs_for_ctest(const Needs& needs, const CommittedNeeds& committed, const std::vector<Device>& devices) {
  if (devices.empty()) {
    return {};
  }
  auto figures = committed;
  for (const auto& [key, need] : needs) {
    if (key.simulated == devices.front().simulated) {
      figures[key.test][key.device_gib] = need.figure;
    }
  }
  std::string code;
  for (const auto& [test, of_test] : figures) {
    if (printable(test) != test) {
      continue; // no name of CTest's
    }
    Bytes most;
    for (const auto& device : devices) {
      most = std::max(most, figure_for(of_test, size_of(device.total)).value_or(Bytes{}));
    }
    std::string name;
    for (const char character : test) {
      name += std::string_view{"\\\"$"}.find(character) == std::string_view::npos ? "" : "\\";
      name += character;
    }
    const auto mib = std::max<std::uint64_t>(1, most.count() >> 20U); // less is no size, of a test that may pass
    code += fmt::format("set_property(GLOBAL PROPERTY \"gputest need {}\" {})\n", name, mib);
  }
  return code;
}

} // namespace gputest::tool

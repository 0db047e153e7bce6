// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/visible_devices.hpp"

#include "core/policy/text.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace gputest::policy {

namespace {

using Indices = std::vector<std::size_t>;

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos)
    return {};
  return std::string{text.substr(begin, text.find_last_not_of(" \t") - begin + 1)};
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == text.size())
      return parts;
    text.remove_prefix(end + 1);
  }
}

bool contains(const Indices& indices, std::size_t index) {
  return std::find(indices.begin(), indices.end(), index) != indices.end();
}

std::optional<std::size_t> read_index(std::string_view text, std::size_t count) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc{} || end != text.data() + text.size() || index >= count)
    return std::nullopt;
  return index;
}

// A UUID, or as much of one as no other device shares.
std::optional<std::size_t> find_uuid(std::string_view text, const std::vector<std::string>& uuids) {
  const auto is_uuid = [&](std::string_view kind) { return text.size() > kind.size() && starts_with(text, kind); };
  if (!is_uuid("GPU-") && !is_uuid("MIG-") && !is_uuid("SIM-"))
    return std::nullopt;
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < uuids.size(); ++i) {
    if (uuids[i] == text)
      return i;
    if (!starts_with(uuids[i], text))
      continue;
    if (found)
      return std::nullopt;
    found = i;
  }
  return found;
}

/// The id of a device in resource spec files of CTest: its UUID in lower case, with `_` for what CTest does not allow.
std::string resource_id_of(const std::string& uuid) {
  std::string id = uuid;
  std::transform(id.begin(), id.end(), id.begin(), [](char c) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool other = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    return upper ? static_cast<char>(c - 'A' + 'a') : other ? c : '_';
  });
  return id;
}

std::optional<std::size_t> find_resource_by_name(const std::string& id, const std::vector<std::string>& uuids) {
  const auto same =
      std::find_if(uuids.begin(), uuids.end(), [&](const std::string& uuid) { return resource_id_of(uuid) == id; });
  return same == uuids.end() ? std::nullopt : std::optional{static_cast<std::size_t>(same - uuids.begin())};
}

std::optional<std::size_t> find_resource(const std::string& id, const std::vector<std::string>& uuids) {
  const auto index = read_index(id, uuids.size());
  return index ? index : find_resource_by_name(id, uuids);
}

// A number as CUDA reads it: `+1` is one, and what follows the digits is ignored.
std::optional<std::size_t> read_ordinal(std::string_view text, std::size_t count) {
  if (starts_with(text, "+"))
    text.remove_prefix(1);
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  return read_index(text.substr(0, end), count);
}

std::string list_of(const std::vector<std::string>& uuids) {
  if (uuids.empty())
    return "there is no device";
  std::string text = "the devices are";
  for (std::size_t i = 0; i < uuids.size(); ++i)
    text += (i == 0 ? " " : ", ") + std::to_string(i) + " (" + resource_id_of(uuids[i]) + ")";
  return text;
}

// A slot of a group, `id:<id>,slots:<n>`; the id is empty if there is none.
struct Slot {
  std::string text;
  std::string id;
};

std::vector<Slot> slots_of(const std::vector<std::string>& groups) {
  std::vector<Slot> slots;
  for (const std::string& group : groups) {
    for (const std::string& text : split(group, ';')) {
      Slot slot{text, {}};
      for (const std::string& field : split(text, ',')) {
        slot.id = starts_with(field, "id:") ? field.substr(3) : slot.id;
      }
      if (!text.empty()) {
        slots.push_back(slot);
      }
    }
  }
  return slots;
}

bool is_slice(const DeviceKinds& devices, std::size_t index) {
  return std::find(devices.slices.begin(), devices.slices.end(), index) != devices.slices.end();
}

} // namespace

std::vector<std::size_t> visible_devices(const std::optional<std::string>& value,
                                         const std::vector<std::string>& uuids) {
  Indices visible;
  if (!value) {
    visible.resize(uuids.size());
    std::iota(visible.begin(), visible.end(), std::size_t{0});
    return visible;
  }
  // The first entry says whether the list is one of ordinals or one of UUIDs; CUDA takes no mixture.
  const std::vector<std::string> entries = split(*value, ',');
  const bool ordinals = read_ordinal(entries.front(), uuids.size()).has_value();
  for (const std::string& entry : entries) {
    const auto index = ordinals ? read_ordinal(entry, uuids.size()) : find_uuid(entry, uuids);
    if (!index)
      return visible;
    // CUDA gives out no device at all when one is named twice.
    if (contains(visible, *index))
      return {};
    visible.push_back(*index);
  }
  return visible;
}

std::optional<std::vector<std::size_t>> ctest_allocation(const std::optional<std::string>& group_count,
                                                         const std::vector<std::string>& groups,
                                                         const std::vector<std::string>& uuids) {
  if (!group_count)
    return std::nullopt;
  Indices allocated;
  for (const auto& slot : slots_of(groups)) {
    const auto index = find_resource(slot.id, uuids);
    if (!index) {
      throw InvalidSetting{"CTest's resource allocation gives this test \"" + slot.text +
                           "\" of the resource type gpus or cudagpu, which names no device: " + list_of(uuids) +
                           ". Use these numbers or names as ids in the resource spec file, or run ctest without one."};
    }
    if (!contains(allocated, *index)) {
      allocated.push_back(*index);
    }
  }
  return allocated.empty() ? std::nullopt : std::optional{allocated};
}

std::string renumbered_group(const std::string& group, const std::vector<std::string>& uuids,
                             const std::vector<std::string>& shown) {
  std::string renumbered;
  for (const auto& slot : slots_of({group})) {
    auto text = slot.text;
    if (const auto index = read_index(slot.id, uuids.size())) {
      const auto device = std::find(shown.begin(), shown.end(), uuids[*index]);
      const auto number = device == shown.end() ? 0 : device - shown.begin();
      text.replace(text.find("id:") + 3, slot.id.size(), std::to_string(number));
    }
    renumbered += (renumbered.empty() ? "" : ";") + text;
  }
  return renumbered;
}

std::size_t max_for_a_process(const DeviceKinds& devices) {
  return devices.whole.empty() && !devices.slices.empty() ? 1 : devices.whole.size();
}

std::vector<std::size_t> candidates_for(const DeviceKinds& devices, const std::vector<std::size_t>& all,
                                        std::size_t wanted) {
  return wanted > 1 ? devices.whole : all;
}

std::vector<std::size_t> shown_by_cuda(const DeviceKinds& devices, std::vector<std::size_t> visible) {
  if (!visible.empty() && is_slice(devices, visible.front())) {
    return {visible.front()};
  }
  visible.erase(
      std::remove_if(visible.begin(), visible.end(), [&](std::size_t index) { return is_slice(devices, index); }),
      visible.end());
  return visible;
}

} // namespace gputest::policy

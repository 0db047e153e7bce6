// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/shared_library.hpp"
#include "core/policy/text.hpp"
#include "core/settings/settings.hpp"

#include <gputest/error.hpp>
#include <gputest/test_list.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <locale>
#include <unordered_map>

namespace gputest {

namespace {

/// A text as a CMake bracket argument, which holds any text.
std::string quoted(const std::string& text) {
  std::string equals;
  while ((text + "]").find("]" + equals + "]") != std::string::npos) {
    equals += '=';
  }
  // CMake drops a newline that follows the opening bracket.
  return "[" + equals + "[" + (!text.empty() && text.front() == '\n' ? "\n" : "") + text + "]" + equals + "]";
}

/// A text for names of CTest entries, which appear in reports in JSON and XML: on one line, in UTF-8.
std::string printable(const std::string& text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto length = policy::length_of_character(std::string_view{text}.substr(i));
    const auto byte = static_cast<unsigned char>(text[i]);
    if (length > 1 || (length == 1 && byte >= 0x20 && byte != 0x7F)) {
      result.append(text, i, length);
      i += length;
      continue;
    }
    if (byte == '\n') {
      result += "\\n";
    } else {
      result += "\\x";
      result += digits[byte >> 4U];
      result += digits[byte & 0xFU];
    }
    ++i;
  }
  return result;
}

/// A size as settings write it, exactly.
std::string setting_text(Bytes bytes) {
  constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  auto count = bytes.count();
  std::size_t unit = 0;
  while (unit + 1 < units.size() && count != 0 && count % 1024 == 0) {
    count /= 1024;
    ++unit;
  }
  return std::to_string(count) + units.at(unit);
}

/// The request that is enough for both, one after the other.
std::optional<Request> most_of(std::optional<Request> a, const std::optional<Request>& b) {
  if (!a || !b) {
    return a ? a : b;
  }
  const bool needs_more = a->bytes && (!b->bytes || *b->bytes > *a->bytes);
  if (b->memory_class > a->memory_class || (b->memory_class == a->memory_class && needs_more)) {
    a->memory_class = b->memory_class;
    a->bytes = b->bytes;
    a->memory_by = b->memory_by;
  }
  a->gpus = std::max(a->gpus, b->gpus);
  a->alone = a->alone || b->alone;
  return a;
}

/// `<class> <size>[+alone] <devices>`, as gputest_listed_test() reads them; the size may be any, or auto.
std::string text_of(const std::optional<Request>& request) {
  if (!request) {
    return "host any 1";
  }
  return std::string{to_string(request->memory_class)} + " " +
         (request->is_estimated() ? "auto"
          : request->bytes        ? setting_text(*request->bytes)
                                  : "any") +
         (request->alone ? "+alone " : " ") + std::to_string(request->gpus);
}

std::vector<ListedTest> without_duplicates(const std::vector<ListedTest>& tests) {
  std::vector<ListedTest> kept;
  std::unordered_map<std::string, std::size_t> index_of;
  for (const auto& test : tests) {
    const auto [found, is_new] = index_of.emplace(test.filter, kept.size());
    if (is_new) {
      kept.push_back(test);
    } else {
      auto& first = kept[found->second];
      first.request = most_of(first.request, test.request);
      first.disabled = first.disabled && test.disabled;
      first.alone = first.alone.empty() ? test.alone : first.alone;
    }
  }
  return kept;
}

} // namespace

std::optional<std::string> test_list_file() { return settings::test_list_file(); }

void write_test_list(const std::string& file, const std::vector<ListedTest>& tests) {
  std::ofstream out{file, std::ios::binary | std::ios::trunc};
  out.imbue(std::locale::classic());
  for (const auto& library : os::loaded_libraries()) {
    out << "gputest_listed_library(" << quoted(library) << ")\n";
  }
  const auto kept = without_duplicates(tests);
  for (const auto& test : kept) {
    out << "gputest_listed_test(" << quoted(test.filter) << ' ' << quoted(printable(test.suite)) << ' '
        << quoted(printable(test.type_name)) << ' ' << quoted(printable(test.type)) << ' '
        << quoted(printable(test.test)) << ' ' << quoted(printable(test.value_index)) << ' '
        << quoted(printable(test.value)) << ' '
        << quoted(test.file.empty() ? "" : printable(test.file) + ":" + std::to_string(test.line)) << ' '
        << (test.disabled ? "DISABLED" : "ENABLED") << ' ' << text_of(test.request) << ' ' << quoted(test.alone)
        << ")\n";
  }
  out << "gputest_listed_all(" << kept.size() << ")\n";
  out.close();
  if (!out) {
    throw Error{"cannot write the list of tests to " + file};
  }
}

std::size_t detail::edit_distance(std::string_view a, std::string_view b) { return policy::edit_distance(a, b); }

} // namespace gputest

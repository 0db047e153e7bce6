// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/lease_limit.hpp"

namespace gputest::policy {

namespace {

constexpr std::uint64_t mebibyte = 1ULL << 20U;

/// `Sort, keys` for a test that GoogleTest calls `Instance/Sort/0.keys/1`: the names as they stand in TEST().
std::string names_in_source(const std::string& test) {
  const auto dot = test.find('.');
  if (dot == std::string::npos || test.find_first_of(" :") != std::string::npos) {
    return "<suite>, <test>";
  }
  std::string suite = test.substr(0, dot);
  if (const auto slash = suite.rfind('/');
      slash != std::string::npos && suite.find_first_not_of("0123456789", slash + 1) == std::string::npos) {
    suite.erase(slash); // the index of a type
  }
  const std::string name = test.substr(dot + 1);
  return suite.substr(suite.find('/') == std::string::npos ? 0 : suite.find('/') + 1) + ", " +
         name.substr(0, name.find('/'));
}

/// An annotation up to the words: `GPUTEST_NEEDS(Sort, keys, `.
std::string annotation_of(const std::string& name, Named named) {
  const auto names = names_in_source(named == Named::suite ? name + ".test" : name);
  return named == Named::suite ? "GPUTEST_SUITE_NEEDS(" + names.substr(0, names.find(',')) + ", "
                               : "GPUTEST_NEEDS(" + names + ", ";
}

std::string end_of(Named named) { return named == Named::suite ? ", suite_lease)" : ")"; }

/// `3_GiB`, and a size that is no whole number of MiB as bytes.
std::string as_word(Bytes bytes) {
  return bytes.count() % mebibyte == 0 ? as_written(bytes, "_") : std::to_string(bytes.count()) + "_B";
}

/// What a request says beside its memory, as an annotation does: `, gpus(2), sm(80)`.
std::string other_words(const Request& request) {
  using Kind = Capability::Kind;
  std::string words;
  if (request.gpus != 1) {
    words += ", gpus(" + std::to_string(request.gpus) + ")";
  }
  if (request.heap > Bytes{}) {
    words += ", heap(" + as_word(request.heap) + ")";
  }
  for (std::size_t i = 0; i < Capability::kinds; ++i) {
    const auto kind = static_cast<Kind>(i);
    const auto least = request.capabilities.least(kind);
    if (least != 0) {
      words += ", " + std::string{to_string(kind)} +
               (kind == Kind::sm                                          ? "(" + std::to_string(least) + ")"
                : kind == Kind::total_memory || kind == Kind::free_memory ? "(" + as_word(Bytes{least}) + ")"
                                                                          : "");
    }
  }
  return words;
}

/// The entry's, in place of what a test says.
std::string memory_of_entry(Bytes needed, Notation notation) {
  return " or MEMORY " + as_written(needed) + words(Advice::in_cmake, notation);
}

std::string asked_of(int device, Bytes asked) {
  return to_string(asked) + " were asked of device " + std::to_string(device);
}

} // namespace

std::string as_written(Bytes bytes, const char* between) {
  constexpr std::uint64_t mebibytes_in_a_gibibyte = 1024;
  const std::uint64_t whole = bytes.count() / mebibyte + (bytes.count() % mebibyte == 0 ? 0 : 1);
  return whole % mebibytes_in_a_gibibyte == 0 ? std::to_string(whole / mebibytes_in_a_gibibyte) + between + "GiB"
                                              : std::to_string(whole) + between + "MiB";
}

std::string beyond_all_devices(Bytes largest) {
  return "No device here has more than " + to_string(largest) +
         " for a test: free some before, make the test smaller, or run it where there is more";
}

std::string beyond_lease(const BeyondLease& request, Notation notation) {
  if (request.device >= request.devices) {
    return asked_of(request.device, request.asked) + ", and " + request.test + " has leased the first " +
           std::to_string(request.devices) + " only; ask for " + std::to_string(request.device + 1) + ": " +
           words(Advice::gpus, notation, std::to_string(request.device + 1));
  }
  const Bytes needed = request.held + request.asked;
  return asked_of(request.device, request.asked) + ", beyond the lease of " + request.test + ": it has leased " +
         to_string(request.leased) + " there and holds " + to_string(request.held) + " of them already. " +
         (request.largest > Bytes{} && needed > request.largest
              ? beyond_all_devices(request.largest)
              : "Free some before, or declare what it needs: " +
                    (notation == Notation::annotations
                         ? "GPUTEST_NEEDS(" + names_in_source(request.test) + ", " + as_written(needed, "_") +
                               "), GPUTEST_LEASE(<name>, " + as_written(needed, "_") + ")" +
                               memory_of_entry(needed, notation)
                         : declare(request.test, needed, {}, Named::test, notation)));
}

/// Whether a MEMORY of the entry would hold: a SmallTest is small whatever that says.
static bool takes_the_entrys_size(const Request& request) {
  return request.memory_by == SaidBy::entry || request.is_estimated() ||
         (request.memory_by == SaidBy::fixture && request.memory_class != MemoryClass::small);
}

std::string declare(const std::string& test, Bytes needed, const Request& request, Named named, Notation notation) {
  const auto size = as_written(needed, "_");
  if (test.empty()) { // a command
    return "MEMORY " + as_written(needed) + " in gpu_add_test()";
  }
  if (request.memory_by == SaidBy::section) {
    return "GPUTEST_LEASE(<name>, " + size + ")";
  }
  if (notation == Notation::marks) {
    return "@pytest.mark.gpu(\"" + as_written(needed) + "\")";
  }
  const bool large = request.bytes && request.memory_class == MemoryClass::large;
  const std::string or_memory = takes_the_entrys_size(request) ? memory_of_entry(needed, notation) : "";
  if (notation == Notation::tags) {
    const bool says_small =
        request.memory_by == SaidBy::test && !request.bytes && request.memory_class == MemoryClass::small;
    return "the tag [gpu:" + as_written(needed) + "]" + (says_small ? " in place of [gpu_small]" : "") + or_memory;
  }
  return annotation_of(test, named) + size + (large ? ", large" : "") + other_words(request) +
         (request.keeps > Bytes{} ? ", keeps(" + as_word(request.keeps) + ")" : "") + end_of(named) + or_memory;
}

std::string advise_lease(const std::string& test, Bytes needed, Notation notation) {
  if (notation != Notation::annotations) {
    return words(Advice::take_by_lease, notation, as_written(needed));
  }
  const auto size = as_written(needed, "_");
  return "Take it under a lease: GPUTEST_LEASE(<name>, " + size +
         ") in a ScopedTest. A test that says it uses no GPU (HostTest, no_gpu) has to say in place of that what it "
         "needs: " +
         annotation_of(test, Named::test) + size + ")";
}

std::string allow_to_keep(const std::string& test, Bytes bytes, const Request& request, Named named,
                          Notation notation) {
  if (notation == Notation::marks) {
    return "@pytest.mark.gpu(..., keeps=\"" + as_written(bytes) + "\")";
  }
  const std::string by_entry = "KEEPS " + as_written(bytes) + words(Advice::in_cmake, notation);
  if (notation == Notation::tags) {
    return by_entry;
  }
  const auto said_by = named == Named::suite ? SaidBy::suite : SaidBy::test;
  std::string memory;
  if (request.memory_by == said_by) {
    const bool large = request.memory_class == MemoryClass::large;
    memory = request.bytes ? as_word(*request.bytes) + ", " + (large ? "large, " : "")
                           : std::string{to_string(request.memory_class)} + ", ";
  }
  return annotation_of(test, named) + memory + "keeps(" + as_written(bytes, "_") + ")" + other_words(request) +
         end_of(named) + (request.keeps_by == SaidBy::entry ? " or " + by_entry : "");
}

std::string without_lease(int device, Bytes asked, Notation notation) {
  return asked_of(device, asked) + " while this process has leased nothing; " + words(Advice::in_test, notation);
}

} // namespace gputest::policy

// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/notation.hpp"

#include <array>
#include <cstddef>

namespace gputest::policy {

namespace {

struct Row {
  Advice advice;
  std::array<const char*, 3> words; ///< by notations
};

constexpr std::array<Row, 15> rows{{
    {Advice::in_cmake, {" in gpu_add_test() or gpu_discover_tests()", " in gpu_add_test()", " in gpu_add_test()"}},
    {Advice::gpus,
     {"gpus({}) in GPUTEST_NEEDS, or GPUS {} in gpu_add_test() or gpu_discover_tests()",
      "the tag [gpus:{}], or GPUS {} in gpu_add_test()", "@pytest.mark.gpu(..., gpus={})"}},
    {Advice::number_gpus,
     {"gpus(n) in GPUTEST_NEEDS, GPUS in gpu_add_test() or gpu_discover_tests()",
      "the tag [gpus:<n>], GPUS in gpu_add_test()", "gpus=n in the mark"}},
    {Advice::announce,
     {"GPUTEST_NEEDS(Suite, Test, bytes), or MEMORY in gpu_add_test() or gpu_discover_tests()",
      "the tag [gpu:<size>], or MEMORY in gpu_add_test()", "by the mark of a test"}},
    {Advice::needs,
     {"a fixture such as SmallTest, or a size in GPUTEST_NEEDS", "a tag such as [gpu_small] or [gpu:3GiB]",
      "a mark such as @pytest.mark.gpu(\"3GiB\")"}},
    {Advice::says_no_gpu, {"HostTest, no_gpu, MEMORY none", "[no_gpu], MEMORY none", "it has no mark"}},
    {Advice::lease,
     {"", "in a test case the tag [gpu:<size>], before the test cases LAUNCHER on and MEMORY in gpu_add_test()",
      "by a mark, by gpu_lease() in a fixture, or by gputest.plugin.lease()"}},
    {Advice::in_test,
     {"allocate in SetUp() or in the body of a test and not in SetUpTestSuite() or an environment, and under a "
      "ScopedTest within a GPUTEST_LEASE",
      "allocate in a test case, and not in one with the tag [no_gpu]", "allocate in a test with a mark"}},
    {Advice::take_by_lease,
     {"", "Declare what it needs, in place of [no_gpu] or MEMORY none: the tag [gpu:{}]",
      "Declare what it needs: @pytest.mark.gpu(\"{}\")"}},
    {Advice::keep,
     {"keeps(size) in GPUTEST_NEEDS, KEEPS in gpu_add_test()", "KEEPS in gpu_add_test()", "keeps=size in the mark"}},
    {Advice::keep_library, {"call the library before in an Environment, or allow it: ", "allow it: ", ""}},
    {Advice::large_beside,
     {"LARGE serial or LARGE wait in gpu_add_test() or gpu_discover_tests()",
      "LARGE serial or LARGE wait in gpu_add_test()", "--gpu-large=wait"}},
    {Advice::large_wait,
     {"GPUTEST_LARGE=wait, or LARGE wait in gpu_add_test() or gpu_discover_tests()",
      "GPUTEST_LARGE=wait, or LARGE wait in gpu_add_test()", "--gpu-large=wait"}},
    {Advice::wait_limit,
     {"WAIT_LIMIT in gpu_add_test() or gpu_discover_tests(), --wait-limit of gputest run, or GPUTEST_WAIT_LIMIT",
      "WAIT_LIMIT in gpu_add_test(), --wait-limit of gputest run, or GPUTEST_WAIT_LIMIT",
      "--gpu-wait-limit, or gpu_wait_limit in pytest.ini"}},
    {Advice::own_process, {", as gpu_discover_tests() does", "", ""}},
}};

} // namespace

std::string words(Advice advice, Notation notation, const std::string& value) {
  std::string text;
  for (const auto& row : rows) {
    if (row.advice == advice) {
      text = row.words.at(static_cast<std::size_t>(notation));
    }
  }
  for (auto at = text.find("{}"); at != std::string::npos; at = text.find("{}", at + value.size())) {
    text.replace(at, 2, value);
  }
  return text;
}

} // namespace gputest::policy

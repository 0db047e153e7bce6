// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gputest::tool {

// What is known of a command before it runs.

/// Where execvp() would find a command.
struct FoundCommand {
  int error = 0;    ///< the errno value with which exec() would fail; 0 if it probably would not
  std::string file; ///< empty after an error
};

/// Looks for a command as execvp() will, so that a mistyped command fails at once, not after a wait for the GPU. `path`
/// is the value of PATH.
[[nodiscard]] FoundCommand find_command(const std::string& command, const std::optional<std::string>& path);

/// Whether a program uses a GPU, as far as its files tell.
enum class GpuUse {
  no,            ///< neither it nor a library that it is linked with has the name of CUDA or OpenCL
  leases_itself, ///< it is linked with gputest, and asks for memory itself
  yes, ///< it does, or it cannot be known: a script, an interpreter, a static program, a program that starts or
       ///< loads others
};

/// Whether a command is a script, or an interpreter such as a shell, which reads what it runs; also after `env`,
/// `timeout`, and others that run a command. An interpreter of a whole language, such as python3, counts as a program.
[[nodiscard]] bool runs_script(const std::vector<std::string>& command, const std::optional<std::string>& path);

/// Looks for the names of CUDA's and OpenCL's libraries in the file `path`, and in the libraries that its dynamic
/// linker would load for it.
///
/// Nothing of the program runs; the dynamic linker is asked for the libraries (`--list`), as `ldd` does, which takes
/// about a millisecond. What a library that the program opens at run time does, and what a program does that it
/// starts, is not seen. Blocks for as long as reading takes. Does not throw.
[[nodiscard]] GpuUse find_gpu_use(const std::string& path);

/// Whether a test executable that is linked with gputest uses no GPU, as far as its files tell: neither it nor a
/// library that it is linked with has the name of CUDA or OpenCL. It may open others at run time, which every test
/// could, since gputest does. As find_gpu_use() otherwise.
[[nodiscard]] bool names_no_gpu(const std::string& path);

/// Whether a program with these arguments only lists its tests: options of GoogleTest, Catch2, doctest and Boost.Test.
/// Pure.
[[nodiscard]] bool only_lists_tests(const std::vector<std::string>& arguments);

} // namespace gputest::tool

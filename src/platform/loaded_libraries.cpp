// SPDX-License-Identifier: BSD-3-Clause
#include "platform/loaded_libraries.hpp"

#include <cstddef>

#include <link.h>

namespace gputest::platform {

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> files;
  const auto add = [](dl_phdr_info* info, std::size_t /*size*/, void* all) {
    const std::string file{info->dlpi_name};
    if (!file.empty() && file.front() == '/') { // neither the executable nor what the kernel provides
      static_cast<std::vector<std::string>*>(all)->push_back(file);
    }
    return 0;
  };
  dl_iterate_phdr(add, &files);
  return files;
}

} // namespace gputest::platform

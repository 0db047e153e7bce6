// SPDX-License-Identifier: BSD-3-Clause
// An nvidia-cuda-mps-control -f without CUDA: it accepts connections in CUDA_MPS_PIPE_DIRECTORY until it is killed.
// Adds its pid and that of its parent to the file FAKE_MPS_LOG.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 2 || std::strcmp(argv[1], "-f") != 0) {
    return EXIT_FAILURE;
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto path = std::string{std::getenv("CUDA_MPS_PIPE_DIRECTORY")} + "/control";
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (std::getenv("CUDA_VISIBLE_DEVICES") != nullptr) { // it would number the devices anew for all clients
    return EXIT_FAILURE;
  }
  const int listener = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
  std::ofstream{std::getenv("FAKE_MPS_LOG"), std::ios::app} << ::getpid() << ' ' << ::getppid() << '\n';
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || // NOLINT
      ::listen(listener, 64) != 0) {
    return EXIT_FAILURE;
  }
  for (;;) {
    ::close(::accept(listener, nullptr, nullptr));
  }
}

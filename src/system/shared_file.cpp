#include "system/shared_file.hpp"

#include "system/descriptor.hpp"
#include "system/reason.hpp"

#include <gputest/error.hpp>

#include <boost/interprocess/exceptions.hpp>
#include <boost/interprocess/file_mapping.hpp>
#include <boost/interprocess/mapped_region.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace gputest::system {

namespace ipc = boost::interprocess;

namespace {

LedgerError failure(const std::string& what, const std::string& path, int error) {
  return LedgerError{"cannot " + what + " " + path + ": " + reason(error)};
}

} // namespace

struct SharedFile::Mapping {
  ipc::mapped_region region;
};

SharedFile::SharedFile(const std::string& path) : path_{path} {
  try {
    const ipc::file_mapping file{path.c_str(), ipc::read_only};
    mapping_ = std::make_unique<Mapping>(Mapping{ipc::mapped_region{file, ipc::read_only}});
  } catch (const ipc::interprocess_exception& error) {
    throw LedgerError{"cannot map " + path + ": " +
                      (error.get_native_error() != 0 ? reason(error.get_native_error()) : error.what())};
  }
  Descriptor file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  if (!file) {
    throw failure("open", path, errno);
  }
  file_ = KeptDescriptor{std::move(file), path};
}

SharedFile::~SharedFile() = default;

const std::byte* SharedFile::data() const { return static_cast<const std::byte*>(mapping_->region.get_address()); }

std::size_t SharedFile::size() const { return mapping_->region.get_size(); }

void SharedFile::write(std::size_t offset, const void* data, std::size_t size) {
  const int file = file_.number();
  const auto* const bytes = static_cast<const std::byte*>(data);
  for (std::size_t done = 0; done < size;) { // at once, unless the kernel has reason to write less
    const ssize_t written = ::pwrite(file, bytes + done, size - done, static_cast<off_t>(offset + done));
    if (written == 0 || (written < 0 && errno != EINTR)) {
      throw failure("write", path_, written < 0 ? errno : ENOSPC);
    }
    done += written > 0 ? static_cast<std::size_t>(written) : 0;
  }
}

void SharedFile::create(const std::string& path, std::size_t size) {
  constexpr mode_t everybody = 0666;
  const Descriptor file{::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, everybody)};
  if (!file || ::fchmod(file.number(), everybody) != 0) {
    throw failure("create", path, errno);
  }
  if (size > 0) {
    int error = 0;
    do {
      error = ::posix_fallocate(file.number(), 0, static_cast<off_t>(size));
    } while (error == EINTR);
    if (error != 0) {
      throw failure("allocate " + std::to_string(size) + " bytes for", path, error);
    }
  }
}

} // namespace gputest::system

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>

namespace gputest {

/// Base of all exceptions that gputest throws. Its message says what was asked, what was seen, what is allowed and what
/// to do next.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// A setting or an argument that cannot be used: a variable, a size, a device list, a class name.
class InvalidSetting : public Error {
public:
  using Error::Error;
};

/// The ledger cannot be created, opened or trusted.
class LedgerError : public Error {
public:
  using Error::Error;
};

/// A process that already holds a lease asked for another one. Waiting for it could deadlock.
class NestedLease : public Error {
public:
  using Error::Error;
};

/// A device, real or simulated, has no room left for an allocation.
class OutOfMemory : public Error {
public:
  using Error::Error;
};

/// A test asked for more memory than it has leased. The device may have room, but other tests rely on it.
class LeaseExceeded : public OutOfMemory {
public:
  using OutOfMemory::OutOfMemory;
};

} // namespace gputest

// SPDX-License-Identifier: BSD-3-Clause
#include "metering/driver_allocations.hpp"

#include <algorithm>
#include <new>

namespace gputest::metering {

namespace {

using cupti::Call;

/// Bits of a texel of a CUarray_format; 0: not known, such as of planar ones. cuArrayCreate() refuses these
/// (CUDA 13.0).
std::uint64_t texel_bits(unsigned format, unsigned channels) {
  constexpr unsigned first_normalized = 0xc0; // CU_AD_FORMAT_UNORM_INT8X1: three of 8 bits, three of 16 bits
  constexpr unsigned last_normalized = 0xcb;  // CU_AD_FORMAT_SNORM_INT16X4: the same of SNORM
  if (format >= first_normalized && format <= last_normalized) {
    return ((format - first_normalized) / 3 % 2 == 0 ? 8 : 16) * channels;
  }
  switch (format) {
  case 0x01: // CU_AD_FORMAT_UNSIGNED_INT8
  case 0x08: // CU_AD_FORMAT_SIGNED_INT8
    return 8 * channels;
  case 0x02: // CU_AD_FORMAT_UNSIGNED_INT16
  case 0x09: // CU_AD_FORMAT_SIGNED_INT16
  case 0x10: // CU_AD_FORMAT_HALF
    return 16 * channels;
  case 0x03: // CU_AD_FORMAT_UNSIGNED_INT32
  case 0x0a: // CU_AD_FORMAT_SIGNED_INT32
  case 0x20: // CU_AD_FORMAT_FLOAT
    return 32 * channels;
  case 0x50: // CU_AD_FORMAT_UNORM_INT_101010_2
    return 32;
  case 0x91: // CU_AD_FORMAT_BC1_UNORM
  case 0x92: // CU_AD_FORMAT_BC1_UNORM_SRGB
  case 0x97: // CU_AD_FORMAT_BC4_UNORM
  case 0x98: // CU_AD_FORMAT_BC4_SNORM
    return 4;
  default: // the other block-compressed ones
    return format > 0x92 && format <= 0x9e ? 8 : 0;
  }
}

/// Memory is mapped to it later.
bool is_mapped_later(unsigned flags) { return (flags & (cupti::sparse_array | cupti::deferred_array)) != 0; }

/// Of no descriptor, which CUDA refuses: 0.
std::uint64_t bytes_of(const cupti::Array3dDescriptor* descriptor, unsigned levels = 1) {
  if (descriptor == nullptr || is_mapped_later(descriptor->flags)) {
    return 0;
  }
  const auto& array = *descriptor;
  std::uint64_t bytes = 0;
  auto width = array.width;
  auto height = std::max<std::uint64_t>(array.height, 1);
  auto depth = std::max<std::uint64_t>(array.depth, 1);
  const bool has_layers = (array.flags & (cupti::layered_array | cupti::cubemap_array)) != 0;
  for (unsigned level = 0; level < levels; ++level) {
    bytes += width * height * depth * texel_bits(array.format, array.channels) / 8;
    if (width <= 1 && height == 1 && (has_layers || depth == 1)) {
      break; // CUDA makes no more, however many are asked for
    }
    width = std::max<std::uint64_t>(width / 2, 1);
    height = std::max<std::uint64_t>(height / 2, 1);
    depth = has_layers ? depth : std::max<std::uint64_t>(depth / 2, 1);
  }
  return bytes;
}

/// Handles of virtual memory are small numbers or addresses of the host, and could be those of device memory, too.
constexpr std::uint64_t key_of_handle(std::uint64_t handle) { return handle ^ (1ULL << 63U); }

constexpr const char* array_function = "cudaMallocArray";
constexpr const char* pool_function = "cudaMallocAsync";

template <class Parameters>
const Parameters& parameters_of(const cupti::CallData& data) {
  return *static_cast<const Parameters*>(data.parameters);
}

std::uint64_t to_key(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

unsigned flags_of(const cupti::ArrayDescriptor& /*array*/) { return 0; }
unsigned flags_of(const cupti::Array3dDescriptor& array) { return array.flags; }

/// Of an array that was made. Throws UnknownArrayFormat.
template <class Parameters>
std::uint64_t key_of_array(const cupti::CallData& data) {
  const auto& made = parameters_of<Parameters>(data);
  if (texel_bits(made.descriptor->format, 1) == 0 && !is_mapped_later(flags_of(*made.descriptor))) {
    throw UnknownArrayFormat{};
  }
  return to_key(*made.array);
}

} // namespace

std::unique_lock<os::Mutex> DriverAllocations::lock() {
  std::unique_lock guard{mutex_};
  if (mutex_.was_locked_at_fork()) { // half-written, and the parent's
    new (&virtual_memory_) VirtualMemory;
    new (&pools_) decltype(pools_);
  }
  return guard;
}

void DriverAllocations::note(Call call, const cupti::CallData& data) {
  // Before it is freed: another thread may get the same address the moment it is free.
  if (data.site == cupti::entered) {
    note_free(call, data);
    if (book_.asks()) {
      book_.ask(asked_by(call, data));
    }
  } else {
    const auto result = *static_cast<const devices::cuda::Result*>(data.return_value);
    if (result == devices::cuda::success) {
      note_made(call, data);
    } else if (result == devices::cuda::out_of_memory) {
      const auto refused = asked_by(call, data);
      book_.refuse(refused.device, refused.bytes);
    }
    if (book_.asks()) {
      book_.settle();
    }
  }
}

/// What a call asks for, before it is known where; of no bytes if it makes no memory of a device now.
AllocationBook::Allocation DriverAllocations::asked_by(Call call, const cupti::CallData& data) {
  using devices::AllocationKind;
  const auto in_context = [&](AllocationKind kind, const char* function, std::uint64_t bytes) {
    return AllocationBook::Allocation{kind, device_of(data.context), function, bytes, to_key(data.context)};
  };
  switch (call) {
  case Call::cuMemAlloc_v2:
    return in_context(AllocationKind::device, "cudaMalloc", parameters_of<cupti::AllocParameters>(data).bytes);
  case Call::cuMemAllocPitch_v2: {
    const auto& asked = parameters_of<cupti::AllocPitchParameters>(data);
    return in_context(AllocationKind::device, "cudaMallocPitch", asked.width_bytes * asked.height);
  }
  case Call::cuMemAllocManaged:
    return in_context(AllocationKind::managed, "cudaMallocManaged", parameters_of<cupti::AllocParameters>(data).bytes);
  case Call::cuMemAllocAsync:
  case Call::cuMemAllocAsync_ptsz: {
    const auto& asked = parameters_of<cupti::AllocAsyncParameters>(data);
    const bool captured = is_captured(asked.stream, call == Call::cuMemAllocAsync_ptsz);
    return in_context(AllocationKind::pool, pool_function, captured ? 0 : asked.bytes);
  }
  case Call::cuMemAllocFromPoolAsync:
  case Call::cuMemAllocFromPoolAsync_ptsz: {
    const auto& asked = parameters_of<cupti::AllocFromPoolParameters>(data);
    const bool captured = is_captured(asked.stream, call == Call::cuMemAllocFromPoolAsync_ptsz);
    auto allocation = in_context(AllocationKind::pool, pool_function, captured ? 0 : asked.bytes);
    const auto guard = lock();
    if (const auto pool = pools_.find(asked.pool); pool != pools_.end()) {
      allocation.device = pool->second.id;
      allocation.bytes = pool->second.type == devices::cuda::location_device ? allocation.bytes : 0;
    }
    return allocation;
  }
  case Call::cuArrayCreate_v2: {
    const auto* const array = parameters_of<cupti::ArrayCreateParameters>(data).descriptor;
    if (array == nullptr) {
      return {};
    }
    const cupti::Array3dDescriptor flat{array->width, array->height, 0, array->format, array->channels, 0};
    return in_context(AllocationKind::device, array_function, bytes_of(&flat));
  }
  case Call::cuArray3DCreate_v2:
    return in_context(AllocationKind::device, array_function,
                      bytes_of(parameters_of<cupti::Array3dCreateParameters>(data).descriptor));
  case Call::cuMipmappedArrayCreate: {
    const auto& asked = parameters_of<cupti::MipmappedArrayCreateParameters>(data);
    return in_context(AllocationKind::device, array_function, bytes_of(asked.descriptor, asked.levels));
  }
  case Call::cuMemCreate: {
    const auto& asked = parameters_of<cupti::CreateParameters>(data);
    if (asked.properties == nullptr) {
      return {};
    }
    const auto& location = asked.properties->location;
    return {AllocationKind::device, location.id, "cuMemCreate",
            location.type == devices::cuda::location_device ? asked.bytes : 0};
  }
  default:
    return {};
  }
}

void DriverAllocations::note_free(Call call, const cupti::CallData& data) {
  switch (call) {
  case Call::cuMemFree_v2:
    return book_.remove(parameters_of<cupti::FreeParameters>(data).pointer);
  case Call::cuMemFreeAsync:
  case Call::cuMemFreeAsync_ptsz: {
    const auto& freed = parameters_of<cupti::FreeAsyncParameters>(data);
    if (!is_captured(freed.stream, call == Call::cuMemFreeAsync_ptsz)) { // else its graph frees it when it runs
      book_.remove(freed.pointer);
    }
    return;
  }
  case Call::cuArrayDestroy:
  case Call::cuMipmappedArrayDestroy:
    return book_.remove(to_key(parameters_of<cupti::ArrayDestroyParameters>(data).array));
  case Call::cuMemRelease: {
    const auto handle = parameters_of<cupti::ReleaseParameters>(data).handle;
    const auto guard = lock();
    if (virtual_memory_.released(handle)) {
      book_.remove(key_of_handle(handle));
    }
    return;
  }
  case Call::cuMemUnmap: {
    const auto& parameters = parameters_of<cupti::UnmapParameters>(data);
    const auto guard = lock();
    for (const auto handle : virtual_memory_.unmapped(parameters.pointer, parameters.bytes)) {
      book_.remove(key_of_handle(handle));
    }
    return;
  }
  default:
    return;
  }
}

void DriverAllocations::note_made(Call call, const cupti::CallData& data) {
  switch (call) {
  case Call::cuMemAlloc_v2:
  case Call::cuMemAllocManaged:
    return add(*parameters_of<cupti::AllocParameters>(data).pointer, asked_by(call, data));
  case Call::cuMemAllocPitch_v2: {
    const auto& made = parameters_of<cupti::AllocPitchParameters>(data);
    auto allocation = asked_by(call, data);
    allocation.bytes = *made.pitch * made.height;
    return add(*made.pointer, allocation);
  }
  case Call::cuMemAllocAsync:
  case Call::cuMemAllocAsync_ptsz:
    return add_from_pool(*parameters_of<cupti::AllocAsyncParameters>(data).pointer, asked_by(call, data));
  case Call::cuMemAllocFromPoolAsync:
  case Call::cuMemAllocFromPoolAsync_ptsz:
    return add_from_pool(*parameters_of<cupti::AllocFromPoolParameters>(data).pointer, asked_by(call, data));
  case Call::cuMemGetInfo_v2:
    if (const auto* const free = parameters_of<cupti::GetInfoParameters>(data).free; free != nullptr) {
      book_.tell_free(device_of(data.context), *free);
    }
    return;
  case Call::cuArrayCreate_v2:
    return add(key_of_array<cupti::ArrayCreateParameters>(data), asked_by(call, data));
  case Call::cuArray3DCreate_v2:
    return add(key_of_array<cupti::Array3dCreateParameters>(data), asked_by(call, data));
  case Call::cuMipmappedArrayCreate:
    return add(key_of_array<cupti::MipmappedArrayCreateParameters>(data), asked_by(call, data));
  case Call::cuMemPoolCreate: {
    const auto& made = parameters_of<cupti::PoolCreateParameters>(data);
    const auto guard = lock();
    pools_[*made.pool] = made.properties->location;
    return;
  }
  case Call::cuMemCreate:
  case Call::cuMemMap:
  case Call::cuMemRetainAllocationHandle:
    return note_virtual(call, data);
  default:
    return;
  }
}

void DriverAllocations::note_virtual(Call call, const cupti::CallData& data) {
  const auto guard = lock();
  if (call == Call::cuMemCreate) {
    const auto& made = parameters_of<cupti::CreateParameters>(data);
    const auto& location = made.properties->location;
    if (location.type == devices::cuda::location_device) {
      virtual_memory_.created(*made.handle);
      add(key_of_handle(*made.handle), {devices::AllocationKind::device, location.id, "cuMemCreate", made.bytes});
    }
  } else if (call == Call::cuMemMap) {
    const auto& mapping = parameters_of<cupti::MapParameters>(data);
    virtual_memory_.mapped(mapping.pointer, mapping.handle);
  } else {
    virtual_memory_.retained(*parameters_of<cupti::RetainParameters>(data).handle);
  }
}

void DriverAllocations::add(std::uint64_t address, const AllocationBook::Allocation& allocation) {
  if (allocation.bytes > 0) {
    book_.add(address, allocation);
  }
}

void DriverAllocations::add_from_pool(std::uint64_t address, AllocationBook::Allocation allocation) {
  if (allocation.bytes == 0) {
    return; // it becomes a node of a graph, and memory only when the graph runs
  }
  unsigned type = 0; // the pool may be another device's than the context, or the host's
  driver_.pointer_attribute(&allocation.device, cupti::pointer_device, address);
  driver_.pointer_attribute(&type, cupti::pointer_memory_type, address);
  if (type != cupti::host_memory) {
    add(address, allocation);
  }
}

bool DriverAllocations::is_captured(devices::cuda::Stream stream, bool of_thread) const {
  int status = 0;
  (of_thread ? driver_.is_capturing_ptsz : driver_.is_capturing)(stream, &status);
  return status != 0;
}

int DriverAllocations::device_of(devices::cuda::Context context) const {
  std::uint32_t device = 0;
  const bool known = context != nullptr && cupti_.device_of_context(context, &device) == cupti::success;
  return known ? static_cast<int>(device) : 0;
}

void DriverAllocations::note_end(devices::cuda::Context context) { book_.remove_owner(to_key(context)); }

void VirtualMemory::retained(Handle handle) {
  if (const auto found = handles_.find(handle); found != handles_.end()) {
    ++found->second.references;
  }
}

void VirtualMemory::mapped(std::uint64_t address, Handle handle) {
  if (const auto found = handles_.find(handle); found != handles_.end()) {
    ++found->second.mappings;
    mappings_[address] = handle;
  }
}

bool VirtualMemory::released(Handle handle) {
  const auto found = handles_.find(handle);
  if (found == handles_.end() || found->second.references == 0) {
    return false;
  }
  --found->second.references;
  return is_free(found);
}

std::vector<VirtualMemory::Handle> VirtualMemory::unmapped(std::uint64_t address, std::uint64_t bytes) {
  std::vector<Handle> free;
  const auto first = mappings_.lower_bound(address);
  auto mapping = first; // no sum of both: the driver has not looked at them yet
  for (; mapping != mappings_.end() && mapping->first - address < std::max<std::uint64_t>(bytes, 1); ++mapping) {
    const auto found = handles_.find(mapping->second);
    if (found != handles_.end() && found->second.mappings > 0) {
      --found->second.mappings;
      if (is_free(found)) {
        free.push_back(mapping->second);
      }
    }
  }
  mappings_.erase(first, mapping);
  return free;
}

bool VirtualMemory::is_free(std::map<Handle, Uses>::iterator handle) {
  if (handle->second.references > 0 || handle->second.mappings > 0) {
    return false;
  }
  handles_.erase(handle);
  return true;
}

} // namespace gputest::metering

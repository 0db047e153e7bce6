// SPDX-License-Identifier: BSD-3-Clause
#include "metering/driver_allocations.hpp"

#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace gputest::metering {
namespace {

using namespace gputest::literals;
using cupti::Call;

int context_0 = 0;

cupti::Result device_of_context(devices::cuda::Context context, std::uint32_t* device) {
  *device = static_cast<std::uint32_t>(*static_cast<int*>(context));
  return cupti::success;
}

int capturing = 0;
devices::cuda::Result is_capturing(devices::cuda::Stream /*stream*/, int* status) {
  *status = capturing;
  return devices::cuda::success;
}

int pools_device = 0;
unsigned pools_type = 2; // CU_MEMORYTYPE_DEVICE
devices::cuda::Result pointer_attribute(void* value, int attribute, devices::cuda::DevicePointer /*pointer*/) {
  if (attribute == cupti::pointer_device) {
    *static_cast<int*>(value) = pools_device;
  } else {
    *static_cast<unsigned*>(value) = pools_type;
  }
  return devices::cuda::success;
}

class DriverAllocationsTest : public ::testing::Test {
protected:
  DriverAllocationsTest() {
    capturing = pools_device = 0;
    pools_type = 2;
    driver_.is_capturing = is_capturing;
    driver_.is_capturing_ptsz = is_capturing;
    driver_.pointer_attribute = pointer_attribute;
    cupti_.device_of_context = device_of_context;
    book_.begin();
  }

  template <class Parameters>
  void call(Call call, const Parameters& parameters, devices::cuda::Result result = devices::cuda::success) {
    cupti::CallData data{};
    data.parameters = &parameters;
    data.context = &context_0;
    data.return_value = &result;
    data.site = cupti::entered;
    allocations_.note(call, data);
    data.site = cupti::entered + 1;
    allocations_.note(call, data);
  }

  void allocate(devices::cuda::DevicePointer pointer, std::size_t bytes) {
    call(Call::cuMemAlloc_v2, cupti::AllocParameters{&pointer, bytes});
  }

  Bytes peak(int device = 0) { return usage_of(device).peak; }
  Bytes wanted() { return usage_of(0).wanted; }
  devices::DeviceUsage usage_of(int device) {
    for (const auto& of : book_.so_far().devices) {
      if (of.device == device) {
        return of;
      }
    }
    return {};
  }

  bool nothing_is_left() {
    bool left = false;
    for (const auto& of : book_.so_far().devices) {
      left = left || !of.left.empty();
    }
    return !left;
  }

  AllocationBook book_;
  cupti::DriverFunctions driver_;
  cupti::Functions cupti_;
  DriverAllocations allocations_{book_, driver_, cupti_};
};

TEST_F(DriverAllocationsTest, counts_plain_memory_until_it_is_freed) {
  allocate(100, 300);
  EXPECT_EQ(peak(), Bytes{300});
  call(Call::cuMemFree_v2, cupti::FreeParameters{100});
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(DriverAllocationsTest, sees_what_the_driver_tells_the_program_is_free) {
  std::size_t free = (3_GiB).count();
  std::size_t total = (4_GiB).count();
  call(Call::cuMemGetInfo_v2, cupti::GetInfoParameters{&free, &total});
  call(Call::cuMemGetInfo_v2, cupti::GetInfoParameters{nullptr, &total}); // which asks for the total alone
  allocate(100, 300);
  EXPECT_EQ(usage_of(0).reported_free, 3_GiB);
}

TEST_F(DriverAllocationsTest, asks_before_each_call_that_makes_memory_of_a_device) {
  std::vector<Bytes> asked;
  book_.ask_beyond({{}, 80_GiB}, [&](const devices::Usage& usage) { asked.push_back(usage.devices.at(0).peak); });
  const auto expect = [&](std::vector<Bytes> expected, Call call, const auto& parameters) {
    asked.clear();
    cupti::CallData data{};
    data.parameters = &parameters;
    data.context = &context_0;
    data.site = cupti::entered;
    allocations_.note(call, data);
    EXPECT_EQ(asked, expected) << static_cast<int>(call);
  };
  devices::cuda::DevicePointer pointer = 0;
  std::size_t pitch = 0;
  expect({3_MiB}, Call::cuMemAlloc_v2, cupti::AllocParameters{&pointer, (3_MiB).count()});
  expect({8_B}, Call::cuMemAllocPitch_v2, cupti::AllocPitchParameters{&pointer, &pitch, 4, 2, 4});
  expect({5_B}, Call::cuMemAllocManaged, cupti::AllocParameters{&pointer, 5});
  const cupti::ArrayDescriptor array{10, 2, 0x20, 1};
  void* handle = nullptr;
  expect({80_B}, Call::cuArrayCreate_v2, cupti::ArrayCreateParameters{&handle, &array});
  cupti::VirtualMemory memory = 0;
  cupti::VirtualMemoryProperties properties{1, 0, {devices::cuda::location_device, 0}};
  expect({6_B}, Call::cuMemCreate, cupti::CreateParameters{&memory, 6, &properties, 0});
  expect({7_B}, Call::cuMemAllocAsync, cupti::AllocAsyncParameters{&pointer, 7, nullptr});
  int pool_of_host = 0;
  devices::cuda::MemoryPool pool = &pool_of_host;
  expect({7_B}, Call::cuMemAllocFromPoolAsync, cupti::AllocFromPoolParameters{&pointer, 7, pool, nullptr});
  properties.location.type = devices::cuda::location_device + 1;
  expect({}, Call::cuMemCreate, cupti::CreateParameters{&memory, 6, &properties, 0});
  call(Call::cuMemPoolCreate, cupti::PoolCreateParameters{&pool, &properties});
  expect({}, Call::cuMemAllocFromPoolAsync, cupti::AllocFromPoolParameters{&pointer, 7, pool, nullptr});
  capturing = 1;
  expect({}, Call::cuMemAllocAsync, cupti::AllocAsyncParameters{&pointer, 7, nullptr});
}

TEST_F(DriverAllocationsTest, knows_what_was_asked_for_in_vain) {
  allocate(100, 300);
  devices::cuda::DevicePointer pointer = 0;
  call(Call::cuMemAllocAsync, cupti::AllocAsyncParameters{&pointer, 20, nullptr}, devices::cuda::out_of_memory);
  EXPECT_EQ(wanted(), Bytes{320});
  call(Call::cuMemAllocFromPoolAsync_ptsz, cupti::AllocFromPoolParameters{&pointer, 40, nullptr, nullptr},
       devices::cuda::out_of_memory);
  EXPECT_EQ(wanted(), Bytes{340});
  call(Call::cuMemAlloc_v2, cupti::AllocParameters{&pointer, 700}, devices::cuda::out_of_memory + 1);
  EXPECT_EQ(wanted(), Bytes{340}) << "that was another error";
}

TEST_F(DriverAllocationsTest, frees_before_another_thread_can_get_the_address) {
  allocate(100, 300);
  cupti::CallData data{};
  const cupti::FreeParameters parameters{100};
  data.parameters = &parameters;
  data.site = cupti::entered;
  allocations_.note(Call::cuMemFree_v2, data);
  allocate(100, 50); // before the call of the first thread has returned
  const devices::cuda::Result result = devices::cuda::success;
  data.return_value = &result;
  data.site = cupti::entered + 1;
  allocations_.note(Call::cuMemFree_v2, data);
  EXPECT_FALSE(nothing_is_left());
}

TEST_F(DriverAllocationsTest, counts_the_padding_of_pitched_memory) {
  devices::cuda::DevicePointer pointer = 100;
  std::size_t pitch = 512;
  call(Call::cuMemAllocPitch_v2, cupti::AllocPitchParameters{&pointer, &pitch, 500, 1000, 4});
  EXPECT_EQ(peak(), Bytes{512 * 1000});
}

TEST_F(DriverAllocationsTest, knows_kinds) {
  devices::cuda::DevicePointer pool = 1;
  devices::cuda::DevicePointer managed = 2;
  call(Call::cuMemAllocAsync, cupti::AllocAsyncParameters{&pool, 10, nullptr});
  call(Call::cuMemAllocManaged, cupti::AllocParameters{&managed, 20});
  const auto usage = book_.so_far();
  ASSERT_EQ(usage.devices.size(), 1U);
  const std::map<devices::AllocationKind, Bytes> expected{{devices::AllocationKind::pool, Bytes{10}},
                                                          {devices::AllocationKind::managed, Bytes{20}}};
  EXPECT_EQ(usage.devices[0].at_peak, expected);
  call(Call::cuMemFreeAsync, cupti::FreeAsyncParameters{1, nullptr});
  call(Call::cuMemFree_v2, cupti::FreeParameters{2});
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(DriverAllocationsTest, knows_streams_of_a_thread) {
  devices::cuda::DevicePointer first = 1;
  devices::cuda::DevicePointer second = 2;
  call(Call::cuMemAllocAsync_ptsz, cupti::AllocAsyncParameters{&first, 10, nullptr});
  call(Call::cuMemAllocFromPoolAsync_ptsz, cupti::AllocFromPoolParameters{&second, 20, nullptr, nullptr});
  EXPECT_EQ(peak(), Bytes{30});
  call(Call::cuMemFreeAsync_ptsz, cupti::FreeAsyncParameters{1, nullptr});
  call(Call::cuMemFreeAsync_ptsz, cupti::FreeAsyncParameters{2, nullptr});
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(DriverAllocationsTest, counts_where_a_pool_is_and_not_where_the_context_is) {
  pools_device = 3;
  devices::cuda::DevicePointer pointer = 1;
  call(Call::cuMemAllocFromPoolAsync, cupti::AllocFromPoolParameters{&pointer, 10, nullptr, nullptr});
  EXPECT_EQ(peak(3), Bytes{10});
  EXPECT_EQ(peak(0), Bytes{});
}

TEST_F(DriverAllocationsTest, leaves_to_a_graph_what_its_capture_allocates_and_frees) {
  devices::cuda::DevicePointer pointer = 1;
  call(Call::cuMemAllocAsync, cupti::AllocAsyncParameters{&pointer, 10, nullptr});
  capturing = 1;
  call(Call::cuMemFreeAsync, cupti::FreeAsyncParameters{1, nullptr});
  EXPECT_FALSE(nothing_is_left()) << "it is freed when the graph runs";
  pointer = 2;
  call(Call::cuMemAllocAsync, cupti::AllocAsyncParameters{&pointer, 20, nullptr});
  EXPECT_EQ(peak(), Bytes{10});
}

TEST_F(DriverAllocationsTest, multiplies_the_size_of_an_array) {
  constexpr unsigned float_format = 0x20;
  void* array = &array;
  const cupti::ArrayDescriptor flat{1024, 512, float_format, 4};
  call(Call::cuArrayCreate_v2, cupti::ArrayCreateParameters{&array, &flat});
  EXPECT_EQ(peak(), 8_MiB);
  call(Call::cuArrayDestroy, cupti::ArrayDestroyParameters{array});
  book_.begin();
  const cupti::Array3dDescriptor cube{128, 128, 128, float_format, 1, 0};
  call(Call::cuArray3DCreate_v2, cupti::Array3dCreateParameters{&array, &cube});
  EXPECT_EQ(peak(), 8_MiB);
  call(Call::cuArrayDestroy, cupti::ArrayDestroyParameters{array});
  book_.begin();
  const cupti::Array3dDescriptor levels{1024, 1024, 0, float_format, 1, 0};
  call(Call::cuMipmappedArrayCreate, cupti::MipmappedArrayCreateParameters{&array, &levels, 3});
  EXPECT_EQ(peak(), 4_MiB + 1_MiB + 256_KiB);
  call(Call::cuMipmappedArrayDestroy, cupti::ArrayDestroyParameters{array});
  book_.begin();
  const cupti::Array3dDescriptor layers{2, 2, 1024, float_format, 1, cupti::layered_array};
  call(Call::cuMipmappedArrayCreate, cupti::MipmappedArrayCreateParameters{&array, &layers, UINT32_MAX});
  EXPECT_EQ(peak(), 16_KiB + 4_KiB) << "there are no smaller levels, and each has all layers";
  call(Call::cuMipmappedArrayDestroy, cupti::ArrayDestroyParameters{array});
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(DriverAllocationsTest, asks_for_nothing_where_a_call_has_no_descriptor) {
  constexpr devices::cuda::Result refused = devices::cuda::out_of_memory; // asks at both ends of the call
  void* array = nullptr;
  cupti::VirtualMemory handle = 0;
  call(Call::cuArrayCreate_v2, cupti::ArrayCreateParameters{&array, nullptr}, refused);
  call(Call::cuArray3DCreate_v2, cupti::Array3dCreateParameters{&array, nullptr}, refused);
  call(Call::cuMipmappedArrayCreate, cupti::MipmappedArrayCreateParameters{&array, nullptr, 1}, refused);
  call(Call::cuMemCreate, cupti::CreateParameters{&handle, 4096, nullptr, 0}, refused);
  EXPECT_EQ(wanted(), 0_B);
}

TEST_F(DriverAllocationsTest, knows_what_a_texel_of_each_format_takes) {
  int number = 0;
  void* array = &number;
  const auto make = [&](unsigned format, unsigned channels, unsigned flags = 0) {
    const cupti::Array3dDescriptor texels{1024, 1024, 1, format, channels, flags};
    call(Call::cuArray3DCreate_v2, cupti::Array3dCreateParameters{&array, &texels});
    const auto bytes = peak();
    call(Call::cuArrayDestroy, cupti::ArrayDestroyParameters{array});
    book_.begin();
    return bytes;
  };
  // As an H200 shows them (driver 13.0).
  EXPECT_EQ(make(0xc0, 1), 1_MiB) << "UNORM_INT8X1";
  EXPECT_EQ(make(0xc2, 4), 4_MiB) << "UNORM_INT8X4";
  EXPECT_EQ(make(0xc5, 4), 8_MiB) << "UNORM_INT16X4";
  EXPECT_EQ(make(0xc6, 1), 1_MiB) << "SNORM_INT8X1";
  EXPECT_EQ(make(0xc9, 1), 2_MiB) << "SNORM_INT16X1";
  EXPECT_EQ(make(0xcb, 4), 8_MiB) << "SNORM_INT16X4";
  EXPECT_EQ(make(0x50, 4), 4_MiB) << "UNORM_INT_101010_2";
  for (const unsigned half_a_byte : {0x91U, 0x92U, 0x97U, 0x98U}) {
    EXPECT_EQ(make(half_a_byte, 4), 512_KiB) << half_a_byte;
  }
  for (const unsigned a_byte : {0x93U, 0x96U, 0x99U, 0x9eU}) {
    EXPECT_EQ(make(a_byte, 4), 1_MiB) << a_byte;
  }
  for (const unsigned unknown : {0x51U, 0x90U, 0x9fU, 0xb0U, 0xccU}) {
    EXPECT_THROW(make(unknown, 3), UnknownArrayFormat) << unknown;
    EXPECT_EQ(make(unknown, 3, cupti::sparse_array), 0_B) << "memory is mapped to it later";
  }
  const cupti::ArrayDescriptor flat{1024, 512, 0xb0, 3};
  EXPECT_THROW(call(Call::cuArrayCreate_v2, cupti::ArrayCreateParameters{&array, &flat}), UnknownArrayFormat);
  const cupti::Array3dDescriptor levels{1024, 1024, 0, 0xb0, 3, 0};
  EXPECT_THROW(call(Call::cuMipmappedArrayCreate, cupti::MipmappedArrayCreateParameters{&array, &levels, 3}),
               UnknownArrayFormat);
}

TEST_F(DriverAllocationsTest, counts_virtual_memory_in_a_process_that_is_forked_while_another_thread_maps_some) {
  const cupti::VirtualMemoryProperties properties{1, 0, {devices::cuda::location_device, 0}};
  cupti::VirtualMemory handle = 1;
  const auto create = [&] { call(Call::cuMemCreate, cupti::CreateParameters{&handle, 4096, &properties, 0}); };
  const auto map = [&](std::uint64_t address) { call(Call::cuMemMap, cupti::MapParameters{address, 1, 0, handle, 0}); };
  create();
  std::atomic<bool> goes_on{true};
  std::thread other{[&] {
    for (std::uint64_t address = 8; goes_on; ++address) {
      map(address);
      call(Call::cuMemUnmap, cupti::UnmapParameters{address / 2, 1});
    }
  }};
  for (int forks = 0; forks < 20; ++forks) { // most of them while the other thread has the mutex
    EXPECT_EQ(tests::in_child([&] {
                ++handle;
                book_.begin();
                create();
                map(1);
                call(Call::cuMemRelease, cupti::ReleaseParameters{handle});
                const bool counts = !nothing_is_left();
                call(Call::cuMemUnmap, cupti::UnmapParameters{0, ~std::uint64_t{0}}); // with all of its parent's
                return counts && nothing_is_left() ? 0 : 1;
              }),
              0);
  }
  goes_on = false;
  other.join();
}

TEST_F(DriverAllocationsTest, counts_virtual_memory_until_it_is_neither_held_nor_mapped) {
  cupti::VirtualMemory handle = 7;
  const cupti::VirtualMemoryProperties on_device_1{1, 0, {devices::cuda::location_device, 1}};
  call(Call::cuMemCreate, cupti::CreateParameters{&handle, 4096, &on_device_1, 0});
  EXPECT_EQ(peak(1), Bytes{4096});
  call(Call::cuMemMap, cupti::MapParameters{0x1000, 4096, 0, handle, 0});
  call(Call::cuMemMap, cupti::MapParameters{0x2000, 4096, 0, handle, 0});
  call(Call::cuMemRelease, cupti::ReleaseParameters{handle});
  EXPECT_FALSE(nothing_is_left());
  call(Call::cuMemUnmap, cupti::UnmapParameters{~std::uint64_t{0}, 2}, 1); // CUDA refuses it: there is no such end
  EXPECT_FALSE(nothing_is_left());
  call(Call::cuMemUnmap, cupti::UnmapParameters{0x1000, 8192});
  EXPECT_TRUE(nothing_is_left());
}

} // namespace
} // namespace gputest::metering

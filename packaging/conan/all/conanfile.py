# SPDX-License-Identifier: BSD-3-Clause
import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, get, rmdir

required_conan_version = ">=2.0"


class GputestConan(ConanFile):
    name = "gputest"
    description = "GPU tests in parallel under pytest and CTest, without one spurious out-of-memory"
    license = "BSD-3-Clause"
    url = "https://github.com/conan-io/conan-center-index"
    homepage = "https://example.com/gputest"
    topics = ("gpu", "cuda", "testing", "ctest", "googletest")
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"with_tool": [True, False]}
    default_options = {"with_tool": True}

    def layout(self):
        cmake_layout(self, src_folder="src")

    def requirements(self):
        # Headers only, and none of them in gputest's own headers.
        private = {"headers": True, "libs": False, "visible": False}
        self.requires("boost/1.86.0", options={"header_only": True}, **private)
        if self.options.with_tool:
            self.requires("cli11/2.4.2", **private)
            self.requires("nlohmann_json/3.11.3", **private)
            self.requires("fmt/11.0.2", **private)
            self.requires("pugixml/1.14", visible=False)  # linked

    def validate(self):
        check_min_cppstd(self, 17)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration(f"{self.ref} runs on Linux only, and this profile is for {self.settings.os}")

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25]")

    def source(self):
        get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["GPUTEST_BUILD_CLI"] = bool(self.options.with_tool)
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))
        rmdir(self, os.path.join(self.package_folder, "share", "doc"))

    def package_info(self):
        # gpu_add_test() and the parts for test frameworks are in the CMake package that gputest installs.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "gputest")]
        self.cpp_info.libs = ["gputest_core"]
        self.cpp_info.system_libs = ["pthread", "dl"]

# SPDX-License-Identifier: BSD-3-Clause
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Gputest(CMakePackage):
    """GPU tests in parallel under pytest and CTest, without one spurious out-of-memory"""

    homepage = "https://example.com/gputest"
    url = "https://example.com/gputest/gputest-0.1.0.tar.gz"

    license("BSD-3-Clause")

    # .ci/release writes the hash into a copy of this file.
    version("0.1.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    variant("tool", default=True, description="Build the tool: the launcher, and the scheduling of tests by memory")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("boost@1.74:", type="build")
    with when("+tool"):
        depends_on("cli11@2.1:", type="build")
        depends_on("nlohmann-json@3.7:", type="build")
        depends_on("fmt@9:", type="build")
        depends_on("pugixml@1.12:")  # linked

    conflicts("platform=darwin", msg="gputest runs on Linux only")
    conflicts("platform=windows", msg="gputest runs on Linux only")

    def cmake_args(self):
        return [self.define_from_variant("GPUTEST_BUILD_CLI", "tool")]

# SPDX-License-Identifier: BSD-3-Clause
# What the suite's benchmarks share. Sourced by bash scripts that have set -euo pipefail; `here` is this folder.
source "$here/../../../.ci/common.sh"

build=$here/../../../build/benchmark
mkdir -p "$build"
build=$(cd "$build" && pwd)
log=$build/build.log
: >"$log"

# require_devices: ends the script where there is neither a GPU nor a simulated one.
require_devices() {
  if [[ ${GPUTEST_DEVICES:-all} == all && -z $(smallest_gpu_mib) ]]; then
    echo "$0: this machine has no GPU; set GPUTEST_DEVICES, such as GPUTEST_DEVICES=simulated:1x14GiB" >&2
    exit 1
  fi
}

# build_suite <folder> <size of a test> <tests> <milliseconds of work> [<cmake argument>...]: gputest, and the suite with it.
build_suite() {
  echo "Building in $build ..." >&2
  build_gputest "$build/gputest" "$log" -DGPUTEST_BUILD_CLI=OFF # nothing here needs the launcher
  quietly "$log" cmake -S "$here" -B "$1" -DCMAKE_BUILD_TYPE=Release -Dgputest_DIR="$build/gputest" \
    -DSUITE_SIZE="$2" -DSUITE_COUNT="$3" -DSUITE_WORK_MS="$4" "${@:5}"
  quietly "$log" cmake --build "$1" --parallel "$(nproc)"
}

# median: of the numbers on stdin, a line each.
median() {
  sort -n | awk '{ value[NR] = $1 } END { print (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2 }'
}

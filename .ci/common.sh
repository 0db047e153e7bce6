# SPDX-License-Identifier: BSD-3-Clause
# What the demo and the benchmarks share. Sourced by bash scripts that have set -euo pipefail.

# nvcc is often installed without being in PATH.
if ! command -v nvcc >/dev/null && [[ -x /usr/local/cuda/bin/nvcc ]]; then
  PATH=$PATH:/usr/local/cuda/bin
fi

# Settings of the caller's shell that would change what is measured.
export LC_ALL=C
unset MAKEFLAGS CTEST_PARALLEL_LEVEL GPUTEST_MEMORY GPUTEST_GPUS GPUTEST_LARGE GPUTEST_RUN_MODE GPUTEST_FORBID_SKIP

common_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# quietly <log> <command>...: adds the command's output to the log, and shows the log's end only if it fails.
quietly() {
  local log=$1
  shift
  if ! "$@" >>"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "failed: $*" >&2
    echo "the whole log: $log" >&2
    return 1
  fi
}

# show_percents: of a build's output, how far it is, in steps of 5 %. Not awk: mawk waits for whole blocks of a pipe.
show_percents() {
  local line percent next=0
  while IFS= read -r line; do
    if [[ $line =~ ^\[\ *([0-9]+)%\] ]]; then
      percent=${BASH_REMATCH[1]}
    elif [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
      percent=$((100 * BASH_REMATCH[1] / BASH_REMATCH[2]))
    else
      continue
    fi
    if ((percent >= next)); then
      printf '%d%% ' "$percent"
      next=$((percent - percent % 5 + 5))
    fi
  done
  echo
}

# build_loudly <log> <folder>: builds what is configured there, and shows how far it is.
build_loudly() {
  local log=$1 folder=$2
  if ! cmake --build "$folder" --parallel "$(nproc)" 2>&1 | tee -a "$log" | show_percents; then
    tail -n 40 "$log" >&2
    echo "failed: cmake --build $folder; the whole log: $log" >&2
    return 1
  fi
}

# build_gputest <folder> <log> [<cmake argument>...]: builds gputest, optimised, in <folder>. Where PREBUILT_GPUTEST names a
# folder in which that was done already, <folder> is a link to it.
build_gputest() {
  local folder=$1 log=$2
  shift 2
  if [[ -n ${PREBUILT_GPUTEST:-} ]]; then
    rm -rf "$folder"
    ln -s "$PREBUILT_GPUTEST" "$folder"
    return
  fi
  if [[ -L $folder ]]; then
    rm "$folder"
  fi
  quietly "$log" cmake -S "$common_folder/.." -B "$folder" -DCMAKE_BUILD_TYPE=Release "$@"
  build_loudly "$log" "$folder"
}

# smallest_gpu_mib: the memory of the smallest GPU in MiB; nothing where there is no GPU.
smallest_gpu_mib() {
  if command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU '; then
    nvidia-smi --query-gpu=memory.total --format=csv,noheader,nounits | sort -n | head -n 1
  fi
}

# compiles_cuda <build folder>: whether that project was configured with a CUDA compiler.
compiles_cuda() { grep -q '^CMAKE_CUDA_COMPILER:[A-Z]*=/' "$1/CMakeCache.txt"; }

# count_run <build folder> <JUnit file> <ctest argument>...: runs ctest with its output on stdout, and leaves what came
# of it in `counts` (tests, passed, out of memory, failed otherwise, skipped) and its seconds in `wall`.
# shellcheck disable=SC2034 # used by whoever sources this
count_run() {
  local folder=$1 junit=$2 start=$EPOCHREALTIME
  shift 2
  rm -f "$junit"
  ctest --test-dir "$folder" --output-junit "$junit" --no-tests=error "$@" || true # failures are what is counted
  wall=$(awk -v from="$start" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f", to - from }')
  read -r -a counts < <(awk -f "$common_folder/count_junit.awk" "$junit")
}

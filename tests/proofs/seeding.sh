# SPDX-License-Identifier: BSD-3-Clause
# Building copies of the ledger with one seeded bug each. To be sourced; `root` is the repository's folder.
# Settings: CXX, and JOBS compilers at once.

compiler=${CXX:-g++}
if [[ -z ${CXX:-} ]] && command -v ccache > /dev/null; then
  compiler="ccache $compiler"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# compile SRC OUT FILE...: FILE... are below SRC, or absolute.
compile() {
  local src=$1 out=$2
  shift 2
  mkdir -p "$out"
  # shellcheck disable=SC2086 # the compiler may have arguments
  printf '%s\n' "$@" | (cd "$src" && xargs -P "$jobs" -I{} sh -c \
    "$compiler -std=c++17 -O2 -I'$src' -I'$root/include' -I'$root/tests' -c {} -o '$out'/\$(echo {} | tr / _).o || exit 255")
}

# build_control WHAT FILE...: gputest's library, unchanged, and the program's own FILE..., as objects in $work/control.
build_control() {
  local what=$1
  shift
  if ! { cmake -S "$root" -B "$work/build" -DCMAKE_BUILD_TYPE= -DCMAKE_UNITY_BUILD=OFF -DGPUTEST_INSTALL=OFF -DGPUTEST_BUILD_CLI=OFF \
    && cmake --build "$work/build" --parallel "$jobs" --target gputest_core; } > "$work/log" 2>&1 ||
    ! compile "$root/src" "$work/control" "$@"; then
    tail -n 20 "$work/log" >&2
    echo "mutants: $what does not build" >&2
    exit 2
  fi
}

# link OBJECTS PROGRAM OPTION...: with the library, but for what is among the objects.
link() {
  local objects=$1 program=$2
  shift 2
  # shellcheck disable=SC2086
  if ! $compiler "$objects"/*.o "$work/build/src/libgputest_core.a" "$@" -pthread -ldl -o "$program"; then
    echo "mutants: $name does not link" >&2
    exit 2
  fi
}

# seed NAME FILE SCRIPT: objects in $work/objects, of the ledger with src/FILE changed by a sed script.
seed() {
  local name=$1 file=$2 script=$3
  rm -rf "$work/mutant" "$work/objects"
  cp -r "$root/src" "$work/mutant"
  sed -i "$script" "$work/mutant/$file"
  if cmp -s "$root/src/$file" "$work/mutant/$file"; then
    echo "mutants: $name no longer changes src/$file; its pattern has to follow the code" >&2
    exit 2
  fi
  cp -r "$work/control" "$work/objects"
  if ! compile "$work/mutant" "$work/objects" "$file" 2> "$work/errors"; then
    cat "$work/errors" >&2
    echo "mutants: $name does not build" >&2
    exit 2
  fi
}

# wanted_row NAME WORD...: whether the name contains one of the words, or there is none.
wanted_row() {
  (($# == 1)) && return 0
  local name=$1 word
  shift
  for word in "$@"; do
    [[ $name == *"$word"* ]] && return 0
  done
  return 1
}

checked=0
failures=0

# summary WORD...: says how many of the rows are as expected, and exits.
summary() {
  if ((checked == 0)); then
    echo "mutants: no row contains any of: $*" >&2
    exit 2
  fi
  if ((failures > 0)); then
    echo "mutants: $failures of $checked rows are not as expected" >&2
    exit 1
  fi
  echo "mutants: all $checked rows are as expected"
  exit 0
}

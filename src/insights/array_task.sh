# SPDX-License-Identifier: BSD-3-Clause
# A task of 'gputest slurm': one ctest, with the tests that the file `numbers` of the task's folder selects. It leaves
# there: node, progress (what ctest prints), sound (how many bytes of it count), errors, Testing, and in the end tests.xml,
# or why there is none (error).
# These variables stand before it: try, run, token, tests, tool, version, needs_gpu, arguments.

node=$(uname -n)
if [[ $(cat "$run/token" 2>/dev/null) != "$token" ]]; then
  echo "gputest: $node does not see the folder $run of 'gputest slurm'. Write --folder with one that all nodes share" >&2
  exit 1
fi
own=$run/try-$try/task-${GPUTEST_TASK:-${SLURM_ARRAY_TASK_ID:?write the number of the task into GPUTEST_TASK}}
unset GPUTEST_TASK CTEST_OUTPUT_ON_FAILURE CTEST_PROGRESS_OUTPUT CLICOLOR_FORCE # progress has ctest's own lines only
mkdir "$own/begun" || exit # requeued, or submitted twice
echo "$node" >"$own/node"

give_up() {
  echo "gputest: $1" >&2
  echo "$1" >"$own/error"
  exit 1
}
if ! seen=$("$tool" --version 2>&1); then
  [[ $needs_gpu == false ]] || give_up "$tool cannot be started on $node: $seen"
elif [[ $seen != "$version" ]]; then
  give_up "$tool is '$seen' on $node, and '$version' where the run was started. Install one version on all machines"
fi
export GPUTEST_FORBID_SKIP=${GPUTEST_FORBID_SKIP:-machine} # else a node without a GPU would pass
if [[ $needs_gpu == true ]]; then
  "$tool" devices >/dev/null 2>&1
  [[ $? != 69 ]] || echo "its allocation has no usable GPU. Write --gpus-per-node, or the options of --sbatch that ask for one" >"$own/remark"
fi
echo "subdirs([==[$tests]==])" >"$own/CTestTestfile.cmake"
for custom in CTestCustom.cmake CTestCustom.ctest; do # ctest takes the first
  [[ ! -e $tests/$custom ]] || echo "include([==[$tests/$custom]==])" >"$own/$custom"
done
grep -s '^TimeOut:' "$tests/DartConfiguration.tcl" >"$own/DartConfiguration.tcl"
# Whoever ends this task may end a test before its ctest, which then writes that the test failed. So a line counts only if
# ctest still ran some time later, and this task was not told to end.
watch() {
  local seen=0 sound=0
  until [[ -s $own/pid ]]; do # it stays empty if the disk is full
    kill -0 $$ || return
    sleep 0.1
  done
  while sleep 0.3 && kill -0 "$(<"$own/pid")"; do
    [[ $seen == "$sound" ]] || echo "$seen" >>"$own/sound"
    sound=$seen
    seen=$(stat -c %s "$own/progress")
  done
}
ending=
trap 'ending=true' HUP INT TERM
watch 2>/dev/null &
(
  echo "$BASHPID" >"$own/pid"
  exec ctest --test-dir "$own" -I "$own/numbers" --output-junit "$own/tests.part" "${arguments[@]}"
) </dev/null >"$own/progress" 2>"$own/errors"
status=$?
sleep 0.5 # the same holds for the last lines, and for tests.part
[[ -z $ending ]] || give_up "it was told to end"
if [[ $(tail -n 1 "$own/tests.part" 2>/dev/null) != "</testsuite>" ]]; then
  give_up "ctest ended with status $status and without whole results. $(tail -n 3 "$own/errors")"
fi
ln "$own/tests.part" "$own/tests.xml" && rm "$own/tests.part" # unless this task was given up by now

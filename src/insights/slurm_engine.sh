# SPDX-License-Identifier: BSD-3-Clause
# Slurm for 'gputest slurm': submit SCRIPT COUNT | state ID | cancel ID. The variables nodes and options stand before it.
set -euo pipefail
unset "${!SQUEUE_@}" "${!SCANCEL_@}" SBATCH_WAIT # the user's, which would hide tasks
id=${2%%;*}
cluster=()
[[ $2 != *";"* ]] || cluster=("--clusters=${2#*;}")
case $1 in
submit)
  if ! command -v sbatch >/dev/null; then
    echo "there is no sbatch in PATH. Start 'gputest slurm' on a login node of a Slurm cluster, or write --engine with a program for another batch system" >&2
    exit 1
  fi
  most=$(scontrol show config 2>/dev/null | sed -n 's/^MaxArraySize *= *//p') || most=
  if [[ $most =~ ^[0-9]+$ ]] && (($3 >= most)); then
    echo "an array may have at most $((most - 1)) tasks here (MaxArraySize=$most of 'scontrol show config'). Write --shards $((most - 1)) or less" >&2
    exit 1
  fi
  try=$(dirname "$2")
  id=$(sbatch --parsable --job-name=gputest --array="1-$3%$nodes" --nodes=1 --ntasks=1 --no-requeue \
    --output="${try//%/%%}/task-%a/output" "${options[@]}" "$2")
  echo "$id" # the name of a cluster may follow: 7;name
  ;;
state)
  if tasks=$(squeue "${cluster[@]}" --noheader --array --jobs="$id" --format='%K %T %R' 2>&1); then
    awk '$1 ~ /^[0-9]+$/ { state = $2 == "PENDING" ? "waiting" : "running"; $2 = state; print }' <<<"$tasks"
  elif [[ $tasks != *"Invalid job id"* ]]; then # Slurm forgets jobs that have ended
    echo "$tasks" >&2
    exit 1
  fi
  ;;
cancel) scancel "${cluster[@]}" "$id" ;;
esac

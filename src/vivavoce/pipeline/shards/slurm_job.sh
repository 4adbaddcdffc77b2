# `bash job.sh` submits the array job and the merge that waits for it; `sbatch job.sh` the array job alone;
# `bash job.sh merge` joins what is there. A task that is cut goes on when it runs again.

set -u
umask 077
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
child=""
copier=""
cut=0

submit() {
  local script id quote="'"
  script=$(realpath -- "$0") || exit 2
  mkdir -p -- "$parts" || exit 2
  id=$(sbatch --parsable "$script") || exit 2
  id=${id%%;*}
  sbatch --parsable --dependency="$merge_after:$id" --job-name="$job_name-merge" --time="$time_limit" \
    --mem="$memory" --output="viva-%x-%j.log" \
    --wrap="bash '${script//$quote/$quote\\$quote$quote}' merge" >/dev/null || exit 2  # for sh: no %q
  echo "array job $id of $of shards, and a merge behind it"
}

scratch() {
  work=$(mktemp -d -- "${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/viva.XXXXXXXX") || exit 2
  trap 'rm -rf -- "$work"' EXIT
}

# A copy takes the place of an earlier one in one step, so that no half copy is ever there.
copy_to() {
  local draft="$2.$$.$BASHPID.tmp"
  if viva copy "$1" "$draft" --quiet; then
    mv -f -- "$draft" "$2"
  else
    rm -f -- "$draft"
    return 2
  fi
}

copy_often() {
  local pause=${VIVA_COPY_EVERY:-600} draft=""
  # The signal waits for `viva copy`, and then comes before `mv`: the draft of that moment goes too.
  trap 'kill "$(jobs -p)" 2>/dev/null; [ -z "$draft" ] || rm -f -- "$draft"; exit 0' TERM
  while :; do
    sleep "$pause" &
    wait $!
    [ -e "$1" ] && copy_to "$1" "$2"
  done
}

stop() {
  cut=1
  [ -n "$child" ] && kill -TERM "$child" 2>/dev/null
}

shard() {
  local part="$parts/part-$1.viva" own code=143
  scratch
  own="$work/part-$1.viva"
  mkdir -p -- "$parts" || exit 2
  rm -f -- "$part".*.tmp  # of a task that was killed while it copied
  trap stop TERM
  if [ -e "$part" ]; then
    viva copy "$part" "$own" --quiet || exit 2
  fi
  copy_often "$own" "$part" &
  copier=$!
  if [ "$cut" = 0 ]; then
    viva run "$plan" --shard "$1/$of" --to "$own" --limits "$limits" --quiet &
    child=$!
    [ "$cut" = 0 ] || kill -TERM "$child"
    wait "$child"
    code=$?
    while kill -0 "$child" 2>/dev/null; do
      wait "$child"
      code=$?
    done
  fi
  kill -TERM "$copier" 2>/dev/null
  wait "$copier" 2>/dev/null
  if [ -e "$own" ]; then
    copy_to "$own" "$part" || code=2
  fi
  if [ "$cut" = 1 ] && [ "$code" != 0 ]; then
    if [ "${SLURM_RESTART_COUNT:-0}" -lt 20 ] && command -v scontrol >/dev/null; then
      scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
    fi
    exit 143
  fi
  exit "$code"
}

merge() {
  local all code=0 shards
  scratch
  all="$work/$name"
  if [ -e "$run" ]; then
    viva copy "$run" "$all" --quiet || exit 2
  fi
  shopt -s nullglob
  shards=("$parts"/part-*.viva)
  if [ "${#shards[@]}" = 0 ]; then
    echo "no shard lies in $parts" >&2
    exit 1
  fi
  viva merge "$all" "${shards[@]}"
  code=$?
  if [ "$code" = 0 ]; then
    viva run "$plan" --to "$all"
    code=$?
  fi
  if [ -e "$all" ]; then
    copy_to "$all" "$run" || code=2
  fi
  if [ -e "$work/${page##*/}" ]; then
    cp -- "$work/${page##*/}" "$page" || code=2
  fi
  exit "$code"
}

if [ "${1:-}" = merge ]; then
  merge
elif [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
  shard "$SLURM_ARRAY_TASK_ID"
else
  submit
fi

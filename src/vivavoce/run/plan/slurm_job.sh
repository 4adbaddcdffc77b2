# `bash job.sh` submits the array job and the merge that waits for it; `sbatch job.sh` the array job alone;
# `bash job.sh merge` joins what is there. A job that is cut goes on when it runs again.

set -u
umask 077
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
child=""
copier=""
cut=0

submit() {
  local script id quote="'"
  if [ ! -e "$plan" ]; then
    echo "no plan $plan lies in $PWD: submit the job from the folder where it was written" >&2
    exit 2
  fi
  if ! command -v viva >/dev/null; then
    echo "there is no viva here: activate its environment, which the job takes along, and submit again" >&2
    exit 2
  fi
  script=$(realpath -- "$0") || exit 2
  mkdir -p -- "$parts" || exit 2
  id=$(sbatch --parsable "$script") || exit 2
  id=${id%%;*}
  sbatch --parsable --dependency="$merge_after:$id" --job-name="$job_name-merge" --time="$time_limit" \
    --mem="$memory" --output="viva-%x-%j.log" --open-mode=append --signal=B:TERM@120 --requeue \
    --wrap="exec bash '${script//$quote/$quote\\$quote$quote}' merge" >/dev/null || exit 2  # for sh: no %q
  echo "array job $id of $of shards, and a merge behind it"
}

# A copy takes the place of an earlier one in one step, so that no half copy is ever there.
copy_to() {
  local draft="$2.$$.$BASHPID.tmp"
  if viva copy "$1" "$draft" --quiet || { [ $? -ge 128 ] && viva copy "$1" "$draft" --quiet; }; then  # cut once
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

# Runs a command that `stop` ends, and none once the job is cut.
at_work() {
  local code=143
  if [ "$cut" = 0 ]; then
    "$@" &
    child=$!
    [ "$cut" = 0 ] || kill -TERM "$child"
    wait "$child"
    code=$?
    while kill -0 "$child" 2>/dev/null; do
      wait "$child"
      code=$?
    done
    child=""
  fi
  return "$code"
}

# Takes the run $1 to the node's disk as the file $2, from where it is copied back while the job works on it.
take() {
  target=$1
  work=$(mktemp -d -- "${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/viva.XXXXXXXX") || exit 2
  trap 'rm -rf -- "$work"' EXIT
  own="$work/$2"
  rm -f -- "$target".[0-9]*.tmp  # of a job that was killed while it copied
  trap stop TERM INT
  if [ -e "$target" ]; then
    at_work viva copy "$target" "$own" --quiet || finish 2
  fi
  copy_often "$own" "$target" &
  copier=$!
}

bring_back() {
  kill -TERM "$copier" 2>/dev/null
  wait "$copier" 2>/dev/null
  [ ! -e "$own" ] || copy_to "$own" "$target"
}

# Whether Slurm may run the job again; one that `scancel` ends gets SIGTERM as well, and stays ended.
comes_back() {
  [ -n "$job" ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 20 ] && command -v scontrol >/dev/null &&
    [[ ! $(squeue --noheader --jobs="$job" --format=%T 2>/dev/null) =~ ^(CANCELLED|COMPLETING)$ ]]
}

finish() {
  if [ "$cut" = 1 ] && [ "$1" != 0 ]; then
    comes_back && scontrol requeue "$job"
    exit 143
  fi
  exit "$1"
}

shard() {
  local code
  mkdir -p -- "$parts" || exit 2
  take "$parts/part-$1.viva" "part-$1.viva"
  at_work viva run "$plan" --shard "$1/$of" --to "$own" --limits "$limits" --quiet
  code=$?
  bring_back || code=2
  finish "$code"
}

merge() {
  local code shards
  shopt -s nullglob
  shards=("$parts"/part-*.viva)
  if [ "${#shards[@]}" = 0 ]; then
    echo "no shard lies in $parts" >&2
    exit 1
  fi
  take "$run" "$name"
  at_work viva merge "$own" "${shards[@]}" && at_work viva run "$plan" --to "$own"
  code=$?
  bring_back || code=2
  [ ! -e "$run" ] || echo "run: $run"
  if [ -e "$work/${page##*/}" ]; then
    cp -- "$work/${page##*/}" "$page" && echo "report: $page" || code=2
  fi
  finish "$code"
}

if [ "${1:-}" = merge ]; then
  job=${SLURM_JOB_ID:-}
  merge
elif [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
  job="${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
  shard "$SLURM_ARRAY_TASK_ID"
else
  submit
fi

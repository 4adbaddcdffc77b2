#!/usr/bin/env bash
# Both ends of a ClinIQLink submission; README.md beside this file says what the variables mean.
#
#   MODE=submit    asks the model the questions of DATA_DIR, and writes seven result files to OUTPUT_DIR
#   MODE=evaluate  marks the result files of OUTPUT_DIR by the gold of DATA_DIR, and writes a report there
#
# Exit codes are those of viva: docs/reference/cli.md
#
# With words of its own it runs these instead, as CodaBench starts the scoring program in this image.
set -euo pipefail
[ "$#" -eq 0 ] || exec "$@"

stop() {
    printf 'cliniqlink: %s\n' "$1" >&2
    exit 2
}

folder() { # NAME PATH WHAT: the folder must be there
    [ -d "$2" ] || stop "$1 is $2, and there is no such folder: mount $3 there, or set $1."
}

mode=${MODE:-submit}
data=${DATA_DIR:-/data}
out=${OUTPUT_DIR:-/results}
case $mode in
    submit | evaluate) ;;
    *) stop "MODE is '$mode': it is submit or evaluate." ;;
esac
command -v viva > /dev/null || stop "there is no viva on PATH: install vivavoce."

# Nothing but this machine is reached, whatever the model would like to download.
export VIVA_OFFLINE=1 HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 HF_DATASETS_OFFLINE=1

code=0
done_or() { # COMMAND…: 1 says that some failed, which is told at the end; anything above ends it here
    local came=0
    "$@" || came=$?
    [ "$came" -le 1 ] || exit "$came"
    [ "$came" -eq 0 ] || code=1
}

if [ "$mode" = submit ]; then
    [ -n "${VIVA_MODEL:-}" ] || stop "VIVA_MODEL is not set: it names the model, as in vllm/NAME or callable(path=model:answer)."
    folder DATA_DIR "$data" "the package of questions"
    folder OUTPUT_DIR "$out" "a folder for the results"
    export MAX_LENGTH="${MAX_LENGTH:-1028}"
    [[ $MAX_LENGTH =~ ^[1-9][0-9]*$ ]] || stop "MAX_LENGTH is '$MAX_LENGTH': it is a number of tokens, such as 1028."
    export MODEL_DIR="${MODEL_DIR:-/app/model_submission}"
    if [[ $VIVA_MODEL == callable* ]]; then # a module of MODEL_DIR
        folder MODEL_DIR "$MODEL_DIR" "the model"
        export PYTHONPATH="$MODEL_DIR${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
    fi
    # Word by word, as a container's variables hold them.
    # shellcheck disable=SC2086
    done_or viva collect "$out/run.viva" "cliniqlink_questions(data='$data')" --model "$VIVA_MODEL" \
        --preset paper-settings --offline ${EXTRA_SUBMIT_ARGS:-}
    viva challenge results "$out/run.viva" --to "$out"
else
    folder DATA_DIR "$data" "the seven files with gold"
    folder OUTPUT_DIR "$out" "the folder with the results"
    name=()
    [ -z "${VIVA_CANDIDATE:-}" ] || name=(--set "candidate=$VIVA_CANDIDATE")
    viva import "$out/scored.viva" "$out" --benchmark "cliniqlink(data='$data')" "${name[@]}"
    # shellcheck disable=SC2086
    done_or viva score "$out/scored.viva" ${VIVA_METRICS:-accuracy list_f1 step_accuracy cliniqlink} ${EXTRA_EVAL_ARGS:-}
    viva report "$out/scored.viva" --to "$out/report.html"
fi
exit "$code"

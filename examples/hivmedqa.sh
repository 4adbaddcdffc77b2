#!/usr/bin/env bash
# HIVMedQA's recorded answers: imported, marked, compared, reported.
# Usage: examples/hivmedqa.sh DATA [RUN]    DATA holds questions.jsonl and responses.jsonl
set -euo pipefail
data=${1:?name the folder that holds questions.jsonl and responses.jsonl}
run=${2:-hiv.viva}

viva import "$run" "$data/responses.jsonl" --benchmark "hivmedqa(data='$data')" \
  --map item=question_id --map repeat=iteration --map text=answer --map candidate=model \
  --role "Rephrased Gold Answers=ceiling" --json
viva score "$run" "rouge(n=1)" "rouge(n=L)" token_f1 --json
viva compare "$run" "Gemini 2.5 Pro" "Llama 3.1-8B-Instruct" --metric "rouge(n=1)" --json
viva compare "$run" "Gemini 2.5 Pro" "Claude 3.5 Sonnet" --metric "rouge(n=1)" --margin 0.05 \
  --items "hivmedqa(data='$data', subset=paper)"
viva status "$run"
viva report "$run"

#!/bin/sh
# All tests, in two runs beside each other: those that run whole bots wait for most of their time. sh tools/test.sh PYTHON
set -u
python=$1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$python" -m pytest tests/e2e >"$log" 2>&1 &
whole=$!
"$python" -m pytest --ignore=tests/e2e
status=$?
echo "等整机测试跑完（tests/e2e）"
wait "$whole" || status=1
cat "$log"
exit "$status"

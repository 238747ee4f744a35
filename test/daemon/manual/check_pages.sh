#!/usr/bin/env bash
# Lets groff read the manual pages that a program writes, with all warnings on.
#
# usage: check_pages.sh MCPBX_MADE_FILES
set -euo pipefail
command -v groff >/dev/null || { echo "skipped: groff is not installed"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" "$folder"
count=0
for page in "$folder"/man/*/*; do
  for device in utf8 ascii; do
    said=$(groff -man -ww -z -T"$device" "$page" 2>&1)
    [ -z "$said" ] || { echo "$page, for $device: $said"; exit 1; }
  done
  count=$((count + 1))
done
[ "$count" -eq 4 ] || { echo "there are $count pages, not 4"; exit 1; }

#!/usr/bin/env bash
# Build deploy/Dockerfile with podman and run it with the limits of deploy/compose.yaml: a key, an index, a question, an end.
#
#     tests/campaigns/container.sh [BASE]
#
# BASE is an image with python3 and venv: that of the Dockerfile where it is not named. One without any registry of images:
#     debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates bookworm root
#     tar --directory root --create . | podman import - localhost/debian-python
# Exits with 1 at the first thing that is not so. PODMAN may hold options: PODMAN="podman --runtime runc".
set -euo pipefail
cd "$(dirname "$0")/../.."
read -ra podman <<<"${PODMAN:-podman}"
read -ra build <<<"${BUILD:-}" # options of the build, such as a mount with certificates
port=28080 name="equipoise-$$" documents="$PWD/examples/sqlite"
image="equipoise:0.1.0"
limits=(--read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges --network host
    --volume "$name:/data" --volume "$documents:/documents:ro")

end() {
    "${podman[@]}" rm --force "$name" || true
    "${podman[@]}" volume rm --force "$name" || true
}
trap 'end >/dev/null 2>&1' EXIT

"${podman[@]}" build --format docker ${1:+--build-arg "BASE=$1"} "${build[@]}" --file deploy/Dockerfile --tag "$image" .
run() { "${podman[@]}" run --rm "${limits[@]}" "$@"; }

if run "$image" serve --host 0.0.0.0 --port "$port"; then echo "it started without a key" && exit 1; fi
key=$(run "$image" keys create probe --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["key"])')
run "$image" index /documents/faq.md
[ "$(run --entrypoint id "$image" -u)" = 10001 ]
[ "$(run --entrypoint stat "$image" --format %a /data)" = 700 ]
if run --entrypoint touch "$image" /written; then echo "its files can be written" && exit 1; fi

"${podman[@]}" run --detach --name "$name" "${limits[@]}" "$image" serve --host 0.0.0.0 --port "$port"
until curl --silent --fail --output /dev/null "http://127.0.0.1:$port/readyz"; do
    [ "$((waited = ${waited:-0} + 1))" -lt 300 ] || { echo "it is not ready" && exit 1; }
    sleep 1
done
ask=(curl --silent --header 'Content-Type: application/json' --data '{"question": "How do I create an AUTOINCREMENT field?"}'
    "http://127.0.0.1:$port/v1/ask")
[ "$("${ask[@]}" --output /dev/null --write-out '%{http_code}')" = 401 ]
"${ask[@]}" --fail --header "Authorization: Bearer $key" | grep --fixed-strings '"refused":false' | cut --characters 1-200
"${podman[@]}" stop --time 75 "$name" >/dev/null
[ "$("${podman[@]}" inspect "$name" --format '{{.State.ExitCode}}')" = 0 ]
echo "built, asked, and ended with 0"

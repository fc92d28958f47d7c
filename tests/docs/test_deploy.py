"""deploy/: the files agree with each other, with the settings and with what the server does. They are not run here."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from equipoise.core.settings import PREFIX, ServeSettings, keys

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")
DRAIN = ServeSettings().drain
STOPS = 2 * DRAIN
"""Seconds: running answers have these, then as many are left for connections (apps/server/run.py)."""


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]["equipoise"]


@pytest.fixture(scope="module")
def objects():
    files = ("kubernetes.yaml", "first-key.yaml")
    return {
        manifest["kind"]: manifest
        for name in files
        for manifest in yaml.safe_load_all((DEPLOY / name).read_text("utf-8"))
    }


@pytest.fixture(scope="module")
def pods(objects):
    return [objects[kind]["spec"]["template"]["spec"] for kind in ("Deployment", "Job")]


def test_all_name_the_image_of_this_version(compose, pods):
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    images = [compose["image"], *(pod["containers"][0]["image"] for pod in pods)]
    assert set(images) == {f"equipoise:{version}"}


def test_the_image_is_made_from_files_that_exist():
    copied = re.findall(r"(?m)^COPY (?!--from)(.+) \S+$", DOCKERFILE)
    assert [name for line in copied for name in line.split() if not (ROOT / name).exists()] == []


def test_it_serves_where_it_is_looked_for(compose, objects, pods):
    command = json.loads(re.search(r"(?m)^CMD (\[.*\])$", DOCKERFILE)[1])
    port = command[command.index("--port") + 1]
    assert command[:3] == ["serve", "--host", "0.0.0.0"]
    assert f"EXPOSE {port}" in DOCKERFILE
    assert f"http://127.0.0.1:{port}/readyz" in DOCKERFILE
    assert [mapping.endswith(f":{port}") for mapping in compose["ports"]] == [True]
    assert str(pods[0]["containers"][0]["ports"][0]["containerPort"]) == port
    assert objects["Service"]["spec"]["selector"] == objects["Deployment"]["spec"]["selector"]["matchLabels"]


def test_every_variable_is_a_setting():
    known = {PREFIX + key.replace(".", "_").upper() for key in keys()}
    assert set(re.findall(r"EQUIPOISE_[A-Z_]+", DOCKERFILE)) <= known


def test_no_variable_of_kubernetes_is_taken_for_a_setting(pods):
    assert [pod["enableServiceLinks"] for pod in pods] == [False, False]


def test_answers_may_end(compose, pods):
    container = pods[0]["containers"][0]
    waits = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pods[0]["terminationGracePeriodSeconds"] >= waits + STOPS
    assert int(compose["stop_grace_period"].removesuffix("s")) >= STOPS


def test_probes_ask_what_needs_no_key(pods):
    container = pods[0]["containers"][0]
    asked = {
        kind: container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "liveness", "readiness")
    }
    assert asked == {"startup": "/healthz", "liveness": "/healthz", "readiness": "/readyz"}


def test_one_process_writes_one_index(objects):
    assert objects["Deployment"]["spec"]["replicas"] == 1
    assert objects["Deployment"]["spec"]["strategy"]["type"] == "Recreate"


def test_nobody_is_root_and_little_is_writable(compose, pods):
    uid = int(re.search(r"(?m)^USER (\d+)$", DOCKERFILE)[1])
    assert f"--uid {uid} " in DOCKERFILE
    for pod in pods:
        assert pod["securityContext"]["runAsUser"] == pod["securityContext"]["fsGroup"] == uid
        (container,) = pod["containers"]
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert {mount["mountPath"] for mount in container["volumeMounts"]} == {"/data", "/tmp"}
    assert compose["read_only"] is True
    assert compose["tmpfs"] == ["/tmp"]


def test_the_unit_of_systemd_is_in_order_and_waits_for_running_answers(tmp_path):
    unit = (DEPLOY / "equipoise.service").read_text("utf-8")
    assert int(re.search(r"(?m)^TimeoutStopSec=(\d+)$", unit)[1]) > STOPS
    (program,) = re.findall(r"(?m)^ExecStart=(\S+) serve --host 127.0.0.1 ", unit)
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("there is no systemd here")
    (tmp_path / "equipoise").write_text("#!/bin/sh\n")
    (tmp_path / "equipoise").chmod(0o755)
    (tmp_path / "equipoise.service").write_text(unit.replace(program, str(tmp_path / "equipoise")))
    done = subprocess.run(
        [analyze, "verify", tmp_path / "equipoise.service"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "equipoise.service" not in done.stderr, done.stderr

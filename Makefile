# Set-up and everyday commands. Small on purpose: the work is done by the programs under tools/.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

export PLOSIVE_CACHE ?= $(HOME)/.cache/plosive
# What tools/deps.sh had to bring itself (npm, Go) comes first.
export PATH := $(PLOSIVE_CACHE)/path:$(PATH)
export CLUSTER ?= local
NODE := $(CURDIR)/node_modules/.bin/node
# The local cluster and its images need root; tests use them.
AS_ROOT := $(if $(filter 0,$(shell id -u)),,sudo --preserve-env env PATH="$$PATH")
INSTALLED := node_modules/.package-lock.json

.PHONY: help deps test-deps npm python python-test contract-tools lint-tools tools images cluster-up cluster-down cluster-status up demo demo-info demo-down pictures check dev-up dev-down test trials compat contract mutation bench-api bench-dashboard bench-fair bench-scale bench-operator bench-detection bench-detection-speed bench-detection-memory bench-detection-ablation bench-detection-deps bench-deps trunk lint gen schema docs release release-push audit

help: ## lists the targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

deps: ## installs what is missing on this machine (apt packages, npm, Go)
	@tools/deps.sh system

npm: deps $(INSTALLED)
$(INSTALLED): package.json package-lock.json | deps
	@echo "npm: installing packages"; SCARF_ANALYTICS=false npm ci --no-audit --no-fund --loglevel=error; touch $@

python: deps
	@tools/deps.sh python

python-test: deps
	@tools/deps.sh python-test

test-deps: deps
	@tools/deps.sh test

contract-tools: npm
	@tools/deps.sh contract

tools: deps ## builds the pinned Go tools (once)
	@tools/build.sh

images: npm tools ## builds the container images that have changed
	@$(AS_ROOT) $(NODE) tools/images/main.ts build

cluster-up: npm tools ## starts the local cluster alone
	@$(AS_ROOT) $(NODE) tools/cluster/main.ts up

cluster-down: $(INSTALLED) ## removes the local cluster without a trace
	@$(AS_ROOT) $(NODE) tools/cluster/main.ts down

cluster-status: ## shows the state of the local cluster
	@$(AS_ROOT) $(NODE) tools/cluster/main.ts status

# Where everything runs as root, tools/up.ts builds the tools itself, beside the images.
up: npm $(if $(AS_ROOT),tools) ## a running service: cluster, images, chart (CLUSTER=local|kind|current)
	@$(AS_ROOT) $(NODE) tools/up.ts

demo: up python ## up, then acts as a user of the REST API
	@$(AS_ROOT) $(NODE) tools/demo/main.ts

demo-info: ## prints {base_url, api_key, kubeconfig, namespace} as JSON (make -s)
	@$(AS_ROOT) $(NODE) tools/demo/info.ts

demo-down: $(INSTALLED) ## removes the service, and the local cluster with it
	@$(AS_ROOT) $(NODE) tools/up.ts --down

pictures: $(INSTALLED) test-deps ## takes the pictures of docs/pictures from what `make demo` has left running
	@$(AS_ROOT) $(NODE) tools/pictures/main.ts

lint-tools: npm python
	@tools/deps.sh lint && tools/deps.sh chart-lint && tools/deps.sh site

# BASE=main for all of a branch; BUDGET=600 for more of the related tests.
check: test-deps lint-tools python-test contract-tools ## after each edit: linters, types, unit tests, and the tests nearest to what changed since BASE (HEAD)
	@$(AS_ROOT) $(NODE) tools/check.ts --base "$(or $(BASE),HEAD)" --budget "$(or $(BUDGET),60)"

dev-up: npm tools test-deps ## keeps Postgres, S3 and a control plane running for the tests
	@$(AS_ROOT) $(NODE) tools/dev.ts up

dev-down: $(INSTALLED) ## ends them, without a trace
	@$(AS_ROOT) $(NODE) tools/dev.ts down

# TEST=--compat also runs a suite of `make compat`, as CI does; TEST='--only unit' runs one suite.
test: npm tools test-deps lint-tools python-test contract-tools ## sets everything up and runs all tests
	@tools/build.sh kueue otelcol kube-score
	@$(AS_ROOT) $(NODE) tools/test.ts $(TEST)

# ONLY=NAME runs one of them; PLOSIVE_TEST_SEED=N repeats a run.
trials: npm tools test-deps python-test contract-tools ## the long random and fault trials with a new seed (three and a half hours)
	@$(AS_ROOT) $(NODE) tools/trials.ts $(addprefix --only=,$(ONLY))

# ONLY=NAME runs one of them.
compat: npm tools test-deps ## the tests against other versions of Postgres, Kubernetes and the object store (forty minutes after the builds)
	@$(AS_ROOT) $(NODE) tools/compat.ts $(addprefix --only=,$(ONLY))

# SEED=N repeats a run.
contract: tools contract-tools ## ten minutes of schemathesis over the whole REST description
	@$(AS_ROOT) $(NODE) tools/contract/schemathesis.ts --seconds 600 $(if $(SEED),--seed $(SEED))

mutation-tools: npm
	@tools/deps.sh mutation

# FOLDER=controllers/job measures one folder; MUTATION='--seed 2', or --again for the survivors of the last run alone.
mutation: tools test-deps python-test mutation-tools ## changes the code one place at a time and shows the changes that no test notices (an hour and a half)
	@$(AS_ROOT) $(NODE) tools/dev.ts up && $(AS_ROOT) $(NODE) tools/mutation/main.ts $(if $(FOLDER),--folder $(FOLDER)) $(MUTATION)

bench-deps: deps
	@tools/deps.sh bench

bench-api: npm tools bench-deps ## times the API beside FastAPI on one Postgres (ten minutes; a quiet machine)
	@$(NODE) test/bench/main.ts $(BENCH)

bench-dashboard: npm tools test-deps ## times the dashboard in Chromium beside its limits (three minutes; a quiet machine)
	@$(AS_ROOT) $(NODE) node_modules/vitest/vitest.mjs run --config test/bench/dashboard/vitest.config.ts

bench-fair: npm tools ## measures one tenant while another one attacks, on a local cluster (twenty minutes; a quiet machine)
	@$(AS_ROOT) $(NODE) test/bench/fair/main.ts $(BENCH)

bench-scale: npm tools ## reads and migrates a database of 1,000 tenants (20 to 60 minutes, 31 GB of disk; a quiet machine)
	@$(NODE) test/bench/scale/main.ts $(BENCH)

bench-operator: npm tools ## times the operator beside Kueue on one control plane with KWOK (an hour; a quiet machine)
	@tools/build.sh kwok kueue && $(NODE) test/bench/operator/main.ts $(BENCH)

bench-detection-deps: deps python-test
	@tools/deps.sh bench-detection

BENCH_PYTHON := $(PLOSIVE_CACHE)/venv/bin/python

# BENCH='--seeds 0 --parts plosive-60-0' runs a part of it; BENCH=--short is the gate of make trials, which needs no more than the tests do.
bench-detection: $(if $(filter --short,$(BENCH)),python-test,bench-detection-deps) ## compares our detector with all peers (hours; what is done is kept)
	@$(if $(filter --short,$(BENCH)),,$(PLOSIVE_CACHE)/detection-venv/bin/python -W ignore -m pytest -q -W ignore -p no:cacheprovider test/bench/detection/check_psds.py)
	@$(if $(findstring --play-untouched,$(BENCH)),tools/deps.sh untouched-voices,)
	@tools/build.sh versitygw && PYTHONPATH=test:tools:images/worker $(BENCH_PYTHON) -m bench.detection $(BENCH)

bench-detection-speed: bench-detection-deps ## times the workers beside other tools on one core (a few minutes; a quiet machine)
	@tools/build.sh versitygw && PYTHONPATH=test:tools:images/worker $(BENCH_PYTHON) -m bench.detection.speed

bench-detection-memory: python-test ## runs each verb on a recording of ten hours within 1 GiB (half an hour, root, 8 GB of disk)
	@tools/build.sh versitygw && PYTHONPATH=test:tools:images/worker $(BENCH_PYTHON) -m bench.detection.memory $(BENCH)

bench-detection-ablation: bench-detection-deps ## trains the detector without each of its parts in turn (two hours; what is done is kept)
	@tools/build.sh versitygw && PYTHONPATH=test:tools:images/worker $(BENCH_PYTHON) -m bench.detection.ablation $(BENCH)

# TRUNK='--without Carlo' leaves a talker out, so that the benchmark can test on an unheard one.
trunk: python-test ## builds the weights of the trunk (ADR 32) from procedural artifacts (an hour, 4 GiB of memory; finished takes are kept)
	@PYTHONPATH=tools:images/worker OMP_NUM_THREADS=1 $(BENCH_PYTHON) -m trunk $(TRUNK)

lint: test-deps lint-tools contract-tools ## formatters, linters, types of TypeScript, Python and shell, generated files, chart
	@tools/build.sh helm kube-score && $(AS_ROOT) $(NODE) tools/lint.ts

gen: $(INSTALLED) contract-tools ## writes the generated documents
	@$(NODE) src/gen/main.ts && $(NODE) tools/contract/client-types.ts && $(NODE) tools/chart-readme.ts

schema: npm deps ## writes src/db/schema.sql after a new migration
	@$(AS_ROOT) $(NODE) tools/schema.ts

docs: npm ## builds the documentation as a site, into .plosive/site
	@tools/deps.sh site && $(AS_ROOT) rm -rf tools/site/pages && $(AS_ROOT) mkdir tools/site/pages
	@git ls-files -coz --exclude-standard -- ':(glob)*.md' docs charts/plosive/README.md | while IFS= read -r -d '' file; do [[ ! -e $$file ]] || $(AS_ROOT) cp --parents "$$file" tools/site/pages; done
	@cd tools/site && $(AS_ROOT) $(NODE) node_modules/vitepress/bin/vitepress.js build && $(AS_ROOT) $(NODE) finish.ts

RELEASE_FILES := $(addprefix --key=,$(KEY)) $(addprefix --out=,$(OUT))

# REGISTRY=ghcr.io/you/plosive KEY=cosign.key; OUT=FOLDER instead of .plosive/release; ARCHITECTURES=amd64,arm64: the machine's alone by
# default, because programs of the other one run in QEMU.
release: npm ## builds a signed release of the tag that is checked out (docs/releases.md; half an hour)
	@tools/build.sh versitygw helm cosign syft && tools/deps.sh foreign "$(ARCHITECTURES)"
	@$(AS_ROOT) $(NODE) tools/release/main.ts build $(addprefix --registry=,$(REGISTRY)) $(if $(ARCHITECTURES),--architectures="$(ARCHITECTURES)") $(RELEASE_FILES)

# KEY=cosign.key; OUT=FOLDER; PLAIN_HTTP=1 for a registry on this machine.
release-push: npm ## pushes it, with signatures and attestations, to the registry that it was built for
	@tools/build.sh cosign helm && $(NODE) tools/release/main.ts push $(RELEASE_FILES) $(if $(PLAIN_HTTP),--plain-http)

# AUDIT=--strict also fails for a step that could not reach its source.
audit: npm ## looks for secrets, known vulnerabilities and licenses that are not allowed (a few minutes; needs the network)
	@tools/deps.sh audit && tools/build.sh gitleaks govulncheck && $(NODE) tools/audit/main.ts $(AUDIT)

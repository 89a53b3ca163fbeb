# Every target works from a fresh clone with nothing but Python 3.11+, make and pip.
PYTHON ?= python3
PIP_OPTIONS ?=
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check $(PIP_OPTIONS)
TORCH := ^torch==
export NO_MKDOCS_2_WARNING := 1
# Whatever the locale, all that is read, written and said is UTF-8: some have no sign for ×, and Python would stop there.
export PYTHONUTF8 := 1

.DEFAULT_GOAL := help
.PHONY: help site serve verify numbers mutants reality lockstep faults labs cuda measure mutation bench fix records publish lock audit clean

help: ## what each target does
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

$(READY): requirements.txt requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit("needs Python 3.11 or newer, got " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --require-hashes -r requirements.lock
	$(INSTALL) $$(grep '$(TORCH)' requirements.txt) # its files differ by index, so no hash of them is locked; what it needs is there by now, but for NVIDIA's libraries of a CUDA build
	@touch $@

site: $(READY) ## build the site into site/, or say what is wrong and leave the last one alone
	@$(PY) -m macros.site

serve: $(READY) ## show the site while you write: http://127.0.0.1:8000
	$(PY) -m mkdocs serve

verify: $(READY) ## check everything, then build the site; FULL=1 adds the long suites, VERIFY_REQUIRE=browser,cuda makes legs compulsory
	@FULL=$(FULL) $(PY) -m verify

numbers: $(READY) ## check every number on every page, in two seconds
	@$(PY) -m macros.audit

fix: $(READY) ## correct the digits of wrong quotes, and show what changed
	@$(PY) -m macros.audit --fix

mutants: $(READY) ## plant every fault in every number, relation and constant, one at a time, and see the audit name each; goes on where it was stopped
	@$(PY) -m verify.mutants

records: $(READY) ## refuse a record that is stale, torn or edited; trains nothing
	@$(PY) -m verify.publish --records

publish: $(READY) ## refuse what is not verified as it stands, or lay verification.json into site/
	@$(PY) -m verify.publish

reality: $(READY) ## hold the models against measurements that others have published: print a table
	@$(PY) -m verify.reality

lockstep: $(READY) ## train replicas and processes against one, every fault too: print a table
	@$(PY) -m verify.lockstep

labs: $(READY) ## run every kernel in Python and in JavaScript, over thousands of states
	@$(PY) -m verify.labs

faults: $(READY) ## kill, hang and confuse ranks: print what they say, and how long it takes
	@$(PY) -m verify.faults

cuda: $(READY) ## on a machine with a GPU: measure it, and keep what it shows in docs/records/cuda.json
	@$(PY) -m verify.cuda

measure: $(READY) ## time matrix products on this CPU, and keep them in docs/records/matmul.json
	@$(PY) -m verify.measure

mutation: $(READY) ## change the model and the audit in thousands of small ways: every change must fail a test; goes on where it was stopped
	@$(PY) -m verify.mutation $(ONLY)

bench: $(READY) ## measure the budgets: print a table, write bench.json
	@$(PY) -m verify.bench

lock: ## write requirements.lock anew, when requirements.txt has changed; needs the network
	@$(PYTHON) -m venv build/uv
	@build/uv/bin/python -m pip install --quiet --disable-pip-version-check uv==0.13.9
	@grep -v '$(TORCH)' requirements.txt > build/uv/requirements.txt
	@build/uv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock" \
	  --output-file requirements.lock build/uv/requirements.txt

audit: ## ask whether a fault is known in anything that the lock lists, or in torch; needs the network
	@$(PYTHON) -m venv build/audit
	@build/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit==2.10.1
	@grep '$(TORCH)' requirements.txt > build/torch.txt
	@build/audit/bin/pip-audit --strict --disable-pip --require-hashes -r requirements.lock
	@build/audit/bin/pip-audit --strict --disable-pip --no-deps -r build/torch.txt

clean: ## remove what was built and the virtual environment
	rm -rf $(VENV) build site mutants verification.json bench.json .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

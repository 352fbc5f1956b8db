# 需要：Python ≥ 3.11、make、能下载 Python 包的网络。有 uv 就用 uv，没有也行。
# make run    装好环境并启动机器人        make test   装好环境并跑全部测试
# make check  代码检查加全部测试          make lock   重新锁定依赖（需要 uv）

VENV := .venv
BIN := $(VENV)/bin
LOCK := uv pip compile pyproject.toml --upgrade --universal --python-version 3.11 --generate-hashes --group build \
	--no-annotate --no-header --no-emit-index-url --no-emit-find-links --quiet

.PHONY: run test check lint lock clean
.DEFAULT_GOAL := run

run: $(VENV)/run.stamp
	@$(BIN)/jide run

test: $(VENV)/test.stamp
	@$(BIN)/python -m pytest

check: lint test

lint: $(VENV)/test.stamp
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright
	@$(BIN)/lint-imports

lock:
	$(LOCK) --extra test --output-file requirements-test.lock
	$(LOCK) --constraints requirements-test.lock --output-file requirements.lock

clean:
	rm -rf $(VENV)

# An interrupted install leaves no stamp, so the next run takes it up again.
$(VENV)/run.stamp: requirements.lock pyproject.toml tools/install.sh
	@sh tools/install.sh $(VENV) requirements.lock
	@touch $@

$(VENV)/test.stamp: requirements-test.lock $(VENV)/run.stamp
	@sh tools/install.sh $(VENV) requirements-test.lock
	@touch $@

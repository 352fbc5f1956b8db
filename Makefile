# 需要：Python ≥ 3.11、make、能下载 Python 包的网络。有 uv 就用 uv，没有也行。
# make run    装好环境并启动机器人        make test   装好环境并跑全部测试
# make check  代码检查加全部测试          make lock   重新锁定依赖（需要 uv）
# make screenshots     重新拍 README 里的页面（需要 Chromium），约 1 分钟
# make bench-core      写入、查找、应答、启动，约 5 分钟（LARGE=1 另量一百万条记忆）
# make bench-long-text TEXT=手册.txt.gz    在一本长的中文手册里检索，约 15 分钟（见 benchmarks/long_text.py）
# make bench-faq       一万条常见问题，约 10 秒
# make bench-knowledge MAN=解开的/usr/share/man/zh_CN   与 langchain 比检索，约 40 分钟（见 benchmarks/knowledge.py）
# make bench-webhook   一条公众号消息在门口花的处理器时间，与 wechatpy、wxmp 比，约 1 分钟
# make bench-wechat    公众号的五秒：每种账号、模型快慢和情形，约 10 分钟；另有一千人同时来问
# make bench-extract   从一句话里提取时间、实体、指代，与 jionlp、recognizers-text 比，约 5 分钟
# make bench-memory    回忆、隔离、事实的更替、遗忘，与 mem0、langchain、Chroma 比，写出报告和图，约 30 分钟（LARGE=1 另量一百万条记忆）
# make bench-qq        经 OneBot WebSocket 的群消息，与只回声的 NoneBot 比，约 1 分钟

VENV := .venv
BIN := $(VENV)/bin
# Apart: a package of langchain's adds itself to every pytest run of its environment.
BENCH := build/bench-venv
LOCK := uv pip compile pyproject.toml --upgrade --universal --python-version 3.11 --generate-hashes --group build \
	--no-annotate --no-header --no-emit-index-url --no-emit-find-links --quiet

.PHONY: run test check lint lock clean screenshots bench-core bench-long-text bench-faq bench-knowledge bench-webhook bench-wechat bench-qq bench-extract bench-memory
.DEFAULT_GOAL := run

run: $(VENV)/run.stamp
	@$(BIN)/jide run

test: $(VENV)/test.stamp
	@$(BIN)/python tools/run_tests.py

check: lint test

lint: $(VENV)/test.stamp
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright --pythonpath $(BIN)/python
	@$(BIN)/lint-imports

screenshots: $(VENV)/test.stamp
	@$(BIN)/python tools/screenshots.py

bench-core: $(VENV)/test.stamp
	@$(BIN)/python -m benchmarks.core $(if $(LARGE),--large)

bench-long-text: $(VENV)/run.stamp
	@$(BIN)/python -m benchmarks.long_text $(if $(TEXT),--text "$(TEXT)")

bench-faq: $(VENV)/run.stamp
	@$(BIN)/python -m benchmarks.faq

bench-knowledge: $(BENCH)/bench.stamp
	@$(BENCH)/bin/python -m benchmarks.knowledge $(if $(MAN),--man "$(MAN)")

bench-webhook: $(BENCH)/bench.stamp
	@$(BENCH)/bin/python -m benchmarks.webhook

bench-wechat: $(VENV)/test.stamp
	@$(BIN)/python -m benchmarks.wechat

bench-qq: $(VENV)/test.stamp
	@$(BIN)/python -m benchmarks.qq

bench-extract: $(BENCH)/bench.stamp
	@$(BENCH)/bin/python benchmarks/lists/references/make_orders.py && $(BENCH)/bin/python benchmarks/lists/garbled.py
	@$(BENCH)/bin/python -m benchmarks.extract

bench-memory: $(BENCH)/bench.stamp
	@$(BENCH)/bin/python -m benchmarks.memory $(if $(LARGE),--large)

lock:
	$(LOCK) --extra test --output-file requirements-test.lock
	$(LOCK) --constraints requirements-test.lock --output-file requirements.lock
	$(LOCK) --extra bench --constraints requirements-test.lock --output-file requirements-bench.lock

clean:
	rm -rf $(VENV) $(BENCH)

# An interrupted install leaves no stamp, so the next run takes it up again.
$(VENV)/run.stamp: requirements.lock pyproject.toml tools/install.sh
	@sh tools/install.sh $(VENV) requirements.lock
	@touch $@

$(VENV)/test.stamp: requirements-test.lock $(VENV)/run.stamp
	@sh tools/install.sh $(VENV) requirements-test.lock
	@touch $@

$(BENCH)/bench.stamp: requirements-bench.lock pyproject.toml tools/install.sh
	@mkdir -p $(dir $(BENCH))
	@sh tools/install.sh $(BENCH) requirements-bench.lock
	@touch $@

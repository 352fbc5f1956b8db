#!/bin/sh
# Makes the venv: the locked packages first, checked by hash, then the project. sh tools/install.sh VENV LOCK
set -eu
venv=$1
lock=$2

find_python() {
    for name in ${PYTHON:-} python3.13 python3.12 python3.11 python3 python; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$name"
            return
        fi
    done
    echo "没有找到 Python 3.11 或更新的版本。请先安装（Debian、Ubuntu：apt install python3 python3-venv），再运行一次。" >&2
    echo "已经装在别处的话，告诉它位置：make run PYTHON=/路径/python3.12" >&2
    return 1
}

# A venv that was moved, or whose Python is gone, is made anew.
if ! "$venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    python=$(find_python)
    echo "建立虚拟环境 $venv（$("$python" --version)）"
    rm -rf "$venv"
    if command -v uv >/dev/null 2>&1; then
        uv venv --quiet --python "$python" "$venv"
    elif ! "$python" -m venv "$venv"; then
        rm -rf "$venv"
        echo "这个 Python 建不了虚拟环境。Debian、Ubuntu 上请先：apt install python3-venv" >&2
        exit 1
    fi
fi

echo "安装 $lock 里锁定的包（第一次要几分钟）"
if command -v uv >/dev/null 2>&1; then
    uv pip install --quiet --python "$venv/bin/python" --require-hashes -r "$lock"
    uv pip install --quiet --python "$venv/bin/python" --no-deps --no-build-isolation -e .
else
    # A venv made by uv has no pip.
    "$venv/bin/python" -m pip --version >/dev/null 2>&1 || "$venv/bin/python" -m ensurepip >/dev/null
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
fi

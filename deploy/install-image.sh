#!/bin/sh
# What the image does after copying the project: a user, the locked packages, the project.
# Runs in the Dockerfile, and in a test where no container engine runs. sh deploy/install-image.sh PREFIX
set -eu
prefix=$1
cd "$(dirname "$0")/.."

python3 -m venv "$prefix/venv"
"$prefix/venv/bin/pip" install --quiet --disable-pip-version-check --no-cache-dir --require-hashes -r requirements.lock
# Not editable: the image needs no source tree. setuptools is locked, so nothing more is fetched.
"$prefix/venv/bin/pip" install --quiet --disable-pip-version-check --no-cache-dir --no-deps --no-build-isolation .
cp .env.prod "$prefix/.env.prod"
mkdir -p "$prefix/data"

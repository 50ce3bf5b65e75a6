# Highwater with what a search, a proof, `ask`, `audit`, `mcp` and Spark need: `make image` builds it.
ARG BASE=debian:bookworm-slim

# The environment: the wheel of this tree, and the pinned version of all else.
FROM ${BASE} AS environment
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv \
    && python3 -m venv /opt/highwater
WORKDIR /source
COPY LICENSE README.md constraints.txt pyproject.toml ./
COPY scripts/build_wheel.py scripts/
COPY checker checker
COPY counterexamples counterexamples
COPY model model
COPY properties properties
ENV PATH=/opt/highwater/bin:$PATH PIP_CONSTRAINT=/source/constraints.txt PIP_NO_CACHE_DIR=1
RUN pip wheel --quiet --no-deps --wheel-dir /wheels . \
    && pip install --quiet "$(echo /wheels/*.whl)[audit,browse,mcp,prove,query,spark]" \
    && pip uninstall --quiet --yes pip setuptools

FROM ${BASE}
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless python3 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home highwater \
    && install -d -o highwater /work
COPY --from=environment /opt/highwater /opt/highwater
ENV PATH=/opt/highwater/bin:$PATH
USER highwater
WORKDIR /work
ENTRYPOINT ["highwater"]

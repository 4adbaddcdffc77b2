# vivavoce in a container that is no root's and needs no network to run.
#
#   docker build -t vivavoce .                                  # the core
#   docker build -t vivavoce --build-arg EXTRAS=text,excel .    # with extras
#   docker run --rm -v "$PWD:/work" vivavoce demo
#   docker run --rm --network none -v "$PWD:/work" vivavoce report exam.viva
#
# Without a network, from a folder `wheels/` of this checkout (`pip download --dest wheels ".[text]" hatchling`):
#
#   docker build --network none --build-arg PIP_NO_INDEX=1 --build-arg PIP_FIND_LINKS=/src/wheels -t vivavoce .
#
# A mounted folder must be writable for user 10001, or add --user "$(id -u)" to the command.
ARG PYTHON=3.12
FROM python:${PYTHON}-slim AS install
ARG EXTRAS=""
ARG PIP_NO_INDEX=""
ARG PIP_FIND_LINKS=""
COPY . /src
RUN python -m venv /venv \
    && /venv/bin/pip install --no-cache-dir --disable-pip-version-check "/src${EXTRAS:+[${EXTRAS}]}"

FROM python:${PYTHON}-slim
COPY --from=install /venv /venv
RUN useradd --uid 10001 --create-home viva && install --directory --owner viva /work
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1
USER 10001
WORKDIR /work
ENTRYPOINT ["viva"]
CMD ["--help"]

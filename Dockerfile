# The server as an image: `docker build -t docs-server .`, then
# `docker run -p 4000:4000 -v docs-data:/data -e DOCS_BASE_URL=http://localhost:4000 docs-server`.
# Data is in the volume. Set a stop timeout of 35 seconds, because in-flight requests and jobs are finished first.
ARG RUST_VERSION=1.95

FROM rust:${RUST_VERSION}-slim-bookworm AS build
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/src/target \
    cargo build --release --locked --package docs-server && cp target/release/docs-server /usr/local/bin/

FROM debian:bookworm-slim
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin docs \
    && install --directory --owner docs --mode 700 /data
COPY --from=build /usr/local/bin/docs-server /usr/local/bin/docs-server
ENV DOCS_BIND=0.0.0.0:4000
ENV DOCS_STORE=sqlite:/data/docs.db
ENV DOCS_GIT_CACHE=/data/git-cache
USER 10001
VOLUME /data
EXPOSE 4000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=6s --start-period=30s CMD ["docs-server", "health"]
ENTRYPOINT ["docs-server"]

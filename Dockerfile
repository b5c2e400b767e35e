# Builds with the development dependencies, then keeps only what runs.
FROM node:22-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# Its script would build before the sources are there.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY src ./src
RUN npm run build

FROM node:22-alpine
# A container is called from outside of it, so loopback would not do.
ENV NODE_ENV=production PETSTORE_MOCK_HOST=0.0.0.0
WORKDIR /app
COPY package.json LICENSE ./
COPY fixtures ./fixtures
COPY scenarios ./scenarios
COPY --from=build /app/dist ./dist
# For PETSTORE_MOCK_DB=/data/store.json.
RUN mkdir /data && chown node:node /data
VOLUME /data
USER node
EXPOSE 4010
HEALTHCHECK --interval=5s --timeout=3s --start-period=5s CMD ["node", "dist/cli/main.js", "health"]
# In exec form, so that node is the process that SIGTERM reaches.
ENTRYPOINT ["node", "dist/cli/main.js"]

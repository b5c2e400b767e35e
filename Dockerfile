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
# For `docker exec CONTAINER petstore-mock ctl …`; and for PETSTORE_MOCK_DB=/data/store.json, as any user.
RUN ln -s /app/dist/cli/main.js /usr/local/bin/petstore-mock && mkdir -m 1777 /data
VOLUME /data
USER node
EXPOSE 4010
HEALTHCHECK --interval=5s --timeout=3s --start-period=5s CMD ["petstore-mock", "health"]
# In exec form, so that node is the process that SIGTERM reaches.
ENTRYPOINT ["node", "dist/cli/main.js"]

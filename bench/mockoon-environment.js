// The environment file for Mockoon: the animals in a data bucket, behind one CRUD route.

/** @param {object[]} animals */
export function mockoonEnvironment(animals) {
  return {
    uuid: 'bench-environment',
    lastMigration: 33,
    name: 'Pet store',
    port: 3000,
    hostname: '127.0.0.1',
    routes: [animalsRoute],
    rootChildren: [{ type: 'route', uuid: animalsRoute.uuid }],
    proxyMode: false,
    cors: true,
    headers: [{ key: 'Content-Type', value: 'application/json' }],
    data: [
      {
        uuid: 'bench-animals',
        id: 'anml',
        name: 'animals',
        documentation: '',
        value: JSON.stringify(animals),
      },
    ],
  };
}

const animalsRoute = {
  uuid: 'bench-route',
  type: 'crud',
  method: '',
  endpoint: 'v1/pets',
  responses: [
    {
      uuid: 'bench-response',
      statusCode: 200,
      bodyType: 'DATABUCKET',
      databucketID: 'anml',
      default: true,
      crudKey: 'id',
    },
  ],
  responseMode: null,
};

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadDefinition } from '../../../src/hris/http/load-definition.ts';
import { definitionUnderTest } from '../../../src/hris-kit/definition-under-test.ts';
import { draftFromOpenApi } from '../../../src/hris-kit/draft-openapi.ts';
import { describeHris } from '../conformance.ts';
import { KINTO_PASSWORD, type KintoServer, startKinto } from '../start-kinto.ts';

const file = fileURLToPath(new URL('../definitions/kinto.yaml', import.meta.url));
let server: KintoServer;
beforeAll(async () => {
  server = await startKinto();
});
afterAll(() => server?.stop());

test('the definition has at most 120 lines, and begins where the document of the server leads', async () => {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(120);
  const path = '/buckets/{bucket_id}/collections/{collection_id}/records';
  const { definition } = draftFromOpenApi(await server.document(), path);
  expect(definition).toMatchObject({
    read: { get: '/buckets/{options.bucket_id}/collections/{options.collection_id}/records/{id}', item: 'data' },
    create: { body: { data: '{record}' } },
    update: { body: { data: '{record}' } },
  });
});

describeHris('http: kinto', async () => {
  const { definition, problems } = loadDefinition(file, await readFile(file, 'utf8'));
  if (definition === undefined) throw new Error(JSON.stringify(problems));
  const options = {
    url: server.url,
    allowPrivateAddress: true,
    bucket: 'acme',
    collection: 'staff',
    user: 'hr',
    password: KINTO_PASSWORD,
  };
  return { ...definitionUnderTest({ definition, options, values: {} }), count: () => server.count() };
});

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import { SCIM_SERVER_TOKEN, type ScimServer, startScim } from '../../../src/counterparts/hris-sources.ts';
import { loadDefinition } from '../../../src/hris/http/load-definition.ts';
import { definitionUnderTest } from '../../../src/hris-kit/definition-under-test.ts';
import { describeHris } from '../conformance.ts';

let server: ScimServer;
beforeAll(async () => {
  server = await startScim();
});
afterAll(() => server?.stop());

/** Another server than scimmy's, and of another mind: versions, filters that fold case, and no numbers. */
describeHris('scim: scim2-server', async () => {
  const file = fileURLToPath(new URL('../../../src/hris/kinds/scim.yaml', import.meta.url));
  const { definition } = loadDefinition(file, await readFile(file, 'utf8'));
  if (definition === undefined) throw new Error('scim.yaml is not right');
  const options = { url: server.url, token: SCIM_SERVER_TOKEN, allowPrivateAddress: true };
  const hris = definitionUnderTest({ definition, options, values: {}, noNumbers: true });
  // The judge counts the server's own users.
  return { ...hris, count: async () => (await server.users()).length };
});

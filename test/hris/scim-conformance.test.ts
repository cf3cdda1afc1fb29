import { afterAll, beforeAll } from 'vitest';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import { describeHris } from './conformance.ts';
import { definedUnderTest } from './defined-under-test.ts';
import type { HrisProfile } from './profile.ts';
import { SCIM_TOKEN, type ScimServer, startScimServer } from './scim-server.ts';

/** A user has no first day and no birth date in SCIM. */
const profile: HrisProfile = {
  employee: (tag, changes = {}) => ({
    givenName: 'Ana',
    familyName: `Reyes ${tag}`,
    userName: `${tag}@staff`,
    email: `${tag}@example.org`,
    title: 'Cook',
    ...changes,
  }),
  nameField: 'familyName',
  edit: { title: 'Chef' },
  missing: { givenName: null },
  number: /^4\d{3}$/,
  refuses: [],
  foldsEveryLetter: true,
  findsPersons: false,
};

function openScim(url: string): Promise<HrisConnection> {
  return openHris('scim', 'test-hr', { url, token: SCIM_TOKEN, allowPrivateAddress: true });
}

let server: ScimServer;
beforeAll(async () => {
  server = await startScimServer();
});
afterAll(() => server?.close());

describeHris('scim', () =>
  definedUnderTest({
    profile,
    server,
    calls: { base: '/scim/v2', create: '/Users', amendment: 'PATCH' },
    open: openScim,
    count: () => server.users.size,
    lacks: {
      files: 'SCIM has no files',
      stored: 'SCIM has no files',
      webhooks: 'SCIM sends none',
      describe: 'not asked for yet',
      custom: 'not asked for yet',
      wide: 'the fields are those of the definition',
      persons: 'a SCIM user has no birth date',
      uniqueReference: 'externalId is not unique in SCIM: the claim in our store keeps a second create away',
      staleUpdate: 'this server gives no versions',
      pending: 'every create is answered at once',
      job: 'every create is answered at once',
    },
  }),
);

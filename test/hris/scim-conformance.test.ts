import { afterAll, beforeAll } from 'vitest';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import { describeHris } from './conformance.ts';
import type { HrisUnderTest, Powers } from './hris-case.ts';
import { httpPowers } from './http-powers.ts';
import { type HrisProfile, signal } from './profile.ts';
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

function openScim(url: string, changes: Record<string, unknown> = {}): Promise<HrisConnection> {
  return openHris('scim', 'test-hr', { url, token: SCIM_TOKEN, allowPrivateAddress: true, ...changes });
}

let server: ScimServer;
beforeAll(async () => {
  server = await startScimServer();
});
afterAll(() => server?.close());

describeHris('scim', async (): Promise<HrisUnderTest> => {
  const [adapter, second] = await Promise.all([openScim(server.url), openScim(server.url)]);
  return {
    profile,
    adapter,
    second,
    count: async () => server.users.size,
    powers: powersOf(),
    lacks: {
      persons: 'a SCIM user has no birth date',
      uniqueReference: 'externalId is not unique in SCIM: the claim in our store keeps a second create away',
      staleUpdate: 'this server gives no versions',
      pending: 'every create is answered at once',
      job: 'every create is answered at once',
      files: 'SCIM has no files',
      stored: 'SCIM has no files',
      webhooks: 'SCIM signs no webhooks',
      describe: 'the fields are those of the definition',
      custom: 'the fields are those of the definition',
      wide: 'the schemas of this server hold no fields of a customer',
    },
    stop: async () => void (await Promise.all([adapter.close(), second.close()])),
  };
});

function powersOf(): Partial<Powers> {
  const spell = (mood: ScimServer['mood']) => async () => {
    const adapter = await openScim(server.url);
    await adapter.probe(signal);
    server.mood = mood;
    const end = async () => {
      server.mood = 'well';
    };
    return { adapter, end };
  };
  return {
    ...httpPowers({
      url: server.url,
      open: ({ url }) => openScim(url.includes('/scim/') ? url : `${url.replace(/\/$/, '')}/scim/v2`),
      isCreate: ({ method, path }) => method === 'POST' && path.endsWith('/Users'),
      isUpload: () => false,
      isAmendment: ({ method }) => method === 'PATCH',
    }),
    busy: spell('throttled'),
    revoke: spell('revoked'),
    restart: () => server.restart(),
    ownClock: true,
    people: {
      add: async (count) => server.add(count),
      touch: async (ids) => server.touch(ids),
      many: 60,
    },
  };
}

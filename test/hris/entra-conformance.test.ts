import { afterAll, beforeAll } from 'vitest';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import { describeHris } from './conformance.ts';
import { definedUnderTest } from './defined-under-test.ts';
import { ENTRA } from './entra-job.ts';
import { type EntraServer, startEntra } from './entra-server.ts';
import { httpPowers } from './http-powers.ts';
import type { HrisProfile } from './profile.ts';

/** A user has no first day and no birth date. */
const profile: HrisProfile = {
  employee: (tag, changes = {}) => ({
    givenName: 'Ana',
    familyName: `Reyes ${tag}`,
    displayName: `Ana Reyes ${tag}`,
    userName: `${tag}@contoso.example`,
    email: `${tag}@example.org`,
    title: 'Cook',
    ...changes,
  }),
  nameField: 'familyName',
  edit: { title: 'Chef' },
  missing: { givenName: null },
  refuses: [],
  foldsEveryLetter: true,
  findsPersons: false,
  empties: false,
};

let server: EntraServer;
beforeAll(async () => {
  // In real life an upload waits for minutes; here these wait until the case says so.
  server = await startEntra({ keeps: (reference) => /:(resolved|rejected|corrected|never)$/.test(reference) });
});
afterAll(() => server?.close());

function openEntra(url: string): Promise<HrisConnection> {
  const { login } = server;
  return openHris('entra', 'test-entra', { url, login, readLag: '0s', ...ENTRA, allowPrivateAddress: true });
}

const dataOf = (body: string): string => JSON.stringify(JSON.parse(body || '{}').Operations?.[0]?.data ?? {});
const referenceIn = (ticket: string): string => /eq '([^']*)'/.exec(ticket)?.[1] ?? '';

describeHris('entra', () =>
  definedUnderTest({
    profile,
    server,
    calls: { base: '/v1.0', create: '/bulkUpload', amendment: 'PATCH' },
    open: openEntra,
    count: () => server.users.size,
    powers: {
      ...httpPowers({
        url: server.url,
        open: ({ url }) => openEntra(url.endsWith('/v1.0') ? url : `${url.replace(/\/$/, '')}/v1.0`),
        isCreate: ({ method, body }) => method === 'POST' && dataOf(body).includes('"active":true'),
        isUpload: () => false,
        isAmendment: ({ method, body }) => method === 'POST' && !dataOf(body).includes('"active"'),
      }),
      job: {
        finish: async (ticket) => server.finish(referenceIn(ticket)),
        refuse: async (ticket) => server.refuse(referenceIn(ticket)),
      },
    },
    lacks: {
      empties: 'a job ignores empty values, or else clears all that an upload leaves out',
      files: 'a user of a directory has no files',
      stored: 'a user of a directory has no files',
      webhooks: 'Microsoft Graph asks for its webhooks to be ordered and renewed, which a definition cannot say',
      describe: 'not asked for: the attributes are those of the job, which another permission reads',
      custom: 'not asked for: the attributes are those of the job, which another permission reads',
      wide: 'the fields are those of the definition',
      persons: 'a user of a directory has no birth date',
      numbers: 'a directory assigns no employee numbers',
      uniqueReference: 'creates of one reference make one user, but each upload is accepted and has its own outcome',
      staleUpdate: 'an upload names no version, and is carried out later over whatever is there then',
      changes: 'users have no time of their last change; delta queries give tokens, which a definition cannot keep',
    },
  }),
);

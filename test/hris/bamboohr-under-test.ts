import {
  API_KEY,
  type BambooDouble,
  CUSTOM_FIELDS,
  FILE_CATEGORY,
  REFERENCE_FIELD,
} from '../../src/counterparts/bamboohr-double.ts';
import { bamboohrWebhooks } from '../../src/hris/bamboohr/account.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import type { HrisUnderTest, Powers } from '../../src/hris-kit/hris-under-test.ts';
import { addPeople, signWebhook, touchPeople, webhookPayloads } from './bamboohr-people.ts';
import { httpPowers, moodPowers } from './http-powers.ts';
import { type HrisProfile, ownClock, employee as sqlEmployee } from './profile.ts';

export const bamboohrProfile: HrisProfile = {
  employee: (tag, changes = {}) => ({ ...sqlEmployee(tag), country: 'AU', ...changes }),
  nameField: 'familyName',
  edit: { title: 'Chef' },
  missing: { givenName: null },
  number: /^1\d{3}$/,
  refuses: [],
  foldsEveryLetter: true,
  findsPersons: true,
};

const CUSTOM = Object.fromEntries(CUSTOM_FIELDS.map((name) => [name, { name }]));

/** A connection to the company at `url`: the double's own address, or one before it. */
export function openBamboohr(url: string, changes: Record<string, unknown> = {}): Promise<HrisConnection> {
  const fields = { shoe: { name: 'customField7' } };
  const options = { url, apiKey: API_KEY, referenceField: REFERENCE_FIELD, readLag: '0ms', fields };
  const statuses = { active: 'Full-Time', ended: 'Terminated' };
  return openHris('bamboohr', 'test-hr', {
    ...options,
    employment: statuses,
    fileCategory: FILE_CATEGORY,
    allowPrivateAddress: true,
    ...changes,
  });
}

/** How a kind reaches it, and the requests by which it changes somebody. */
interface Way {
  open(url: string): Promise<HrisConnection>;
  amends: RegExp;
}

/** The company behind `double`, asked at `url`. */
export async function bamboohrUnderTest(
  double: BambooDouble,
  url: string,
  { open = openBamboohr, amends = /\/tables\/jobInfo/ }: Partial<Way> = {},
): Promise<HrisUnderTest> {
  const [adapter, second] = await Promise.all([open(url), open(url)]);
  return {
    // Prism decodes every body as text, on both ways.
    profile: { ...bamboohrProfile, textOnly: url !== double.url },
    adapter,
    second,
    count: async () => double.company.employees.size,
    powers: powersOf(double, url, { open, amends }),
    lacks: {
      uniqueReference: 'BambooHR has no unique field: the claim in our store keeps a second create away',
      staleUpdate: 'BambooHR knows no versions: an update writes the fields given, whatever else changed',
      pending: 'every create is answered at once',
      job: 'every create is answered at once',
    },
    stop: async () => void (await Promise.all([adapter.close(), second.close()])),
  };
}

function powersOf(double: BambooDouble, url: string, { open, amends }: Way): Partial<Powers> {
  return {
    ...httpPowers({
      url,
      open: (changes) => open(changes.url),
      isCreate: ({ method, path }) => method === 'POST' && path === '/api/v1/employees',
      isUpload: ({ method, path }) => method === 'POST' && path.endsWith('/files'),
      isAmendment: ({ method, path }) => method === 'POST' && amends.test(path),
    }),
    ...moodPowers(
      () => double,
      () => open(url),
    ),
    restart: () => double.restart(),
    ownClock,
    people: {
      add: async (count) => addPeople(double.company, count),
      touch: async (ids) => touchPeople(double.company, ids),
      many: 60,
    },
    stored: async (id, name) =>
      (double.company.files.get(id) ?? []).filter((file) => file.name === name).map(({ bytes }) => bytes),
    webhooks: { sign: signWebhook, payloads: webhookPayloads, signing: bamboohrWebhooks },
    custom: { key: 'shoe', label: 'custom Field 7', value: '44½' },
    wide: async () => ({
      adapter: await openBamboohr(url, { fields: CUSTOM }),
      fields: Object.fromEntries(CUSTOM_FIELDS.map((name, at) => [name, `value ${at}`])),
    }),
  };
}

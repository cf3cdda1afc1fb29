import { TRYTON_PASSWORD, type TrytonServer } from '../../src/counterparts/start-tryton.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import type { HrisUnderTest, HttpPower, Powers, Spell } from '../../src/hris-kit/hris-under-test.ts';
import { startHttpProxy } from '../../src/hris-kit/http-proxy.ts';
import { httpPowers } from './http-powers.ts';
import { type HrisProfile, ownClock, signal, write } from './profile.ts';

export const trytonProfile: HrisProfile = {
  employee: (tag, changes = {}) => ({
    name: `Ana Reyes ${tag}`,
    email: `${tag}@example.org`,
    mobile: '+61491570006',
    city: 'Sydney',
    startDate: '2026-02-01',
    ...changes,
  }),
  nameField: 'name',
  edit: { city: 'Perth' },
  missing: { name: null },
  number: /^\d+$/,
  refuses: ['line breaks'],
  foldsEveryLetter: false,
  findsPersons: false,
};

/** A field of parties that no mapping fills unless the tenant names it. */
const FIELDS = { isActive: { model: 'party', name: 'active', type: 'boolean' } };

export function openTryton(
  server: Pick<TrytonServer, 'url' | 'database' | 'company'>,
  changes: Record<string, unknown> = {},
): Promise<HrisConnection> {
  const { url, database, company } = server;
  const options = { url, database, company, user: 'admin', password: TRYTON_PASSWORD, fields: FIELDS };
  return openHris('tryton', 'test-hr', { ...options, allowPrivateAddress: true, ...changes });
}

export async function trytonUnderTest(server: TrytonServer): Promise<HrisUnderTest> {
  const [adapter, second] = await Promise.all([openTryton(server), openTryton(server)]);
  return {
    profile: trytonProfile,
    adapter,
    second,
    // Past the server, which may be made to refuse every login.
    count: async () => {
      const [row] = await server.sql('select count(*)::int as n from company_employee');
      return (row as { n: number }).n;
    },
    powers: powersOf(server),
    lacks: {
      persons: 'parties have no birth date',
      uniqueReference: "a party's identifiers are not unique: the claim in our store keeps a second create away",
      wide: 'it has the fields of its installed modules, and Debian brings no module with 400',
      pending: 'every create is answered at once',
      job: 'every create is answered at once',
      webhooks: 'Tryton sends none: changes are asked for',
    },
    stop: async () => void (await Promise.all([adapter.close(), second.close()])),
  };
}

function powersOf(server: TrytonServer): Partial<Powers> {
  const http: HttpPower = {
    url: server.url,
    open: (changes) => openTryton(server, changes),
    isCreate: ({ body }) => body.includes('"model.company.employee.create"'),
    isUpload: ({ body }) => body.includes('"model.ir.attachment.create"'),
    isAmendment: ({ body }) => body.includes('"model.party.party.write"'),
  };
  return {
    ...httpPowers(http),
    restart: () => server.restart(),
    busy: () => throttleLogins(server),
    revoke: () => deactivateUser(server),
    ownClock,
    custom: { key: 'isActive', label: 'Active', value: false },
    staleUpdate: (id) => staleUpdate(http, server, id),
    people: { add: (count) => addPeople(server, count), touch: (ids) => touchPeople(server, ids) },
    stored: (id, name) => readAttachments(server, id, name),
  };
}

/** The write of the employee is held back until somebody else has written it. */
async function staleUpdate(http: HttpPower, server: TrytonServer, id: string): Promise<void> {
  const proxy = await startHttpProxy(server.url);
  const adapter = await http.open({ url: proxy.url });
  try {
    const meanwhile = () => server.call('model.company.employee.write', [Number(id)], { end_date: null });
    const on: HttpPower['isCreate'] = ({ body }) => body.includes('"model.company.employee.write"');
    void proxy.strike({ kind: 'meanwhile', on, meanwhile });
    await adapter.employees.update(id, { startDate: '2026-03-01' }, write);
  } finally {
    await adapter.close();
    await proxy.close();
  }
}

/** Sessions are not throttled, logins are: somebody has tried wrong passwords. */
async function throttleLogins(server: TrytonServer): Promise<Spell> {
  const attempts = Array(6).fill("('admin', now())").join();
  await server.sql(`insert into res_user_login_attempt (login, create_date) values ${attempts}`);
  const end = async () => void (await server.sql('delete from res_user_login_attempt'));
  return { adapter: await openTryton(server), end };
}

/** A user of our own, whom the administrator deactivates. */
async function deactivateUser(server: TrytonServer): Promise<Spell> {
  const [admin] = await server.call<{ groups: number[] }[]>('model.res.user.read', [1], ['groups']);
  const who = { user: `hr${Date.now()}`, password: TRYTON_PASSWORD };
  const groups = [['add', admin?.groups ?? []]];
  const [id] = await server.call<number[]>('model.res.user.create', [
    { name: 'HR', login: who.user, password: who.password, groups },
  ]);
  const adapter = await openTryton(server, who);
  await adapter.probe(signal);
  await server.call('model.res.user.write', [id], { active: false });
  await server.sql(`delete from ir_session where create_uid = ${id}`);
  return { adapter, end: async () => void (await server.sql('delete from res_user_login_attempt')) };
}

/** Imported at once: one transaction, one stamp. */
export async function addPeople({ call, company }: TrytonServer, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, at) => ({ name: `Imported ${at}` }));
  const parties = await call<number[]>('model.party.party.create', names);
  const employees = parties.map((party) => ({ party, company }));
  return (await call<number[]>('model.company.employee.create', employees)).map(String);
}

/** An edit of each person's party, all with one stamp. */
async function touchPeople({ sql }: TrytonServer, ids: readonly string[]): Promise<void> {
  await sql(`update party_party set write_date = current_timestamp
    where id in (select party from company_employee where id in (${ids.join()}))`);
}

/** Every file in the employee's record, or those of one name. */
export async function readAttachments(
  { call }: Pick<TrytonServer, 'call'>,
  id: string,
  name?: string,
): Promise<Buffer[]> {
  const domain = [['resource', '=', `company.employee,${id}`], ...(name === undefined ? [] : [['name', '=', name]])];
  const found = await call<{ data: { base64: string } }[]>('model.ir.attachment.search_read', domain, 0, null, null, [
    'data',
  ]);
  return found.map(({ data }) => Buffer.from(data.base64, 'base64'));
}

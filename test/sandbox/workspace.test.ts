import { expect, test } from 'vitest';
import { contract } from '../../src/partner/contract/index.ts';
import { type Json, openSandbox } from './open-sandbox.ts';

const otherKey = `sk_test_${'w'.repeat(22)}`;
const emails = (list: readonly Json[]): string[] => list.map((one) => String(one.email).split('.')[0] ?? '');

test('a fresh workspace has users of every status, and shows each as section 2.11 says', async () => {
  await using sandbox = await openSandbox();
  const { items } = await sandbox.partner.readAll(contract.users.list);
  expect(items.map(({ status, isCompanyAdmin, role }) => [status, isCompanyAdmin, role])).toEqual([
    ['ACTIVE', true, 'Super Admin'],
    ['ACTIVE', true, 'Admin'],
    ['ACTIVE', false, 'Recruiter'],
    ['INVITED', false, 'Recruiter'],
    ['EXPIRED', false, null],
  ]);
  const [owner, admin, , , expired] = items;
  const { data } = await sandbox.partner.users.get({ params: { userId: admin!.id } });
  expect(data).toMatchObject({ invitedById: owner!.id, reportingManagerId: owner!.id, teamId: admin!.teamIds?.[0] });
  expect(data.teamIds).toHaveLength(2);
  expect(expired).toMatchObject({ teamId: null, teamIds: [], firstName: null });
});

test('an invited user is never a company admin, until the invitation is accepted', async () => {
  await using sandbox = await openSandbox();
  const input = { email: 'zoe@example.com', isCompanyAdmin: true, role: 'Admin' };
  const { id, isCompanyAdmin } = await sandbox.control.act('inviteUser', input);
  expect(isCompanyAdmin).toBe(false);
  await sandbox.control.act('setUserStatus', { userId: id, status: 'ACTIVE' });
  expect((await sandbox.api('GET', `/users/${id}`)).body.data).toMatchObject({
    status: 'ACTIVE',
    isCompanyAdmin: true,
  });
  await expect(sandbox.control.act('inviteUser', input)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
});

test.each([
  ['status=ACTIVE', ['olivia', 'mateo', 'aiko']],
  ['status=INVITED,EXPIRED', ['noah', 'lina']],
  ['role=SUPER_ADMIN', ['olivia']],
  ['role=ADMIN', ['mateo']],
  ['role=Recruiter', ['aiko', 'noah']],
  ['role=recruiter', []],
  ['isCompanyAdmin=true', ['olivia', 'mateo']],
  ['isCompanyAdmin=false&status=ACTIVE', ['aiko']],
  ['search=%20TANAKA%20', ['aiko']],
  ['search=mateo.', ['mateo']],
  ['search=Aiko%20Tanaka', []],
  ['perPage=2&page=2', ['aiko', 'noah']],
  ['page=9', []],
])('users filtered by %s', async (query, expected) => {
  await using sandbox = await openSandbox();
  const { body } = await sandbox.api('GET', `/users?${query}`);
  expect(emails(body.data)).toEqual(expected);
});

test('pages of users say page, perPage and total, by default 20', async () => {
  await using sandbox = await openSandbox();
  expect((await sandbox.api('GET', '/users')).body.pagination).toEqual({ page: 1, perPage: 20, total: 5 });
});

test.each(['page=0', 'page=x', 'perPage=0', 'perPage=101', 'status=ACTIVE,GONE', 'isCompanyAdmin=yes'])(
  'users with %s are refused in the flat body',
  async (query) => {
    await using sandbox = await openSandbox();
    const { status, body } = await sandbox.api('GET', `/users?${query}`);
    expect([status, body]).toEqual([
      400,
      { statusCode: 400, code: 'INVALID_REQUEST', type: 'validation_error', errorMessage: expect.any(String) },
    ]);
  },
);

test('teams are listed without pages, count their users, and are the ones a job may name', async () => {
  await using sandbox = await openSandbox();
  const { data } = await sandbox.partner.teams.list();
  expect(data).toMatchObject([
    { name: 'Care', userCount: 2, createdAt: expect.any(Number), createdBy: expect.any(String) },
    { name: 'Hotels', userCount: 2 },
  ]);
  const { id } = await sandbox.control.act('createTeam', { name: 'Nights' });
  const { items } = await sandbox.partner.readAll(contract.users.list, { query: { search: 'aiko' } });
  await sandbox.control.act('setUserTeams', { userId: items[0]!.id, teamIds: [id] });
  expect((await sandbox.partner.teams.get({ params: { teamId: id } })).data).toMatchObject({
    name: 'Nights',
    userCount: 1,
    createdBy: null,
  });
  const job = { title: 'Night nurse', city: 'Oslo', state: '', country: 'Norway' };
  const made = await sandbox.api('POST', '/jobs', { ...job, teamId: id });
  expect((await sandbox.api('GET', `/jobs?teamId=${id}`)).body.jobs.map((one: Json) => one.id)).toEqual([made.body.id]);
  // The second is a UUID of no version (section 2.2 asks for none).
  for (const teamId of ['00000000-0000-4000-a000-000000000000', '11111111-1111-1111-1111-111111111111']) {
    const unknown = await sandbox.api('POST', '/jobs', { ...job, teamId });
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'NOT_FOUND']);
  }
});

test('a user or team that is not of the workspace is 404 in the flat body', async () => {
  await using sandbox = await openSandbox({ otherKey });
  const user = (await sandbox.api('GET', '/users')).body.data[0].id;
  const team = (await sandbox.api('GET', '/teams')).body.data[0].id;
  for (const [path, what] of [
    [`/users/${user}`, 'User'],
    [`/teams/${team}`, 'Team'],
    ['/users/nobody', 'User'],
    ['/teams/none', 'Team'],
  ]) {
    const { status, body } = await sandbox.api('GET', path!, undefined, { key: otherKey });
    expect([status, body]).toEqual([
      404,
      { statusCode: 404, code: 'NOT_FOUND', type: 'not_found', errorMessage: `${what} not found` },
    ]);
  }
});

test("sites are those assigned to the key's user", async () => {
  await using sandbox = await openSandbox({ otherKey });
  const before = await sandbox.partner.sites.list();
  expect(before['sites']).toMatchObject([
    { id: expect.any(Number), name: 'Head office', timezone: 'Europe/London' },
    { name: 'Manila' },
  ]);
  const { id } = await sandbox.control.act('createSite', { name: 'Annex', timezone: 'Asia/Tokyo' });
  const ids = async (key?: string) =>
    (await sandbox.api('GET', '/company-sites', undefined, key === undefined ? {} : { key })).body.sites.map(
      (one: Json) => one.id,
    );
  expect(await ids()).toContain(id);
  expect(await ids(otherKey)).not.toContain(id);
  await sandbox.control.act('linkSite', { siteId: id, linked: false });
  expect(await ids()).not.toContain(id);
});

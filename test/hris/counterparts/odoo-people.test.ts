import { afterAll, expect, onTestFinished, test } from 'vitest';
import { ODOO_PASSWORD, type OdooServer, startOdoo } from '../../../src/counterparts/start-odoo.ts';
import { isConnectorError } from '../../../src/errors.ts';
import type { HrisConnection } from '../../../src/hris/port.ts';
import { openHris } from '../../../src/hris/registry.ts';
import { created, signal, write } from '../profile.ts';

/** Undefined if this machine cannot have it. */
const server = await startOdoo().catch((error: unknown) => {
  if (isConnectorError(error) && error.action === 'reject') return undefined;
  throw error;
});
afterAll(() => server?.stop());
const isImpossible = server === undefined;

const call = ((...args: Parameters<OdooServer['call']>) => server?.call(...args)) as OdooServer['call'];

async function opened(changes: Record<string, unknown> = {}): Promise<HrisConnection> {
  const account = { url: server?.url, database: server?.database, user: 'admin', password: ODOO_PASSWORD };
  const hris = await openHris('odoo', 'odoo', { ...account, allowPrivateAddress: true, ...changes });
  onTestFinished(() => hris.close());
  return hris;
}

const ANA = { name: 'Ana Silva', startDate: '2026-02-01' };

test.skipIf(isImpossible)(
  'an address that was imported with blanks around it finds its employee, and is taken',
  async () => {
    const { employees } = await opened();
    await call('hr.employee', 'create', [[{ name: 'Imported', work_email: ' imported@acme.example ' }]]);
    const found = await employees.find({ by: 'email', value: 'imported@acme.example' }, signal);
    expect(found).toMatchObject({ kind: 'one' });
    expect(await employees.isTaken?.('workEmail', 'imported@acme.example', signal)).toBe(true);
  },
);

test.skipIf(isImpossible)('a contact that an earlier attempt made gets the address of this one', async () => {
  const { employees } = await opened();
  const earlier = { name: 'Ana Silva', email: 'old@example.org', type: 'private', ref: '27:part' };
  await call('res.partner', 'create', [[earlier]]);
  const ref = created(await employees.create({ ...ANA, email: 'new@example.org' }, '27:part', write));
  expect(await employees.read(ref.id, signal)).toMatchObject({ fields: { email: 'new@example.org' } });
  expect(await call('res.partner', 'search_count', [[['ref', '=', '27:part']]])).toBe(1);
});

test.skipIf(isImpossible)('who comes back has no departure any more', async () => {
  const { employees } = await opened();
  const ref = created(await employees.create(ANA, '27:back', write));
  const departure = { departure_reason: 'resigned', departure_description: 'Moved', departure_date: '2026-03-31' };
  await call('hr.employee', 'write', [[Number(ref.id)], { active: false, ...departure }]);
  await employees.rehire?.(ref.id, { startDate: '2026-05-01' }, write);
  const read = await call('hr.employee', 'read', [
    [Number(ref.id)],
    ['active', 'x_start_date', ...Object.keys(departure)],
  ]);
  const none = { departure_reason: false, departure_description: false, departure_date: false };
  expect(read).toEqual([{ id: Number(ref.id), active: true, x_start_date: '2026-05-01', ...none }]);
});

test.skipIf(isImpossible)(
  'wrong credentials are told apart from a failure, also where there are several databases',
  async () => {
    const many = await server?.fork(true);
    onTestFinished(() => many?.stop());
    const probed = async (changes: Record<string, unknown>) => {
      const { probe } = await opened({ url: many?.url, database: many?.database, ...changes });
      return probe(signal);
    };
    expect(await probed({})).toEqual({ ok: true });
    for (const changes of [{ password: 'wrong' }, { user: 'nobody' }])
      expect(await probed(changes)).toMatchObject({ ok: false, error: { code: 'HRIS_AUTH', action: 'reauthorize' } });
    expect(await probed({ database: 'nowhere' })).toMatchObject({ ok: false, error: { action: 'retry', status: 500 } });
  },
);

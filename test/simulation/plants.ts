import { ConnectorError } from '../../src/errors.ts';
import { record } from '../../src/sandbox/records/ledger.ts';
import { served, type World } from './world.ts';

/**
 * A violation of each invariant, put into a world at rest directly before it is judged: what the oracle must see. Bugs
 * of the product
 * itself are planted by `npm run test:planted`.
 */
export const plants: Record<string, (world: World) => void> = {
  I1: ({ customers }) => void customers[0]?.hris.employees.pop(),
  I2(world) {
    const [employee] = world.customers[0]?.hris.employees ?? [];
    if (employee !== undefined) world.customers[0]?.hris.employees.push({ ...employee, id: 'e99', number: '000999' });
  },
  I3: ({ state, customers }) =>
    record(state, { kind: 'effect', name: 'onboarding-credit', companyId: customers[0]?.companyId, subject: 'twice' }),
  I4: ({ state, wire, customers }) =>
    record(state, {
      kind: 'effect',
      name: 'rename',
      companyId: customers[1]?.companyId,
      requestId: wire[0]?.requestId,
    }),
  I5: (world) => {
    for (const { hris } of served(world)) for (const { fields } of hris.employees) fields['title'] = 'another title';
  },
  I6: ({ store }) => store.database.exec('delete from inbox'),
  I7({ store, temporal }) {
    temporal.accepted.clear();
    store.database.exec("delete from hires; update jobs set listed_totals = '[]'");
  },
  I8: ({ store }) => store.database.exec("update hires set state = 'open', step = 'planning'"),
  I9({ temporal }) {
    const error = new ConnectorError({ code: 'BAD', action: 'retry', message: 'was answered 400', status: 400 });
    temporal.attempts.push({ at: 0, workflowId: 'planted', name: 'writeBack', input: {}, attempt: 1, error });
  },
  I10: ({ store }) =>
    store.database.exec(
      `insert into holds (hold_id, tenant_id, code, message, answers, details, opened_at) values ('planted', ` +
        `'acme', 'PLANTED', '', '[]', '{}', 0)`,
    ),
};

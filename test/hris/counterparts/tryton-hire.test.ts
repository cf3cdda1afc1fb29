import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { startTryton, TRYTON_PASSWORD, type TrytonServer } from '../../../src/counterparts/start-tryton.ts';
import { startHttpProxy } from '../../../src/hris-kit/http-proxy.ts';
import { documentedHire, hashOf } from '../documented-hire.ts';
import { readAttachments } from '../tryton-under-test.ts';

let base: TrytonServer;
let server: Omit<TrytonServer, 'fork'>;
beforeAll(async () => {
  base = await startTryton();
});
afterAll(() => base?.stop());
// Each hire is of the same candidate: in one database the second would be known already.
beforeEach(async () => {
  server = await base.fork();
});
afterEach(() => server?.stop());

test.each(['nothing', 'cut', 'answer-lost'] as const)(
  'a hire ends in Tryton, its number goes to the partner, and its documents arrive once although an upload meets %s',
  async (kind) => {
    const proxy = await startHttpProxy(server.url);
    onTestFinished(() => proxy.close());
    const before = await employees();
    const { hire, shown, run, served, onboardingHashes } = await documentedHire(trytonAt(proxy.url, kind));
    expect(await employees()).toBe(before + 1);
    const [{ code = '' } = {}] = await numberOf(hire.employee_id ?? '');
    expect(code).not.toBe('');
    expect(await shown()).toMatchObject({ status: 'hired', employeeId: code });
    const documents = await onboardingHashes();
    const created = 1 + documents.length;
    const on = ({ body }: { body: string }) => body.includes('"model.ir.attachment.create"');
    const lost = kind === 'nothing' ? {} : { meanwhile: proxy.strike({ kind, on }) };
    expect(await run('one', lost)).toMatchObject({ state: 'done', counts: { created } });
    const stored = await readAttachments(server, hire.employee_id ?? '');
    expect(stored.map(hashOf).toSorted()).toEqual([hashOf(served.bytes), ...documents].toSorted());
    expect(await run('two', { full: true })).toMatchObject({ counts: { created: 0, unchanged: created } });
    expect(await readAttachments(server, hire.employee_id ?? '')).toHaveLength(created);
  },
);

const employees = () => server.call<number>('model.company.employee.search_count', []);

/** As Tryton itself has it: the code of the employee's party. */
async function numberOf(id: string): Promise<{ code?: string }[]> {
  const statement = 'select p.code from company_employee e join party_party p on p.id = e.party where e.id =';
  return (await server.sql(`${statement} ${Number(id)}`)) as { code?: string }[];
}

function trytonAt(url: string, connection: string): string {
  vi.stubEnv('TEST_TRYTON_PASSWORD', TRYTON_PASSWORD);
  const { database, company } = server;
  const where = { kind: 'tryton', connection: `acme-${connection}`, url, database, company, user: 'admin' };
  const options = { ...where, password: 'env:TEST_TRYTON_PASSWORD', allowPrivateAddress: true };
  return JSON.stringify(options).slice(1, -1);
}

import type { Employee } from '../harness/world-people.ts';
import type { OtherHris } from '../harness/world-tenant.ts';
import { startTryton, TRYTON_PASSWORD, type TrytonServer } from '../hris/counterparts/start-tryton.ts';

/** An HRIS of its own for each scenario. */
export interface ScenarioHris {
  open(): Promise<OtherHris & { close(): Promise<void> }>;
  stop(): Promise<void>;
}

/** What the product's processes need beside the tenant file. */
export const hrisEnv: NodeJS.ProcessEnv = { HIREBRIDGE_TEST_TRYTON: TRYTON_PASSWORD };

/** Kinds whose counterpart plays the scenarios instead of an SQL table. */
export const scenarioKinds: Readonly<Record<string, () => Promise<ScenarioHris>>> = { tryton: startTrytons };

/** One installation; each scenario has a copy of its database behind a server of its own. */
async function startTrytons(): Promise<ScenarioHris> {
  const base = await startTryton();
  return {
    async open() {
      const server = await base.fork();
      const { url, database, company } = server;
      const login = { user: 'admin', password: 'env:HIREBRIDGE_TEST_TRYTON' };
      return {
        settings: { kind: 'tryton', url, database, company, ...login, allowPrivateAddress: true },
        employees: () => readEmployees(server),
        close: () => server.stop(),
      };
    },
    stop: () => base.stop(),
  };
}

/** From its tables, past the server. */
async function readEmployees({ sql }: Pick<TrytonServer, 'sql'>): Promise<Employee[]> {
  const rows = await sql(`select employee.id::text as id, party.code as number,
      (select code from party_identifier where party = party.id order by id limit 1) as reference,
      (select value from party_contact_mechanism
        where party = party.id and type = 'email' order by id limit 1) as email
    from company_employee as employee join party_party as party on party.id = employee.party order by employee.id`);
  return rows as Employee[];
}

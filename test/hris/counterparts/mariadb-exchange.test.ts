import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type MariadbServer, onMariadb, startMariadb } from '../../../src/counterparts/start-mariadb.ts';
import { listConflicts } from '../../../src/store/field-conflicts.ts';
import { exchangeLater, fieldOf } from '../../activities/in-exchange.ts';
import { describeOddValues } from '../../activities/odd-values.ts';
import type { RawHr } from '../../activities/raw-hr.ts';
import { mappingText } from '../../convergence/fields.ts';
import { createWorld, exchanged, type World } from '../../convergence/world.ts';

// The two-way exchange with types as only MariaDB has them.

let server: MariadbServer;
beforeAll(async () => {
  server = await startMariadb();
});
afterAll(() => server?.stop());

async function mariadbHr(): Promise<RawHr> {
  const url = await server.newDatabase();
  return {
    url,
    async run(...statements) {
      for (const one of statements) await onMariadb(url, sql.raw(one));
    },
    cell: async (statement) => Object.values((await onMariadb<object>(url, sql.raw(statement)))[0] ?? {})[0],
  };
}

describeOddValues('MariaDB', mariadbHr);

/** As elsewhere, but for the end of the probation: the HR system says it. */
const RULES = mappingText().replace('[Probation end]", direction: both, owner: partner', (rule) =>
  rule.replace('partner', 'hris'),
);

describe("types of the database's own", () => {
  let world: World;
  afterEach(() => world.close());

  /** The column as a customer has it, its cell, and what becomes of it at the hiring platform: a value, or why none. */
  const CELLS: [type: string, field: string, cell: string, becomes: unknown][] = [
    ['bigint unsigned', 'hours', '18446744073709551615', 'VALUE_MISFIT'],
    ['bigint unsigned', 'hours', '9007199254740991', 9_007_199_254_740_991],
    ['bigint', 'hours', '-9223372036854775808', 'VALUE_MISFIT'],
    ['decimal(40, 20)', 'hours', '0.1', 0.1],
    ['decimal(65, 0)', 'hours', '1234567890123456789012345678901234567890', 'VALUE_MISFIT'],
    ['double', 'hours', '7.25', 7.25],
    ['double', 'hours', '1e300', 'VALUE_MISFIT'],
    ['int(4) zerofill', 'hours', '7', 7],
    ['year', 'hours', '2026', 2026],
    ['bit(1)', 'badge', "b'1'", true],
    ['tinyint(1)', 'badge', '0', false],
    ['tinyint(1)', 'badge', '2', 'NOT_TRUE_OR_FALSE'],
    ['date', 'probationEnd', "'2026-03-01'", '2026-03-01'],
    ['date', 'probationEnd', "'0000-00-00'", 'NOT_A_DAY'],
    ['datetime', 'probationEnd', "'2026-03-01 00:00:00'", '2026-03-01'],
    ['json', 'shifts', `'["Early","Late"]'`, ['Early', 'Late']],
    ['json', 'shifts', `'{"a":1}'`, 'NOT_A_LIST'],
    ["set('Early', 'Late')", 'shifts', "'Early,Late'", 'NOT_A_LIST'],
    ["enum('Junior', 'Senior')", 'level', "'Senior'", 'Senior'],
    ['varbinary(10)', 'notes', "x'00ff'", 'NOT_A_TEXT'],
    ['char(20)', 'notes', "'by HR'", 'by HR'],
  ];

  test.each(CELLS)('%s %s: %s', async (type, name, cell, becomes) => {
    const hr = await mariadbHr();
    world = await createWorld(RULES, exchanged, { url: hr.url });
    const [person, other] = [await world.hire(), await world.hire()];
    const { column } = fieldOf(name);
    await hr.run(
      `alter table employees modify ${column} ${type}`,
      `set statement sql_mode = '' for update employees set ${column} = ${cell} where id = ${person.employeeId}`,
      `update employees set cost_centre = concat('CC-', id)`,
    );
    const before = await hr.cell(`select cast(${column} as char) from employees where id = ${person.employeeId}`);
    await exchangeLater(world);
    await exchangeLater(world);
    const open = await listConflicts(
      world.store.connect(async () => undefined),
      { tenantId: 'acme', all: false },
    );
    const said = open.map(({ pair_id, field, kind, code }) => `${pair_id} ${field} ${kind} ${code}`);
    const isApart = typeof becomes === 'string' && /^[A-Z_]+$/.test(becomes);
    expect(said).toEqual(isApart ? [`${person.employeeId} ${name} quarantined ${becomes}`] : []);
    expect((await world.read(person))?.partner[name] ?? null).toEqual(isApart ? null : becomes);
    expect(await hr.cell(`select cast(${column} as char) from employees where id = ${person.employeeId}`)).toBe(before);
    for (const one of [person, other])
      expect((await world.read(one))?.partner['costCentre']).toBe(`CC-${one.employeeId}`);
  });
});

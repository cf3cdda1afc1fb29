import { expect, onTestFinished, test, vi } from 'vitest';
import { API_KEY, REFERENCE_FIELD, startBambooDouble } from '../../../src/counterparts/bamboohr-double.ts';
import { playConflicts } from '../identity-conflicts.ts';

const CANDIDATES = 1_000;

const kinds: Readonly<Record<string, () => Promise<string>>> = {
  sql: async () => 'kind: sql, connection: hr, url: "sqlite:./hr.sqlite", createTable: true, endColumn: last_day',
  async bamboohr() {
    const double = await startBambooDouble();
    onTestFinished(() => double.close());
    vi.stubEnv('TEST_BAMBOOHR_KEY', API_KEY);
    const where = `kind: bamboohr, connection: hr, url: "${double.url}", apiKey: "env:TEST_BAMBOOHR_KEY"`;
    const statuses = 'employment: { active: Full-Time, ended: Terminated }';
    return `${where}, referenceField: ${REFERENCE_FIELD}, readLag: 0ms, allowPrivateAddress: true, ${statuses}`;
  },
};

test.each(Object.entries(kinds))(
  '%s: 1,000 conflicts of identity are hired, none merged wrongly, none twice, the rest held with a reason',
  async (kind, hris) => {
    const { employed, held, unheard, reasons, ...faults } = await playConflicts(await hris(), CANDIDATES);
    console.log(`${kind}: ${employed} employees, ${unheard} answers lost, ${held} held for ${reasons.size} reasons`);
    expect(faults).toEqual({ wrong: [], twice: [] });
    expect(employed + held).toBe(CANDIDATES);
    for (const count of [employed, held]) expect(count).toBeGreaterThan(CANDIDATES / 5);
    expect(unheard).toBeGreaterThan(CANDIDATES / 50);
    expect([...reasons]).not.toContain('');
  },
  900_000,
);

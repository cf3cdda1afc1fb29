import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readFindings } from '../../../activities/hire/read-findings.ts';
import { startBambooDouble } from '../../../src/counterparts/bamboohr-double.ts';
import type { EmployeeFields } from '../../../src/hire/employee.ts';
import type { HrisConnection } from '../../../src/hris/port.ts';
import { climbIdentityLadder } from '../../../src/plan/identity-ladder.ts';
import { bamboohrUnderTest } from '../bamboohr-under-test.ts';
import { created, employee, write } from '../profile.ts';
import { startSqlHris } from '../start-sql-hris.ts';

interface Human {
  id: number;
  fields: EmployeeFields;
}

/** A candidate, and who that truly is; `anew`: a human whom nobody has seen. */
type Situation = (known: Human, anew: Human) => Human;

const SITUATIONS: Readonly<Record<string, Situation>> = {
  'another person': (_known, anew) => anew,
  'another person of the same name': (known, anew) =>
    withFields(anew, { familyName: known.fields['familyName'] ?? '' }),
  'another person at the same e-mail': (known, anew) => withFields(anew, { email: known.fields['email'] ?? '' }),
  'the same person': (known) => known,
  'a changed name': (known, { id }) => withFields(known, { familyName: `Married ${id}` }),
  'a new e-mail': (known, { id }) => withFields(known, { email: `moved-${id}@example.org` }),
  'an e-mail in other case': (known) => withFields(known, { email: String(known.fields['email']).toUpperCase() }),
};

const BEFORE = 200;
const CANDIDATES = 1_000;

const kinds = {
  async sql() {
    const folder = await mkdtemp(join(tmpdir(), 'hirebridge-hris-'));
    const drop = () => rm(folder, { recursive: true, force: true });
    return startSqlHris({ url: `sqlite:${join(folder, 'hr.sqlite')}`, drop }, {});
  },
  async bamboohr() {
    const double = await startBambooDouble();
    const hris = await bamboohrUnderTest(double, double.url);
    return { ...hris, stop: () => hris.stop().then(() => double.close()) };
  },
};

test.each(Object.entries(kinds))(
  '%s: 1,000 conflicts of identity, none merged wrongly, none twice',
  async (_, start) => {
    const hris = await start();
    try {
      const seen = await play(hris.adapter);
      expect(seen).toMatchObject({ wrong: [], twice: [] });
      expect(seen.created + seen.held + seen.linked).toBe(CANDIDATES);
      for (const count of [seen.created, seen.held, seen.linked]) expect(count).toBeGreaterThan(50);
      expect(await hris.count()).toBe(BEFORE + seen.created);
    } finally {
      await hris.stop();
    }
  },
);

/** The ladder decides about each candidate; every fourth comes again, as after a lost answer. */
async function play(adapter: HrisConnection) {
  const humans = Array.from({ length: BEFORE }, (_unused, id) => human(id));
  const employeeOf = new Map<string, number>();
  const seen = { created: 0, linked: 0, held: 0, wrong: [] as string[], twice: [] as string[] };
  const hire = async ({ id, fields }: Human, reference: string): Promise<void> => {
    const ref = created(await adapter.employees.create(fields, reference, write));
    employeeOf.set(ref.id, id);
  };
  for (const one of humans) {
    await hire(one, `before:${one.id}`);
    const [ref] = [...employeeOf].at(-1) ?? [''];
    if (one.id % 5 === 0) await adapter.employees.terminate?.(ref, '2026-02-20', write);
  }
  const names = Object.keys(SITUATIONS);
  const hired = new Set(humans.map(({ id }) => id));
  for (let n = 0; n < CANDIDATES; n += 1) {
    const isAgain = n % 4 === 3;
    const at = isAgain ? n - 1 : n;
    const candidate = candidateOf(humans, names[at % names.length] ?? '', at);
    // Who comes again was created a moment ago: only then is there something to find by reference.
    const reference = `candidate:${at}`;
    const decision = climbIdentityLadder(await readFindings({ hris: adapter } as never, reference, candidate.fields));
    if (decision.kind === 'hold') {
      expect(decision.evidence).not.toEqual([]);
      seen.held += 1;
    } else if (decision.kind === 'link') {
      seen.linked += 1;
      if (employeeOf.get(decision.ref.id) !== candidate.id) seen.wrong.push(reference);
    } else {
      if (hired.has(candidate.id)) seen.twice.push(reference);
      await hire(candidate, reference);
      hired.add(candidate.id);
      seen.created += 1;
    }
  }
  return seen;
}

function candidateOf(humans: readonly Human[], situation: string, n: number): Human {
  const known = humans[(n * 37) % humans.length] ?? human(0);
  const make = SITUATIONS[situation];
  if (make === undefined) throw new Error(`There is no situation "${situation}".`);
  return make(known, human(BEFORE + n));
}

function human(id: number): Human {
  const [month, day] = [1 + (id % 12), 1 + (id % 28)].map((part) => String(part).padStart(2, '0'));
  const birthDate = `19${60 + (id % 40)}-${month}-${day}`;
  return { id, fields: employee(`h${id}`, { birthDate }) };
}

function withFields({ id, fields }: Human, changes: EmployeeFields): Human {
  return { id, fields: { ...fields, ...changes } };
}

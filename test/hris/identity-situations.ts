import type { EmployeeFields } from '../../src/hire/employee.ts';
import { employee } from './profile.ts';

/** A human as a profile shows them; `id` is who they truly are. */
export interface Human {
  id: number;
  fields: EmployeeFields;
}

/** Employees before the first hire; the candidate of a number may be the one of that number. */
export const knownHuman = (n: number): Human => human(2 * n);

/** Somebody whom nobody has seen. */
const newHuman = (n: number): Human => human(2 * n + 1);

type Situation = (n: number) => Human;

/** A candidate, and who that truly is. The order counts: what is `of` an earlier candidate follows it. */
const SITUATIONS: Readonly<Record<string, Situation>> = {
  'another person': newHuman,
  'another person of the same name': (n) => like(newHuman(n), knownHuman(n), ['familyName']),
  'another person of the same name and birth date': (n) =>
    like(newHuman(n), knownHuman(n), ['familyName', 'birthDate']),
  'another person born on the same day': (n) => like(newHuman(n), knownHuman(n), ['birthDate']),
  'another person at the same e-mail': (n) => like(newHuman(n), knownHuman(n), ['email']),
  'the same person': knownHuman,
  'a changed name': (n) => changed(knownHuman(n), { familyName: `Married ${n}` }),
  'a new e-mail': (n) => changed(knownHuman(n), { email: `moved-${n}@example.org` }),
  'an e-mail in other case': (n) => changed(knownHuman(n), { email: `H${2 * n}@EXAMPLE.org` }),
  'a former worker': knownHuman,
  'two candidates, one human': (n) => changed(newHuman(n - 10), { email: `second-${n}@example.org` }),
};
const NAMES = Object.keys(SITUATIONS);

export function nameOf(n: number): string {
  return NAMES[n % NAMES.length] ?? '';
}

export function candidateOf(n: number): Human {
  return SITUATIONS[nameOf(n)]?.(n) ?? newHuman(n);
}

/** Whose employment ended before they are hired again. */
export function isFormer(n: number): boolean {
  return nameOf(n) === 'a former worker' || n % 7 === 0;
}

function human(id: number): Human {
  const [month, day] = [1 + (id % 12), 1 + (id % 28)].map((part) => String(part).padStart(2, '0'));
  return { id, fields: employee(`h${id}`, { birthDate: `19${60 + (id % 40)}-${month}-${day}` }) };
}

function like(one: Human, other: Human, names: readonly string[]): Human {
  return changed(one, Object.fromEntries(names.map((name) => [name, other.fields[name] ?? null])));
}

function changed({ id, fields }: Human, changes: EmployeeFields): Human {
  return { id, fields: { ...fields, ...changes } };
}
